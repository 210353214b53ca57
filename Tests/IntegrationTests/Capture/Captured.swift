// What the tests of captures share: targets that speak on their output, and captures off the pool.
// Safety: pointers handed to the C library are to local values.

@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable internal import ProbeCore

/// A child that writes `ready` first; ended with the value.
final class Child: Sendable {
  let running: Running
  let folder: Scratch
  private let input: Int32

  init(_ name: String, _ arguments: [String] = [], environment: [String: String?] = [:])
    async throws
  {
    folder = try Scratch()
    let fifo = folder["input"]
    try #require(unsafe mkfifo(fifo, 0o600) == 0)
    // Opened for both, so that neither side waits for the other.
    input = unsafe open(fifo, O_RDWR | O_CLOEXEC)
    let program = name.contains("/") ? name : try await Perfwatch.target(name)
    var command = Command([program] + arguments)
    command.input = fifo
    command.environment = environment
    running = try command.start(in: folder)
    let path = folder["run1.1"]
    try await eventually("\(name) is ready") { Scratch.text(path).contains("ready") }
  }

  var pid: ProcessID { running.pid }
  var main: ThreadID { ThreadID(pid.rawValue) }
  var output: String { Scratch.text(folder["run1.1"]) }
  /// The numbers behind `ready`.
  var numbers: [UInt64] {
    output.split(separator: " ").compactMap { UInt64($0.filter(\.isNumber)) }
  }

  func signal(_ number: Int32) { running.signal(number) }

  func end() async throws {
    close(input)
    running.killGroup()
    _ = try await running.finish()
  }

  /// Closes its input and waits for its end.
  func finish() async throws -> Finished {
    // A FIFO held open for both ends only when its holder lets go.
    close(input)
    return try await running.finish()
  }

  /// Whether it runs as if nobody had ever looked at it: not stopped, not traced.
  static func isFree(_ task: String) -> Bool {
    let status = Scratch.text("/proc/\(task)/status")
    return status.isEmpty
      || status.contains("TracerPid:\t0\n") && !status.contains("State:\tt")
        && !status.contains("State:\tT")
  }

  /// The threads, by /proc.
  var threads: [ThreadID] {
    Scratch.names("/proc/\(pid)/task").compactMap { Int32($0) }.map { ThreadID($0) }
  }
}

/// Runs the body on a thread of its own, as pw-tracer would, off the test runner's threads.
func onTracer<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    do {
      // Ends with the body; nobody has to wait for it.
      _ = try OSThread(name: "tracer") { continuation.resume(with: Result { try body() }) }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}

extension StackSnapshot {
  /// The eight bytes at an address; nil where they were not copied.
  func word(_ address: UInt64) -> UInt64? {
    for region in regions where region.start <= address && address + 8 <= region.end {
      let at = Int(address - region.start)
      return (0..<8).reduce(0) { $0 | UInt64(region.bytes[at + $1]) << UInt64(8 * $1) }
    }
    return nil
  }

  /// Whether the pattern that `capture_parked` keeps on its stack was copied whole.
  func holdsPattern(at address: UInt64, count: UInt64) -> Bool {
    (0..<count).allSatisfy { word(address + 8 * $0) == 0x5041_5454_4552_4e00 + $0 }
  }
}
