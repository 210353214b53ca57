// When a process has so many threads, or gets them so fast, that it is worth a word. Pure.

/// Watches the number of threads: an alarm once an episode.
struct ThreadAlarm: Sendable {
  /// What the caller has to do.
  enum News: Sendable, Equatable {
    case began(ThreadAlarmReading.Reason, grownFrom: Int?, since: Instant)
    /// Time to look where they are.
    case look
    case ended
  }

  /// What fast growth is measured over. Chosen.
  static let window = Nanoseconds.seconds(1)
  /// New threads need a moment to come to where they park. Chosen.
  static let settling = Nanoseconds.milliseconds(200)

  let limit: Int
  private(set) var peak = 0
  private(set) var isOn = false
  private var counts: [(at: Instant, count: Int)] = []
  /// Below that the episode is over: a quarter below where it began, so that it does not come and go with
  /// a few threads.
  private var endsBelow = 0
  private var looksAt: Instant?
  /// How many there were when they were looked at last.
  private var looked = 0

  init(limit: Int) { self.limit = limit }

  /// Half the limit within a second.
  private var growthLimit: Int { max(1, limit / 2) }

  mutating func take(_ count: Int, at time: Instant) -> News? {
    counts.removeAll { time - $0.at > Self.window }
    defer { remember(count, at: time) }
    if isOn {
      peak = max(peak, count)
      if count < endsBelow {
        isOn = false
        looksAt = nil
        return .ended
      }
      if count >= 2 * looked, looksAt == nil { looksAt = time + Self.settling }
      guard let due = looksAt, time >= due else { return nil }
      looksAt = nil
      looked = count
      return .look
    }
    // The fewest since then, and the last time that it was so few.
    let base = counts.last { entry in entry.count == counts.map(\.count).min() }
    let hasGrown = base.map { count - $0.count >= growthLimit } ?? false
    guard count >= limit || hasGrown else { return nil }
    isOn = true
    peak = count
    looked = count
    looksAt = time + Self.settling
    endsBelow = max(1, min(count, limit) * 3 / 4)
    return .began(
      count >= limit ? .limit : .growth, grownFrom: base?.count, since: base?.at ?? time)
  }

  private mutating func remember(_ count: Int, at time: Instant) {
    counts.append((time, count))
    // Ticks come every 10 ms at the most.
    if counts.count > 128 { counts.removeFirst() }
  }
}
