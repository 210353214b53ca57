// When the watched threads are probed: often, a little irregularly, and in quick succession on demand.

/// The fast tick's schedule.
struct ProbeSchedule {
  private(set) var deadline: Instant
  let period: Nanoseconds
  private var quickLeft = 0
  private var random: UInt64

  /// Between the quick probes that decide a doubt.
  static let quickPeriod = Nanoseconds.milliseconds(1)
  static let shortest = Nanoseconds.milliseconds(5)
  static let longest = Nanoseconds.milliseconds(25)

  /// A tenth of the threshold, 25 ms at the most and 5 ms at the least.
  static func period(threshold: Nanoseconds) -> Nanoseconds {
    min(longest, max(shortest, threshold / 10))
  }

  init(start: Instant, threshold: Nanoseconds) {
    period = Self.period(threshold: threshold)
    deadline = start
    random = UInt64(truncatingIfNeeded: start.nanoseconds) | 1
  }

  /// Whether the probe that is due is one of a quick succession.
  var isQuick: Bool { quickLeft > 0 }

  /// Schedules the next probe.
  ///
  /// - Parameter wantsQuick: begin (or go on with) a quick succession.
  mutating func advance(from time: Instant, wantsQuick: Bool) {
    quickLeft = wantsQuick ? 1 : 0
    if wantsQuick {
      deadline = time + Self.quickPeriod
      return
    }
    // A fixed beat could miss the idle moments of a loop that beats the same: a quarter to either side.
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    let jitter = Int64(random % UInt64(max(2, period.rawValue / 2))) - period.rawValue / 4
    deadline = max(deadline + period + Nanoseconds(jitter), time + period / 4)
    // After a late probe the beat starts anew: no bursts to make up for it.
    if deadline < time { deadline = time + period }
  }
}
