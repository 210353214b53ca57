// Watches a simulated thread as the session would: probes at their time, quick ones when wanted, records.

import Testing

@testable import ProbeCore

/// A small generator with a seed: the same sequence on every run.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next() -> UInt64 {
    state = state &+ 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}

/// How a scripted thread is watched.
struct Watching: Sendable {
  enum Ending: Sendable {
    /// The process ended together with the script.
    case exited
    /// We let go when the script ends, or at that time after the birth.
    case detached
    case detachedAfter(Nanoseconds)
  }

  var observer = LoopObserver.proc
  var threshold = Nanoseconds.milliseconds(250)
  /// nil: as the session would choose.
  var period: Nanoseconds?
  /// Of the period, to either side.
  var jitter = 0.25
  var seed: UInt64 = 1
  var counterLag = Nanoseconds.zero
  /// The target was launched by us at its birth.
  var isLaunched = false
  /// The first probe, after the birth.
  var attachAfter = Nanoseconds.microseconds(100)
  /// From when to when after the birth we were not able to look.
  var blind: [ClosedRange<Nanoseconds>] = []
  /// Changes a probe before it is taken, by its number.
  var spoil: (@Sendable (Int, ThreadProbe) -> ThreadProbe)?
  /// What is told to the detector before the first probe.
  var prepare: (@Sendable (inout LoopDetector) -> Void)?
  /// Records of context switches are read, from the first rest on.
  var switches = false
  /// The records tell where it slept, too.
  var places = false
  /// Records between these times after the birth are lost.
  var lost: ClosedRange<Nanoseconds>?
  var ending = Ending.exited

  /// What was told.
  struct Told {
    var began: [StallBegan] = []
    var stalls: [StallReading] = []
    var retracted: [Int] = []
    var quickProbes = 0
    var longestGap = Nanoseconds.zero
    var detector: LoopDetector
    var reading: LoopReading { detector.reading { WaitCalls.name($0) } }
    /// Stalls that are held against the program.
    var counted: [StallReading] { stalls.filter { $0.kind != .nested && $0.kind != .startup } }

    fileprivate mutating func take(_ news: [LoopNews]) {
      for item in news {
        switch item {
        case .began(let stall): began.append(stall)
        case .stalled(let stall): stalls.append(stall)
        case .retracted(let id): retracted.append(id)
        }
      }
    }
  }

  func watch(_ acts: [Act]) -> Told {
    var thread = SimulatedThread(acts)
    thread.counterLag = counterLag
    return watch(thread)
  }

  func watch(_ thread: SimulatedThread) -> Told {
    let birth = SimulatedThread.birth
    let period = period ?? ProbeSchedule.period(threshold: threshold)
    var random = Seeded(seed)
    var told = Told(
      detector: LoopDetector(
        tid: ThreadID(77),
        LoopDetector.Settings(
          threshold: threshold, probePeriod: period, observer: observer,
          launchedAt: isLaunched ? birth : nil, firstID: 1)))
    prepare?(&told.detector)
    var stop = thread.end
    if case .detachedAfter(let time) = ending { stop = min(stop, birth + time) }
    var records = observer == .kernel ? kept(thread.records) : []
    records.reverse()
    var switched = Switched(switches ? keptSwitches(thread.switches) : [])
    var time = birth + attachAfter
    // What happened before we came is not told.
    while let first = records.last, first.at <= time { records.removeLast() }
    var cursor = 0
    var count = 0
    var isQuick = false
    var previous: Instant?
    while time < stop {
      take(&records, upTo: time, &told)
      guard var probe = thread.probe(at: time, cursor: &cursor) else { break }
      if let spoil { probe = spoil(count, probe) }
      count += 1
      if isQuick {
        told.detector.countQuickProbe()
        told.quickProbes += 1
      }
      if let previous { told.longestGap = max(told.longestGap, time - previous) }
      previous = time
      switched.take(upTo: time, &told.detector)
      told.detector.take(probe)
      if switches { switched.begin(at: time, &told.detector) }
      told.take(told.detector.news)
      isQuick = told.detector.wantsBurst
      time = next(time, period, isQuick, &random)
    }
    take(&records, upTo: stop, &told)
    told.detector.finish(at: stop, exited: hasExited)
    told.take(told.detector.news)
    check(told)
    return told
  }

  private var hasExited: Bool {
    if case .exited = ending { return true }
    return false
  }

