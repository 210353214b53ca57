// A folder of a test's own, and small things to do with files and processes.
// Safety: pointers handed to the C library are to strings and arrays borrowed for the call.

@unsafe @preconcurrency internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import ProbeCore

/// A fresh folder that goes away with its last user.
final class Scratch: Sendable {
  let path: String
  private let count = Mutex(0)

  init() throws {
    var template = Array("/tmp/perfwatch-testXXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer {
      unsafe mkdtemp($0.baseAddress!) != nil
    }
    try #require(made)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Targets that become another user write their truth here, too.
    _ = unsafe chmod(path, 0o777)
  }

  deinit {
    for name in Self.names(path) { Syscalls.unlink(path + "/" + name) }
    _ = unsafe rmdir(path)
  }

  subscript(name: String) -> String { path + "/" + name }

  /// A name that was not handed out before.
  func unique(_ stem: String) -> String {
    path + "/" + stem + "\(count.withLock { $0 += 1; return $0 })"
  }

  func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o644) throws {
    let file = try Syscalls.open(self[name], flags: O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
    try Syscalls.writeAll(file.raw, bytes)
  }

  /// Everything in the folder, by name.
  var names: [String] { Self.names(path).sorted() }

  static func bytes(_ path: String) -> [UInt8] { (try? InputFile.read(path)) ?? [] }
  static func text(_ path: String) -> String { String(decoding: bytes(path), as: UTF8.self) }
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func names(_ path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}

/// Waits for something to become true, for at most ten seconds; a test that goes on without is wrong.
func eventually(_ what: String, _ condition: () throws -> Bool) async throws {
  let deadline = Clock.now() + .seconds(20)
  while !(try condition()) {
    try #require(Clock.now() < deadline, "never: \(what)")
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// A process as /proc shows it.
enum Process {
  /// The state letter; nil when there is no such process.
  static func state(_ pid: Int32) -> Character? { field(pid, 0)?.first }

  /// Fields of stat behind the name: 0 is the state, 1 the parent, 2 the group.
  static func field(_ pid: Int32, _ number: Int) -> String? {
    let stat = Scratch.text("/proc/\(pid)/stat")
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    return number < fields.count ? String(fields[number]) : nil
  }

  static func isAlive(_ pid: Int32) -> Bool {
    let state = state(pid)
    return state != nil && state != "Z" && state != "X"
  }

  /// Alive processes of a group.
  static func group(_ group: Int32) -> [Int32] {
    Scratch.names("/proc").compactMap { Int32($0) }
      .filter { field($0, 2) == "\(group)" && isAlive($0) }
  }

  static var isRoot: Bool { geteuid() == 0 }
}
