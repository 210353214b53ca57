// Episodes of many threads, with what their threads were blocked in.

/// Folds alarms. Bounded, whatever a recording says.
struct ThreadAlarms: Sendable, Equatable {
  /// Chosen: more than anybody reads.
  static let capacity = 100
  /// An alarm is told of when it is known where the threads are, or after this. Chosen.
  static let patience = Nanoseconds.milliseconds(1500)

  private(set) var all: [ThreadAlarmReading] = []
  private var parked: [Int: ParkedReading] = [:]

  /// More threads than Linux can have are a damaged recording's.
  private static func count(_ value: Int) -> Int { min(max(0, value), 1 << 22) }

  mutating func add(_ reading: ThreadAlarmReading) {
    var reading = reading
    reading.limit = Self.count(reading.limit)
    reading.threads = Self.count(reading.threads)
    reading.peak = Self.count(reading.peak)
    reading.grown = reading.grown.map { (Self.count($0.from), $0.since) }
    if let place = all.firstIndex(where: { $0.number == reading.number }) {
      all[place] = reading
    } else if all.count < Self.capacity {
      all.append(reading)
    }
  }

  mutating func add(_ reading: ParkedReading) {
    guard all.contains(where: { $0.number == reading.alarm }) else { return }
    var reading = reading
    reading.looked = Self.count(reading.looked)
    reading.blocked = min(Self.count(reading.blocked), reading.looked)
    reading.groups = Array(reading.groups.prefix(Self.capacity))
    reading.objects = Array(reading.objects.prefix(Self.capacity))
    for index in reading.groups.indices {
      reading.groups[index].count = Self.count(reading.groups[index].count)
    }
    for index in reading.objects.indices {
      reading.objects[index].count = Self.count(reading.objects[index].count)
    }
    parked[reading.alarm] = reading
  }

  /// How many of the first alarms are known well enough to be told of.
  ///
  /// - Parameter mayBeLooked: somebody may look where their threads are, which is worth waiting for.
  func told(at time: Instant, mayBeLooked: Bool) -> Int {
    all.prefix {
      parked[$0.number] != nil || $0.endedAt != nil || !mayBeLooked
        || time - $0.at >= Self.patience
    }.count
  }

  func rows(
    start: Instant, names: (ThreadID) -> String, frames: ([Int]) -> [Summary.Frame]
  ) -> [Summary.ThreadAlarm] {
    all.map { row($0, start: start, names: names, frames: frames) }
  }

  func row(
    _ alarm: ThreadAlarmReading, start: Instant, names: (ThreadID) -> String,
    frames: ([Int]) -> [Summary.Frame]
  ) -> Summary.ThreadAlarm {
    let seen = parked[alarm.number]
    let groups = (seen?.groups ?? []).map {
      Summary.ParkedThreads(
        count: $0.count, call: $0.call, truncated: $0.truncation, frames: frames($0.places))
    }
    let object = seen?.objects.first.map { object in
      ParkedWords.Object(
        count: object.count, wait: object.wait,
        holders: object.wait.chain.map { frames($0.places) })
    }
    var row = Summary.ThreadAlarm(
      reason: alarm.reason.rawValue, limit: alarm.limit, at: max(.zero, alarm.at - start),
      endedAt: alarm.endedAt.map { max(.zero, $0 - start) }, threads: alarm.threads,
      peak: alarm.peak,
      grownFrom: alarm.grown?.from,
      grownWithin: alarm.grown.map { max(.zero, alarm.at - $0.since) },
      sentence: "", looked: seen?.looked, blocked: seen?.blocked, parked: groups,
      runDelayBefore: Self.percent(alarm.before), runDelayDuring: Self.percent(alarm.during))
    row.sentence = ParkedWords.sentence(row, object, watched: alarm.watched.map(names))
    return row
  }

  private static func percent(_ delay: ThreadAlarmReading.Delay?) -> Double? {
    guard let delay, delay.length > .zero else { return nil }
    return Percent.of(max(.zero, delay.delay), delay.length)
  }
}

extension SessionState {
  /// Alarms after the first `count` of them that can be told of, as sentences.
  public func alarmTexts(after count: Int) -> [String] {
    // Without stalls watched there are no captures.
    let mayBeLooked = capabilities.entries["observer"] != nil
    let told = alarms.told(at: lastAt, mayBeLooked: mayBeLooked)
    return alarms.all.prefix(told).dropFirst(count).map { alarm in
      let row = alarms.row(
        alarm, start: start.start, names: threads.name, frames: stalls.stacks.frames)
      return "thread alarm: " + row.sentence
    }
  }
}
