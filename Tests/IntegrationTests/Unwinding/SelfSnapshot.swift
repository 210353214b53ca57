// Tests/Targets/src/self_snapshot.c as a test sees it: a running program that has written down its
// own registers, its stack, and what a right walk over it gives.

internal import Testing

@testable internal import ProbeCore

/// A program that waits, and the copy that it made of itself.
final class SelfSnapshot {
  let way: String
  let snapshot: StackSnapshot
  /// Innermost first: the program counter, then the return addresses up to main's first callee.
  let expected: [UInt64]
  /// Where the signal struck; nil without one.
  let interrupted: UInt64?
  let pid: ProcessID
  private let running: Running
  private let folder: Scratch

  /// - Parameters:
  ///   - way: how it was built, a suffix of the Makefile's; empty for the usual one.
  ///   - knowing: DWARF numbers of the registers that the capture is to know; nil for all.
  ///   - isDeleted: whether its file is to be gone before the walk.
  init(
    _ way: String, mode: String = "plain", depth: Int = 24, knowing: Set<Int>? = nil,
    isDeleted: Bool = false
  ) async throws {
    self.way = way
    folder = try Scratch()
    var program = try await Perfwatch.target("self_snapshot" + (way.isEmpty ? "" : "_" + way))
    if isDeleted {
      try folder.write("program", Scratch.bytes(program), mode: 0o755)
      program = folder["program"]
    }
    // Its standard input is a FIFO that nobody closes until the end of the test.
    let input = try await Command(["/usr/bin/mkfifo", folder["input"]]).run(in: folder)
    try #require(input.status == .code(0))
    var command = Command(["/bin/sh", "-c", "exec \"$@\" <>\"$0\"", folder["input"]])
    command.words += [program, mode, "\(depth)", folder["snapshot"]]
    running = try command.start(in: folder)
    pid = running.pid
    let path = folder["snapshot"]
    try await eventually("\(way) writes its snapshot") { Scratch.text(path).hasSuffix("end\n") }
    if isDeleted { Syscalls.unlink(program) }

    var registers = RegisterFile(machine: .x86_64, stackPointer: 0, programCounter: 0)
    var regions: [MemoryRegion] = []
    var expected: [UInt64] = []
    var interrupted: UInt64?
    for line in Scratch.text(path).split(separator: "\n") {
      let words = line.split(separator: " ")
      switch words[0] {
      case "region":
        regions.append(
          MemoryRegion(start: try #require(UInt64(words[1], radix: 16)), bytes: Self.hex(words[2])))
      case "register":
        let number = try #require(Int(words[1]))
        if knowing?.contains(number) ?? true {
          let value: UInt64 = try #require(UInt64(words[2], radix: 16))
          registers[number] = value
        }
      case "expect": expected.append(try #require(UInt64(words[1], radix: 16)))
      case "interrupted": interrupted = UInt64(words[1], radix: 16)
      default: break
      }
    }
    self.expected = expected
    self.interrupted = interrupted
    snapshot = StackSnapshot(
      tid: ThreadID(pid.rawValue), takenAt: Clock.now(), stopTime: .zero, registers: registers,
      regions: regions)
  }

  deinit { running.killGroup() }

  /// Ends the program and takes what it left.
  func end() async throws {
    running.killGroup()
    _ = try await running.finish()
  }

  private static func hex(_ text: Substring) -> [UInt8] {
    var result: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      let value = digit.hexDigit ?? 0
      if let first = high {
        result.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return result
  }
}
