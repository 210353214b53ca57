// From probes and wait records to turns and stalls of one thread. Pure: time comes in with the facts.

/// Watches one loop thread.
///
/// Until the thread's homes are known, what is seen is kept and judged when they are.
struct LoopDetector: Sendable {
  struct Settings: Sendable {
    var threshold: Nanoseconds
    var probePeriod: Nanoseconds
    var observer: LoopObserver
    /// Start of the target for one that we launched: its start-up is judged. nil after an attach.
    var launchedAt: Instant?
    var firstID = 1
  }

  private enum Fact: Sendable {
    case probe(ThreadProbe)
    case record(WaitRecord)
  }

  /// Facts kept while homes are learnt; beyond it the oldest decide as they are. Chosen: minutes.
  static let learningCapacity = 20_000

  /// Shorter than this, a sleep, read or lock was not waited for. Chosen.
  static let realWait = Nanoseconds.microseconds(200)

  private(set) var settings: Settings
  private(set) var learner = HomeLearner()
  private var kept: [Fact] = []
  private(set) var follower: TurnFollower
  private var lastProbe: ThreadProbe?
  private var stay: (wait: Wait, since: Instant, slices: UInt64)?
  private var recordedWait: (wait: Wait, since: Instant)?
  private var trail: SwitchTrail?
  private var places: SleepPlaces
  var waits = WaitLedger()
  private var restless: RestlessTime

  init(tid: ThreadID, _ settings: Settings) {
    self.settings = settings
    restless = RestlessTime(since: settings.launchedAt)
    places = SleepPlaces(threshold: settings.threshold)
    follower = TurnFollower(tid: tid, settings)
  }

  /// Whether a few probes in quick succession would help to decide.
  var wantsBurst: Bool { learner.standing != .learning && follower.wantsBurst }

  /// The turn that goes on, as far as is known by now.
  var openTurn: OpenTurn? {
    learner.standing == .learning ? restless.openTurn : follower.openTurn
  }

  /// The stall that has been announced and goes on, as far as it has come.
  var openStall: StallReading? {
    learner.standing == .learning ? nil : follower.openStall
  }

  /// One probe of a quick succession is about to be taken.
  mutating func countQuickProbe() { follower.countBurstProbe() }

  /// What happened since the last call.
  var news: [LoopNews] {
    mutating get { follower.log.takeNews() }
  }

  // MARK: Facts

  mutating func take(_ probe: ThreadProbe) {
    if settings.observer == .proc {
      if case .waiting(let wait) = probe.state { places.saw(wait) }
      // A thread that is taken apart loses its records before its last switch.
      let learner = learner
      let seen =
        probe.isExiting
        ? nil : trail?.probes(to: probe, places: places) { learner.isHome($0) }
      guard let seen else { return takeOne(probe) }
      for each in seen { takeOne(each) }
      return
    }
    if lastProbe == nil, recordedWait == nil, case .waiting(let wait) = probe.state,
      wait.waitClass != .never
    {
      // It went to wait before we came: no record tells, but the turn that follows is a whole one.
      take(WaitRecord(at: probe.at, step: .entered(wait)))
    }
    takeOne(probe)
  }

  private mutating func takeOne(_ probe: ThreadProbe) {
    if settings.observer == .proc { learn(from: probe) }
    waits.take(probe)
    lastProbe = probe
    if learner.standing == .learning { restless.add(probe) }
    feed(.probe(probe))
  }

  /// A context switch; those up to a probe are to come before it.
  mutating func take(_ record: SwitchRecord) { trail?.add(record) }

  /// Whether records of switches that belong before this probe are still to come.
  func awaitsRecords(_ probe: ThreadProbe) -> Bool { trail?.isBehind(probe) ?? false }

  mutating func take(_ record: WaitRecord) {
    waits.take(record)
    switch record.step {
    case .entered(let wait):
      // A read or a lock that is to be had at once is no wait: it counts when it has lasted.
      if wait.waitClass == .idle { learner.arrived(wait) }
      recordedWait = (wait, record.at)
    case .left:
      if let recordedWait {
        let length = record.at - recordedWait.since
        if recordedWait.wait.waitClass == .learnable, length >= Self.realWait {
          learner.arrived(recordedWait.wait)
        }
        learner.stayed(recordedWait.wait, for: length)
      }
      recordedWait = nil
    case .lost, .exiting: recordedWait = nil
    }
    feed(.record(record))
  }

  /// The thread or the watching has ended.
  ///
  /// - Parameter exited: the target itself has ended, so that a turn still going on is an exit stall.
  mutating func finish(at time: Instant, exited: Bool) {
    if learner.standing == .learning {
      learner.finish()
      if learner.standing == .learning { return }
      settle()
    }
    follower.finish(at: time, exited: exited)
  }

  /// Whether records are waiting that were not taken yet.
  mutating func setLagging(_ isLagging: Bool) { follower.isLagging = isLagging }

  /// Records come from now on. Only while the thread is at home: a turn that goes on would be lost.
  mutating func goOnWithRecords() {
    settings.observer = .kernel
    trail = nil
    follower.goOnWithRecords()
  }

  /// Records of context switches come from now on, before the probes that they belong to.
  ///
  /// - Parameter places: they tell where it slept.
  mutating func goOnWithSwitches(places: Bool = false) {
    trail = SwitchTrail()
    waits.tellsPlaces = places
  }

  /// No more of them will come.
  mutating func goOnWithoutSwitches() {
    trail = nil
    waits.tellsPlaces = false
  }

