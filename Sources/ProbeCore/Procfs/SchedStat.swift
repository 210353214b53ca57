// A thread's CPU time and run-queue delay, in nanoseconds: the one file read on every tick.

/// /proc/<pid>/task/<tid>/schedstat, which needs no permission on the target.
///
/// All zero where the kernel was built without CONFIG_SCHED_INFO. A thread that never slept and was
/// just started may show CPU 0. The process's own /proc/<pid>/schedstat is the leader's alone.
public struct SchedStat: Sendable, Equatable {
  /// Time on a CPU since the thread began (field 1).
  public var cpu: Nanoseconds
  /// Time ready to run but waiting for a CPU (field 2).
  public var runDelay: Nanoseconds
  /// How often it was put on a CPU (field 3).
  public var timeslices: UInt64

  /// Reads the file's bytes; does not allocate unless it throws.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "schedstat")
    cpu = try scanner.nanoseconds(bytes, "cpu")
    runDelay = try scanner.nanoseconds(bytes, "run delay")
    timeslices = try scanner.unsigned(bytes, "timeslices")
    try scanner.take(.newline, bytes, "end of line")
  }
}
