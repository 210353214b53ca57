@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

/// Files that lie. What is found in them does not matter; that we go on, soon and within bounds, does.
struct HostileFileTests {
  private func bytes(_ path: String) throws -> [UInt8] {
    let file = try SymbolFile.open(path)
    return file.read(at: 0, count: file.size)
  }

  private func addresses(_ built: Compiled) -> [UInt64] {
    ["main", "hidden", "bare", "_start"].compactMap { built.addresses()[$0] }
  }

  /// Flips some bits, most of them in what describes the file.
  static func damaged(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var result = bytes
    for _ in 0...Int(random.next() % 8) {
      let place = random.next()
      // The header, the section table at the end, or anywhere.
      let at =
        switch place % 4 {
        case 0: Int(random.next() % 64)
        case 1: result.count - 1 - Int(random.next() % 2400)
        default: Int(random.next() % UInt64(result.count))
        }
      result[max(at, 0)] ^= 1 << UInt8(random.next() % 8)
    }
    if random.next() % 8 == 0 { result.removeLast(Int(random.next() % UInt64(result.count))) }
    return result
  }

  @Test func `names out of damaged files: no crash, no hang`() throws {
    let built = Compiled()
    built.compile()
    let wanted = Set(addresses(built))
    let sound = try bytes(built.path("a"))
    var random = SeededRandom(seed: 4)
    for _ in 0..<300 {
      let image = SymbolFile(memory: Self.damaged(sound, &random))
      let found = ModuleSymbols(image, path: "/nowhere/a", root: built.folder).resolve(wanted)
      #expect(found.count == wanted.count)
    }
  }

  @Test func `lines out of damaged files: the helper may die, we do not`() throws {
    let built = Compiled()
    built.compile()
    let wanted = addresses(built)
    let sound = try bytes(built.path("a"))
    var random = SeededRandom(seed: 5)
    for _ in 0..<100 {
      built.write("b", Self.damaged(sound, &random))
      let module = built.module("b")
      let found = module.addLines(wanted, budget: TimeBudget())
      #expect(found.found.count == wanted.count)
    }
  }

  @Test func `a file that is cut while it is open has no names and no lines`() throws {
    let built = Compiled()
    built.compile()
    let wanted = addresses(built)
    let module = built.module()
    built.shell("truncate -s 100 a")
    #expect(module.resolve(Set(wanted)).values.allSatisfy { $0.symbol == nil })
    let found = module.addLines(wanted, budget: TimeBudget()).found
    #expect(found.values.allSatisfy { $0.lines.isEmpty && $0.omission != nil })
  }

  @Test func `absurd counts are bounded`() throws {
    let built = Compiled()
    built.compile()
    let sound = try bytes(built.path("a"))
    let table = Int(ELFImage.number(sound, 0x28, 8))
    let count = Int(ELFImage.number(sound, 0x3c, 2))
    func set(_ bytes: inout [UInt8], _ at: Int, _ value: UInt64, _ size: Int) {
      for index in 0..<size {
        bytes[at + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
      }
    }
    // Symbol and string tables, relocations, notes: those that are followed.
    for section in 0..<count
    where [2, 3, 4, 7, 11].contains(ELFImage.number(sound, table + section * 64 + 4, 4)) {
      for (field, size) in [(16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (56, 8)] {
        for value: UInt64 in [0, .max - 23, 1 << 40] {
          var lie = sound
          set(&lie, table + section * 64 + field, value, size)
          _ = ModuleSymbols(SymbolFile(memory: lie), path: "/a", root: built.folder).resolve([
            0x1139
          ])
        }
      }
    }
    for value: UInt64 in [0, 1, 0xffff] {
      var lie = sound
      set(&lie, 0x3c, value, 2)
      set(&lie, 0x3e, 0xffff, 2)
      _ = ELFImage(SymbolFile(memory: lie))
    }
  }

  @Test func `every beginning of a file is survived`() throws {
    let built = Compiled()
    built.compile("-g0")
    let sound = try bytes(built.path("a"))
    for length in stride(from: 0, to: sound.count, by: 37) {
      let image = SymbolFile(memory: Array(sound.prefix(length)))
      _ = ModuleSymbols(image, path: "/a", root: built.folder).resolve([0x1139])
    }
  }

  @Test func `pipes, devices and folders are not opened`() {
    let built = Compiled()
    built.shell("mkfifo fifo")
    for path in [built.path("fifo"), "/dev/zero", "/dev/null", built.folder, "/nothing"] {
      #expect(throws: SystemError.self) { try SymbolFile.open(path) }
    }
  }

  @Test func `no helper is left behind`() throws {
    let built = Compiled()
    built.compile()
    _ = built.module().addLines(addresses(built), budget: TimeBudget())
    _ = Demangler().demangle([Array("_Z1fv".utf8)])
    // Children of this test's process that are helpers, running or not reaped.
    let own = "pw-helper"
    let text = built.shell("ps -o comm= --ppid \(getpid()) || true")
    // Other tests may have one at work at this moment, but none may be a zombie.
    #expect(!text.contains("\(own) <defunct>"))
  }
}

/// Numbers that are the same in each run (SplitMix64).
struct SeededRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
