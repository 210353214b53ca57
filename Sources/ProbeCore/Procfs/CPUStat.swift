// How often and how long a control group was throttled by its CPU quota, which else looks like a
// stall.

/// cpu.stat of a control group, version 1 or 2. Lines that are not there give nil.
public struct CPUStat: Sendable, Equatable {
  /// CPU time of the group: usage_usec (version 2 only).
  public var usage: Nanoseconds?
  /// nr_periods: enforcement periods that have passed; nil without the cpu controller.
  public var periods: UInt64?
  /// nr_throttled: periods in which the quota ran out.
  public var throttledPeriods: UInt64?
  /// throttled_usec (version 2) or throttled_time (version 1): summed over the group's run queues,
  /// so it can be larger than the time that has passed.
  public var throttledTime: Nanoseconds?

  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "cpu.stat")
    while !scanner.isAtEnd(bytes) {
      let start = scanner.position
      scanner.skipField(bytes)
      let name = start..<scanner.position
      if bytes.equals("usage_usec", in: name) {
        usage = try scanner.nanoseconds(bytes, "usage_usec", times: 1_000)
      } else if bytes.equals("nr_periods", in: name) {
        periods = try scanner.unsigned(bytes, "nr_periods")
      } else if bytes.equals("nr_throttled", in: name) {
        throttledPeriods = try scanner.unsigned(bytes, "nr_throttled")
      } else if bytes.equals("throttled_usec", in: name) {
        throttledTime = try scanner.nanoseconds(bytes, "throttled_usec", times: 1_000)
      } else if bytes.equals("throttled_time", in: name) {
        throttledTime = try scanner.nanoseconds(bytes, "throttled_time")
      }
      try scanner.finishLine(bytes)
    }
  }
}
