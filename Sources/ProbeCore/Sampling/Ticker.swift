// When to look next: absolute times, so that work does not shift the beat; late ones are left out.

/// The schedule of a poll loop.
struct Ticker {
  private(set) var deadline: Instant
  private let start: Instant
  let period: Nanoseconds
  /// Extra ticks before the first regular one, as times since the start.
  let early: [Nanoseconds]
  private var nextEarly = 0

  init(start: Instant, period: Nanoseconds, early: [Nanoseconds]) {
    self.start = start
    self.period = period
    self.early = early
    deadline = start + (early.first ?? period)
    nextEarly = 1
  }

  /// Whether the next tick is one of the steady beat.
  var isSteady: Bool { (deadline - start).rawValue % period.rawValue == 0 }

  /// The ticks before this one of the beat have been taken elsewhere.
  mutating func skip(to deadline: Instant) { self.deadline = deadline }

  /// Takes the tick that is due and schedules the next one on the grid.
  ///
  /// - Parameters:
  ///   - isOver: the last tick, which comes when it comes and is never late.
  ///   - wasSuspended: perfwatch itself was stopped meanwhile, which is no lateness of ours.
  /// - Returns: how late the tick is and how many were left out.
  mutating func take(
    at time: Instant, isOver: Bool, wasSuspended: Bool
  ) -> (late: Nanoseconds, skipped: Int) {
    let late = isOver || wasSuspended ? .zero : max(.zero, time - deadline)
    let skipped = Int(late.rawValue / period.rawValue)
    while nextEarly < early.count, start + early[nextEarly] <= time { nextEarly += 1 }
    if nextEarly < early.count {
      deadline = start + early[nextEarly]
      nextEarly += 1
    } else {
      let passed = (time - start).rawValue / period.rawValue
      deadline = start + period * (passed + 1)
    }
    return (late, skipped)
  }
}
