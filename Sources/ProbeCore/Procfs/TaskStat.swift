// State, faults, CPU ticks and start time of a process or thread, from a line that its name can
// garble.

/// /proc/<pid>/stat or /proc/<pid>/task/<tid>/stat, readable for everybody.
///
/// The name stands in parentheses and is not escaped (measured on 6.18: a newline in it is a
/// newline here), so the fields are counted from the last `)`. Of a process, counters are those of
/// all its threads, ended ones included; the state is the leader's. Ticks are
/// 1/sysconf(_SC_CLK_TCK) s.
public struct TaskStat: Sendable, Equatable {
  /// Field 1.
  public var pid: ProcessID
  /// Where the name (field 2) stands in the bytes, without its parentheses.
  public var commRange: Range<Int>
  /// Field 3, a letter: R, S, D, Z, T, t, X, I.
  public var state: UInt8
  /// Field 4; 0 for the first processes and for those whose parent is outside our namespace.
  public var parent: ProcessID
  /// Fields 5 to 7.
  public var processGroup: Int32
  public var session: Int32
  public var terminal: Int32
  /// Field 9: PF_ bits of the kernel's sched.h.
  public var flags: UInt64
  /// Fields 10 and 12, without those of children.
  public var minorFaults: UInt64
  public var majorFaults: UInt64
  /// Field 11: minor faults of children that were waited for.
  public var childMinorFaults: UInt64
  /// Fields 14 and 15.
  public var userTicks: UInt64
  public var systemTicks: UInt64
  /// Fields 16 and 17: of children that were waited for, with theirs.
  public var childUserTicks: Int64
  public var childSystemTicks: Int64
  /// Field 20.
  public var threadCount: Int64
  /// Field 22: ticks from boot to the start; with the pid it names a process for good.
  public var startTicks: UInt64
  /// Fields 26 and 28: where the program's code and stack begin, which a new program changes; 0 or 1 for
  /// whom may not trace it.
  public var startCode: UInt64
  public var startStack: UInt64
  /// Field 39: the CPU it ran on last.
  public var processor: Int32
  /// Field 42: ticks of waiting for block devices; 0 unless the kernel's delay accounting is on.
  public var blockedOnDiskTicks: UInt64
  /// Field 52: the wait status of a zombie; 0 for the living and for whom may not know it.
  public var exitCode: Int32

  /// Reads the file's bytes; does not allocate unless it throws. Fields after the 52nd are let
  /// pass.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "stat")
    (pid, commRange, state) = try Self.head(bytes, &scanner)
    parent = ProcessID(try scanner.int32(bytes, "ppid"))
    processGroup = try scanner.int32(bytes, "pgrp")
    session = try scanner.int32(bytes, "session")
    terminal = try scanner.int32(bytes, "tty_nr")
    scanner.skipField(bytes)  // tpgid
    flags = try scanner.unsigned(bytes, "flags")
    minorFaults = try scanner.unsigned(bytes, "minflt")
    childMinorFaults = try scanner.unsigned(bytes, "cminflt")
    majorFaults = try scanner.unsigned(bytes, "majflt")
    scanner.skipField(bytes)  // cmajflt
    userTicks = try scanner.unsigned(bytes, "utime")
    systemTicks = try scanner.unsigned(bytes, "stime")
    childUserTicks = try scanner.signed(bytes, "cutime")
    childSystemTicks = try scanner.signed(bytes, "cstime")
    for _ in 18...19 { scanner.skipField(bytes) }  // priority, nice
    threadCount = try scanner.signed(bytes, "num_threads")
    scanner.skipField(bytes)  // itrealvalue
    startTicks = try scanner.unsigned(bytes, "starttime")
    for _ in 23...25 { scanner.skipField(bytes) }  // vsize, rss, rsslim
    startCode = try scanner.unsigned(bytes, "startcode")
    scanner.skipField(bytes)  // endcode
    startStack = try scanner.unsigned(bytes, "startstack")
    for _ in 29...38 { scanner.skipField(bytes) }  // kstkesp to exit_signal
    processor = try scanner.int32(bytes, "processor")
    for _ in 40...41 { scanner.skipField(bytes) }  // rt_priority, policy
    blockedOnDiskTicks = try scanner.unsigned(bytes, "delayacct_blkio_ticks")
    for _ in 43...51 { scanner.skipField(bytes) }  // guest_time to env_end
    exitCode = try scanner.int32(bytes, "exit_code")
    try scanner.finishLine(bytes)
  }

  /// Only the name and the state, for many threads at once.
  static func head(
    _ bytes: Span<UInt8>
  ) throws(ProcParseError) -> (commRange: Range<Int>, state: UInt8) {
    var scanner = ByteScanner(file: "stat")
    let (_, commRange, state) = try head(bytes, &scanner)
    return (commRange, state)
  }

  private static func head(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> (ProcessID, Range<Int>, UInt8) {
    let pid = ProcessID(try scanner.int32(bytes, "pid"))
    try scanner.take(.space, bytes, "comm")
    try scanner.take(UInt8(ascii: "("), bytes, "comm")
    let start = scanner.position
    guard let end = lastParenthesis(bytes, after: start) else {
      throw scanner.failure(bytes, "comm")
    }
    scanner.position = end + 1
    try scanner.take(.space, bytes, "state")
    guard let letter = scanner.peek(bytes), !letter.isSeparator else {
      throw scanner.failure(bytes, "state")
    }
    scanner.position += 1
    return (pid, start..<end, letter)
  }

  /// PF_KTHREAD: no program, no memory, nothing to profile.
  public var isKernelThread: Bool { flags & 0x0020_0000 != 0 }
  /// PF_EXITING: it has called exit, or was killed, and is being taken apart.
  public var isExiting: Bool { flags & 0x0000_0004 != 0 }
  /// Ended; of a process with living threads it means that only the leader has.
  public var isZombie: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
  /// Stopped by job control (`T`) or by a tracer (`t`).
  public var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

  /// The name as the kernel has it: any bytes but NUL.
  ///
  /// - Parameter bytes: the same bytes that were parsed.
  public func comm(in bytes: Span<UInt8>) -> [UInt8] { bytes.copy(commRange) }

  private static func lastParenthesis(_ bytes: Span<UInt8>, after start: Int) -> Int? {
    var index = bytes.count - 1
    while index >= start {
      if bytes[index] == UInt8(ascii: ")") { return index }
      index -= 1
    }
    return nil
  }
}
