// A single, cheap look at a thread that is not watched: two files, opened and closed again.

/// Where a thread waits and whether it has moved since another look.
struct ThreadLook: Sendable, Equatable {
  var wait: Wait
  /// How often it was put on a CPU so far.
  var slices: UInt64

  /// nil for a thread that does not wait, is gone, or cannot be read.
  init?(_ tid: Int32, _ source: inout ProcSource) {
    // Any failure means the same: there is nothing to see.
    guard let count = try? source.readOnce("task/\(tid)/syscall") else { return nil }
    var reader = WaitReader()
    guard
      case .waiting(let wait) = reader.state(source.buffer.span.extracting(0..<count), source),
      wait.waitClass != .never,
      let size = try? source.readOnce("task/\(tid)/schedstat"),
      let counters = try? SchedStat(source.buffer.span.extracting(0..<size))
    else { return nil }
    self.wait = wait
    slices = counters.timeslices
  }
}