  private func next(
    _ time: Instant, _ period: Nanoseconds, _ isQuick: Bool, _ random: inout Seeded
  ) -> Instant {
    var next = time
    if isQuick {
      next = time + ProbeSchedule.quickPeriod
    } else {
      let spread = Int64(Double(period.rawValue) * jitter)
      let shift = spread > 0 ? Int64(random.next() % UInt64(2 * spread)) - spread : 0
      next = time + period + Nanoseconds(shift)
    }
    for gap in blind where gap.contains(next - SimulatedThread.birth) {
      next = SimulatedThread.birth + gap.upperBound + Nanoseconds(1)
    }
    return next
  }

  private func kept(_ records: [WaitRecord]) -> [WaitRecord] {
    guard let lost else { return records }
    let birth = SimulatedThread.birth
    let missing = records.filter { lost.contains($0.at - birth) }
    var kept = records.filter { !lost.contains($0.at - birth) }
    if !missing.isEmpty {
      let place = kept.firstIndex { $0.at - birth > lost.upperBound } ?? kept.endIndex
      kept.insert(WaitRecord(at: birth + lost.upperBound, step: .lost), at: place)
    }
    return kept
  }

  private func keptSwitches(_ records: [SwitchRecord]) -> [SwitchRecord] {
    var records = records
    if !places {
      for index in records.indices {
        records[index].place = nil
        records[index].kind = nil
      }
    }
    guard let lost else { return records }
    let birth = SimulatedThread.birth
    var kept = records.filter { !lost.contains($0.at - birth) }
    if kept.count < records.count {
      let place = kept.firstIndex { $0.at - birth > lost.upperBound } ?? kept.endIndex
      kept.insert(SwitchRecord(at: birth + lost.upperBound, step: .lost), at: place)
    }
    return kept
  }

  private func take(_ records: inout [WaitRecord], upTo time: Instant, _ told: inout Told) {
    while let record = records.last, record.at <= time {
      records.removeLast()
      told.detector.take(record)
    }
  }

  /// What holds for every script: the parts of a stall add up, and announcements are kept.
  private func check(_ told: Told) {
    for stall in told.stalls {
      let sum = Summary.CauseParts.fields.reduce(Nanoseconds.zero) {
        $0 + stall.parts[keyPath: $1]
      }
      #expect(sum == stall.duration, "parts of \(stall)")
      let least = Summary.CauseParts.fields.map { stall.parts[keyPath: $0] }.min()
      #expect(least.map { $0 >= .zero } == true, "parts of \(stall)")
      #expect(stall.duration - stall.parts.stopped >= threshold || stall.parts.stopped > .zero)
    }
    let begun = told.began.map(\.id)
    let ended = told.stalls.map(\.id)
    #expect(Set(begun).count == begun.count, "announced twice")
    #expect(Set(ended).count == ended.count, "ended twice")
    #expect(Set(told.retracted).isDisjoint(with: ended), "retracted and ended")
    // What was announced has ended or was taken back, and nothing else was taken back.
    #expect(Set(begun).isSubset(of: Set(ended).union(told.retracted)))
    #expect(Set(told.retracted).isSubset(of: begun))
  }
}

/// Hands over switch records as the session does.
private struct Switched {
  private var records: [SwitchRecord]
  private var isOn = false

  init(_ records: [SwitchRecord]) { self.records = records.reversed() }

  mutating func begin(at time: Instant, _ detector: inout LoopDetector) {
    guard !isOn, detector.isAtRest else { return }
    isOn = true
    while let first = records.last, first.at <= time { records.removeLast() }
    detector.goOnWithSwitches()
  }

  mutating func take(upTo time: Instant, _ detector: inout LoopDetector) {
    guard isOn else { return }
    while let first = records.last, first.at <= time {
      records.removeLast()
      detector.take(first)
    }
  }
}

extension Nanoseconds {
  static func ms(_ value: Double) -> Nanoseconds { Nanoseconds(Int64((value * 1e6).rounded())) }
}

/// The same acts again and again.
func times(_ count: Int, _ acts: Act...) -> [Act] {
  (0..<count).flatMap { _ in acts }
}

/// A calm loop: waits, and runs a millisecond.
func calm(_ home: Wait, turns: Int = 40, wait: Int64 = 20) -> [Act] {
  times(turns, .wait(home, .milliseconds(wait)), .compute(.milliseconds(1)))
}
