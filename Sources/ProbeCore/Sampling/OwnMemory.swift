// Our own resident peak, for the observer's cost.

/// perfwatch's own memory.
enum OwnMemory {
  /// VmHWM of /proc/self/status in bytes.
  static func residentPeak() -> UInt64? {
    var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
    guard let count = try? source.readOnce("status") else { return nil }
    return (try? TaskStatus(source.buffer.span.extracting(0..<count)))?.residentPeak
  }
}
