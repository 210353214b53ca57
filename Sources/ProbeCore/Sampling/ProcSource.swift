// Where samples are read from: one process below a /proc root, through one reused buffer.
// The root is a parameter, so recorded trees and live ones run through the same code.

/// Why one reading failed. "Gone" is a normal end, not an error to show.
enum ReadingError: Error, Equatable {
  case gone
  case failed(SystemError)
  case malformed(ProcParseError)

  init(_ error: SystemError) { self = error.isGone ? .gone : .failed(error) }

  /// The system's own error; nil where the target is gone or the file is not as it should be.
  var cause: SystemError? {
    if case .failed(let cause) = self { return cause }
    return nil
  }
}

/// The folder of one process and the buffer that all its files are read into.
struct ProcSource: ~Copyable {
  /// `/proc`, or the root of a recorded tree.
  let root: String
  let pid: ProcessID
  /// Long enough for every file that is read whole; longer ones are cut by the kernel's own limits.
  var buffer = [UInt8](repeating: 0, count: 16 << 10)

  init(root: String, pid: ProcessID) {
    self.root = root
    self.pid = pid
  }

  var isLive: Bool { root == "/proc" }

  func path(_ name: String) -> String { "\(root)/\(pid)/\(name)" }

  /// Opens a file of the process for keeping.
  func open(_ name: String) throws(ReadingError) -> FileDescriptor {
    do {
      return try Syscalls.open(path(name), flags: 0)
    } catch {
      throw ReadingError(error)
    }
  }

  /// Reads a kept file from its start; how many bytes of the buffer are its content.
  mutating func read(_ descriptor: Int32) throws(ReadingError) -> Int {
    do {
      return try Syscalls.read(descriptor, at: 0, into: &buffer)
    } catch {
      throw ReadingError(error)
    }
  }

  /// Opens, reads and closes a file that is read too seldom to keep.
  mutating func readOnce(_ name: String) throws(ReadingError) -> Int {
    let file = try open(name)
    return try read(file.raw)
  }

  /// The process's CPU clock; of a recorded tree, what its `stat` says, which is coarser.
  mutating func cpuClock(clockTicksPerSecond: Int) -> Nanoseconds? {
    if isLive { return Clock.processCPU(pid) }
    guard let count = try? readOnce("stat"),
      let stat = try? TaskStat(buffer.span.extracting(0..<count))
    else { return nil }  // a tree without a readable stat has no clock
    let ticks = Int64(clamping: stat.userTicks.saturatedAdding(stat.systemTicks))
    let tick = 1_000_000_000 / Int64(max(1, clockTicksPerSecond))
    return Nanoseconds(ticks.saturatedMultiplying(by: tick))
  }
}
