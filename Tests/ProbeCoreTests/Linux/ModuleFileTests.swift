@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

final class ModuleFileTests {
  private let folder = Launching.temporaryDirectory()
  private let own = ProcessID(getpid())

  deinit { Launching.removeDirectory(folder) }

  private func put(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(folder)/\(name)"
    let file = try Syscalls.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try Syscalls.writeAll(file.raw, bytes)
    return path
  }

  /// A mapping that is in no map_files, so that the path has to do.
  private func open(_ path: String, inode: UInt64? = nil) throws -> ModuleFile {
    try ModuleFile.open(
      own,
      ModuleLocation(
        start: 1 << 60, end: 1 << 61, deviceMajor: 0, deviceMinor: 0,
        inode: try inode ?? Syscalls.status(path).inode, path: Array(path.utf8)))
  }

  @Test func `bytes are read across pieces, and none beyond the end`() throws {
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let file = try open(put("a", bytes))
    #expect(file.read(at: 16_000, count: 20_000) == Array(bytes[16_000..<36_000]))
    #expect(file.read(at: 39_990, count: 10) == Array(bytes[39_990...]))
    #expect(file.read(at: 39_990, count: 11) == nil)
    #expect(file.read(at: .max, count: 1) == nil)
    #expect(
      file.number(at: 16_382, size: 4)
        == file.read(at: 16_382, count: 4).map {
          $0.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        })
    #expect(file.number(at: 39_999, size: 2) == nil)
  }

  @Test func `a file that is cut while it is open ends early, and nothing worse`() throws {
    let path = try put("a", Array(repeating: 1, count: 40_000))
    let file = try open(path)
    #expect(file.number(at: 0, size: 8) != nil)
    _ = try put("a", [])
    #expect(file.read(at: 20_000, count: 8) == nil)
    #expect(file.number(at: 39_000, size: 8) == nil)
  }

  @Test
  func `a file that was written into says so, one that was replaced by name stays what it was`()
    throws
  {
    let path = try put("a", [1, 2, 3])
    let file = try open(path)
    #expect(!file.hasChanged)
    _ = try put("b", [4, 5, 6])
    #expect(unsafe rename("\(folder)/b", path) == 0)
    #expect(!file.hasChanged)
    let newer = try open(path)
    _ = try put("a", [7, 8, 9, 10])
    #expect(newer.hasChanged)
    #expect(!ModuleFile(memory: [1], number: 0).hasChanged)
  }

  @Test func `another file under the name is refused`() throws {
    let path = try put("a", [1])
    let inode = try Syscalls.status(path).inode
    #expect(throws: SystemError(call: "openat2", object: path, code: ESTALE)) {
      try self.open(path, inode: inode + 1)
    }
  }

  @Test func `what is no regular file is refused without being opened`() throws {
    let fifo = "\(folder)/fifo"
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    for path in [fifo, folder, "/dev/null"] {
      #expect(throws: SystemError(call: "openat2", object: path, code: EINVAL)) {
        try self.open(path)
      }
    }
  }

  @Test func `memory of a process is copied whole or not at all`() {
    let bytes: [UInt8] = Array(repeating: 7, count: 100)
    let copy = unsafe bytes.withUnsafeBytes { space in
      let address = UInt64(UInt(bitPattern: space.baseAddress))
      return ProcessMemory.copy(own, at: address, count: 100)
    }
    #expect(copy == bytes)
    #expect(ProcessMemory.copy(own, at: 16, count: 8) == nil)
  }
}