  /// Spans between probes for which records were missing.
  var brokenSpans: Int { trail?.broken ?? 0 }

  /// Whether the last probe saw the thread at a known home.
  var isAtRest: Bool { learner.standing != .learning && follower.isAtRest }

  /// Its loop moves between threads: see `HomeLearner.shareLoop`. What it is seen doing may be other work
  /// than the loop's, so from here on a stall is only probable.
  mutating func shareLoop() {
    guard !learner.isSharing else { return }
    learner.shareLoop()
    follower.isSharing = true
  }

  /// What the loop's other threads have computed since this one was last at rest.
  mutating func setOthers(computed time: Nanoseconds) { follower.log.othersComputed = time }

  /// The thread was seen to come to this place so often before it was watched.
  mutating func startKnowing(_ wait: Wait, visits: Int) {
    for _ in 0..<visits { learner.arrived(wait) }
  }

  /// Whether it came home again and again: once is no loop.
  var hasLooped: Bool {
    learner.standing != .learning
      && learner.homeVisits.reduce(0) { $0 + $1.visits } >= HomeLearner.visitsThatEstablish
  }

  /// No more records will come: go on with probes alone.
  mutating func fallBackToProbes() {
    if learner.standing == .learning { kept.removeAll() }
    settings.observer = .proc
    follower.fallBackToProbes()
  }

  private mutating func feed(_ fact: Fact) {
    if case .probe(let probe) = fact { countStay(until: probe) }
    guard learner.standing == .learning else {
      settle()
      pass(fact)
      return
    }
    // A thread that has not moved since the last probe adds nothing new but the time.
    if case .probe(let probe) = fact, case .probe(let previous)? = kept.last,
      previous.slices == probe.slices, previous.state == probe.state, kept.count > 1,
      case .probe(let older) = kept[kept.count - 2], older.slices == probe.slices,
      older.state == probe.state
    {
      kept[kept.count - 1] = fact
    } else {
      kept.append(fact)
    }
    if kept.count > Self.learningCapacity { kept.removeFirst(Self.learningCapacity / 2) }
  }

  private mutating func countStay(until probe: ThreadProbe) {
    if let stay { learner.stayed(stay.wait, for: probe.at - stay.since) }
    if let recordedWait {
      learner.stayed(recordedWait.wait, for: probe.at - recordedWait.since)
    }
  }

  private mutating func settle() {
    let facts = kept
    kept = []
    for fact in facts { pass(fact) }
  }

  private mutating func pass(_ fact: Fact) {
    switch fact {
    case .probe(let probe): follower.follow(probe, homes: learner)
    case .record(let record): follower.follow(record, homes: learner)
    }
  }

  private mutating func learn(from probe: ThreadProbe) {
    guard case .waiting(let wait) = probe.state else {
      stay = nil
      return
    }
    if let stay, stay.wait.site == wait.site, stay.slices == probe.slices { return }
    stay = (wait, probe.at, probe.slices)
    // Of a sleep that only records tell of: what was to be had at once was not waited for.
    if wait.waitClass == .learnable, let since = probe.switches?.asleepSince,
      probe.at - since < Self.realWait
    {
      return
    }
    learner.arrived(wait)
  }

  // MARK: Standing

  /// The loop's sums and, where stalls cannot be judged, why.
  ///
  /// - Parameter callName: the name of a system call number.
  func reading(callName: (Int32) -> String) -> LoopReading {
    var reading = follower.reading
    reading.homes = learner.homeVisits.prefix(8).map {
      LoopReading.Home(site: $0.site, call: callName($0.site.call), visits: $0.visits)
    }
    if learner.standing == .learning {
      reading.homes = []
      reading.verdictless = whyNot(callName)
    }
    return reading
  }

  private func whyNot(_ callName: (Int32) -> String) -> String {
    let waits = learner.visits.reduce(into: [:]) { counts, visit in
      counts[callName(visit.key.call), default: 0] += visit.value
    }
    guard !waits.isEmpty else {
      return "no event loop was seen: the thread never waited where a loop would"
    }
    let list = waits.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(3)
      .map { "\($0.key) \($0.value)x" }.joined(separator: ", ")
    return
      "no event loop was seen: the thread waited in \(list), but not again and again at one place"
  }
}

/// What stands for a turn while homes are not known yet: the time since the thread was last seen at a wait
/// that may be one.
private struct RestlessTime: Sendable {
  private var since: Instant?
  private var last: ThreadProbe?
  private var stopped = Nanoseconds.zero
  /// At a wait that is home to some loops, and a stall to others.
  private var mayRest = false

  /// - Parameter since: the start of a target that we launched.
  init(since: Instant?) { self.since = since }

  mutating func add(_ probe: ThreadProbe) {
    defer { last = probe }
    switch probe.state {
    case .waiting(let wait) where wait.waitClass == .idle: since = nil
    case .waiting(let wait) where wait.waitClass == .learnable: mayRest = true
    case .stopped:
      if let last { stopped += probe.at - last.at }
    case .unknown: break
    case .waiting, .running, .blocked:
      if mayRest || since == nil {
        since = probe.at
        stopped = .zero
      }
      mayRest = false
    }
  }

  var openTurn: OpenTurn? {
    guard let since, let last, last.state != .stopped, !last.isExiting else { return nil }
    return OpenTurn(start: since, length: last.at - since - stopped, lastSeen: last.at)
  }
}
