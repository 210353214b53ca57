// Follows a thread from home to home and makes turns of what lies between.

/// Turns of one thread whose homes are known.
struct TurnFollower: Sendable {
  /// A wait this much deeper in the stack than home is a nested one. Chosen: two small frames.
  static let nestedDepth: UInt64 = 512
  /// So long before the threshold the quick probes begin.
  static let burstLead = Nanoseconds.milliseconds(40)
  static let burstProbes = 20
  /// A saturated loop reads and writes at every turn; a computation seldom does so often. Chosen.
  static let busyIOPerMillisecond = 2.0
  /// Below this chance, sleeps that no probe saw are not taken for visits home. Chosen.
  static let smallChance = 1e-3

  private var settings: LoopDetector.Settings
  var log: TurnLog
  private var away: AwayTime?
  /// Bounds of the moment when home was left; equal where it is exact.
  private var leftAfter: Instant?
  private var leftBefore: Instant?
  private var homeProbe: ThreadProbe?
  private var homeStack: UInt64 = 0
  private var homeCount = 0
  private var nested: (visits: Int, since: Instant)?
  private var innerLeft: Instant?
  private var isStartup: Bool
  private var burstLeft = TurnFollower.burstProbes
  private var hasLost = false
  private var lastProbe: ThreadProbe?
  /// With records: whether the thread is in a wait that counts as home.
  private var isAtHome = false
  /// Records tell of every turn from the start.
  private var countsAllTurns: Bool
  private var generation: Int?
  /// Records are behind the probes.
  var isLagging = false
  /// When the thread called exit, or was first seen exiting.
  private var exitAt: Instant?

  init(tid: ThreadID, _ settings: LoopDetector.Settings) {
    self.settings = settings
    log = TurnLog(
      tid: tid, observer: settings.observer, threshold: settings.threshold,
      firstID: settings.firstID)
    isStartup = settings.launchedAt != nil
    countsAllTurns = settings.observer == .kernel
    leftAfter = settings.launchedAt
    leftBefore = settings.launchedAt
  }

  private var isExact: Bool { settings.observer == .kernel }

  // MARK: Probes

  mutating func follow(_ probe: ThreadProbe, homes: HomeLearner) {
    defer { lastProbe = probe }
    adapt(to: homes)
    if probe.isExiting {
      if exitAt == nil { exitAt = middle(lastProbe?.at ?? probe.at, probe.at) }
      return
    }
    if away == nil, homeProbe == nil { away = AwayTime(base: probe) }
    if isExact {
      followBeside(probe)
      return
    }
    if wasBlind(until: probe) { forget(probe) }
    if case .waiting(let wait) = probe.state, homes.isHome(wait) {
      if isNested(wait) {
        leave(probe)
        away?.add(probe)
        arriveNested(wait, probe.at, homes)
        look(at: probe.at)
        return
      }
      if !isStartup || homes.endsStartup(wait) {
        arrive(wait, probe)
        return
      }
    }
    // Where the thread cannot be read it is not known to be away.
    if probe.state == .unknown, away == nil { return }
    leave(probe)
    if isTurningUnseen(probe) {
      restart(at: probe)
      return
    }
    away?.add(probe)
    look(at: probe.at)
  }

  /// A saturated loop never sleeps at home, but reads and writes at every turn: so many calls since the
  /// last probe are taken for turns. What computes in silence is not.
  private func isTurningUnseen(_ probe: ThreadProbe) -> Bool {
    guard homeCount > 0, probe.state == .running, let before = away?.last?.ioCalls,
      let now = probe.ioCalls, let since = away?.last?.at, probe.at > since
    else { return false }
    return Double(now - min(now, before))
      >= Self.busyIOPerMillisecond * (probe.at - since).inMilliseconds
  }

  private mutating func restart(at probe: ThreadProbe) {
    guard let evidence = away, let last = evidence.last else { return }
    let since = last.at
    if let after = leftAfter, let before = leftBefore {
      // What went on in silence until now was one turn.
      let start = middle(after, before)
      let end = middle(since, probe.at)
      if end - start - evidence.stopped >= settings.threshold {
        let error = (before - after) / 2 + (probe.at - since) / 2
        log.end(turn(.stall, from: start, to: end, error, probe))
      } else {
        log.undecided += probe.at - since
        log.retract()
      }
    }
    var again = AwayTime(base: probe)
    again.add(probe)
    away = again
    leftAfter = since
    leftBefore = probe.at
  }

  /// Begins anew when other places turn out to be the homes.
  private mutating func adapt(to homes: HomeLearner) {
    defer { generation = homes.generation }
    guard let generation, generation != homes.generation else { return }
    homeStack = 0
    homeCount = 0
    homeProbe = nil
    nested = nil
    if !isStartup {
      leftAfter = nil
      away = nil
    }
    isAtHome = false
    log.retract()
  }

  /// Whether we ourselves were not looking for so long that the thread may have turned meanwhile.
  private func wasBlind(until probe: ThreadProbe) -> Bool {
    guard let lastProbe, lastProbe.sleeps != probe.sleeps else { return false }
    return probe.at - lastProbe.at > max(settings.probePeriod * 4, .milliseconds(60))
  }

  /// What went on while we did not look is not judged.
  private mutating func forget(_ probe: ThreadProbe) {
    log.retract()
    guard !isStartup else { return }
    homeProbe = nil
    away = nil
    nested = nil
    leftAfter = probe.at
    leftBefore = probe.at
  }

  private mutating func leave(_ probe: ThreadProbe) {
    guard away == nil, let home = homeProbe else { return }
    away = AwayTime(base: home)
    burstLeft = Self.burstProbes
    leftAfter = home.at
    leftBefore = probe.at
    // Ran without sleeping since it left: then it left just as long ago as it has run. The counter of a
    // running thread lags by up to a scheduler tick, so this bounds the moment from one side only.
    if probe.sleeps == home.sleeps {
      let busy = (probe.cpu - home.cpu) + (probe.runDelay - home.runDelay)
      leftBefore = min(probe.at, max(home.at, probe.at + (Nanoseconds.zero - busy)))
    }
  }

  private mutating func arrive(_ wait: Wait, _ probe: ThreadProbe) {
    countHome(wait)
    defer {
      homeProbe = probe
      away = nil
      nested = nil
      innerLeft = nil
      isStartup = false
    }
    if isStartup {
      finishStartup(at: away?.last?.at ?? probe.at, probe.at, probe)
      return
    }
    guard let home = homeProbe else { return }
    if probe.slices == home.slices { return }
    let slept = probe.sleeps - min(home.sleeps, probe.sleeps)
    let busy = (probe.cpu - home.cpu) + (probe.runDelay - home.runDelay)
    guard let away, let last = away.last else {
      // Home at both looks: one sleep is one turn, and it was as long as the thread ran.
      if slept == 1 {
        log.end(turn(.stall, from: probe.at + (.zero - busy), to: probe.at, .zero, probe))
      }
      return
    }
    closeTurn(away, last, slept: slept, busy: busy, probe)
  }

  private mutating func closeTurn(
    _ away: AwayTime, _ last: ThreadProbe, slept: UInt64, busy: Nanoseconds, _ probe: ThreadProbe
  ) {
    guard let after = leftAfter, let before = leftBefore else { return }
    let kind: StallKind = nested == nil ? .stall : .nested
    if slept == 1 {
      // It left once and came back once, and both counters were read at rest: exact.
      let earliest = max(after, last.at + (.zero - busy))
      let latest = max(earliest, min(before, probe.at + (.zero - busy)))
      let start = middle(earliest, latest)
      log.end(turn(kind, from: start, to: start + busy, .milliseconds(1), probe))
      return
    }
    let start = middle(after, before)
    let end = middle(last.at, probe.at)
    let error = (before - after) / 2 + (probe.at - last.at) / 2
    // With quick probes all through, hidden sleeps that nobody saw at home are very likely none.
    let isOpen = log.hasOpenStall
    if away.hiddenSleeps > 0, !isOpen, away.chanceOfMissing > Self.smallChance,
      end - start >= settings.threshold
    {
      log.undecided += end - start
      log.retract()
      return
    }
    log.end(turn(kind, from: start, to: end, error, probe))
  }

  private func turn(
    _ kind: StallKind, from start: Instant, to end: Instant, _ error: Nanoseconds,
    _ probe: ThreadProbe
  ) -> Turn {
    let parts = away?.parts(length: max(.zero, end - start), end: probe) ?? Summary.CauseParts()
    return Turn(
      kind: kind, start: start, end: end, error: error, stopped: away?.stopped ?? .zero,
      certainty: certainty, parts: parts)
  }

  private var certainty: Certainty {
    if hasLost { return .probable }
    if isExact { return .exact }
    // A thread that only ran may have been home without sleeping there: its wait was over at once. What
    // was mostly seen blocked away from home was nowhere else.
    guard let away, away.hiddenSleeps == 0 else { return .probable }
    return away.blockedShare > 0.5 ? .exact : .probable
  }

  private mutating func finishStartup(at low: Instant, _ high: Instant, _ probe: ThreadProbe) {
    guard let launched = settings.launchedAt else { return }
    let end = isExact ? high : middle(low, high)
    log.end(turn(.startup, from: launched, to: end, (high - low) / 2, probe))
  }

  /// A turn that goes on: announce it when it is long enough and not in doubt.
  private mutating func look(at time: Instant) {
    guard let away, let after = leftAfter, let before = leftBefore, !log.hasOpenStall else {
      return
    }
    let start = isExact ? after : middle(after, before)
    guard time - start - away.stopped >= settings.threshold else { return }
    if !isExact {
      if away.hiddenSleeps > 0, burstLeft > 0 { return }
    }
    log.begin(isStartup ? .startup : nested == nil ? .stall : .nested, start: start)
  }

  /// Quick probes are wanted shortly before the threshold when sleeps were not seen.
  var wantsBurst: Bool {
    guard !isExact, burstLeft > 0, let away, away.hiddenSleeps > 0, let last = away.last,
      let after = leftAfter, let before = leftBefore
    else { return false }
    return last.at - middle(after, before) >= settings.threshold - Self.burstLead
  }

  mutating func countBurstProbe() { burstLeft = max(0, burstLeft - 1) }

  /// At home by the last probe, and nothing announced.
  var isAtRest: Bool { away == nil && homeProbe != nil && !log.hasOpenStall && !isStartup }

  mutating func goOnWithRecords() {
    settings.observer = .kernel
    log.observer = .kernel
    log.forgetTurns()
    countsAllTurns = false
    leftAfter = nil
    isAtHome = true
  }

  mutating func fallBackToProbes() {
    settings.observer = .proc
    log.observer = .proc
    countsAllTurns = false
    homeProbe = nil
    away = nil
    nested = nil
    leftAfter = nil
    isStartup = false
    log.retract()
  }

  // MARK: Nested waits

  private func isNested(_ wait: Wait) -> Bool {
    homeCount > 0 && wait.waitClass == .idle
      && wait.site.stackPointer + Self.nestedDepth < homeStack
  }

  private mutating func countHome(_ wait: Wait) {
    // A runtime's park lies elsewhere in the stack than its idle wait and says nothing of depth.
    if wait.waitClass == .idle { homeStack = max(homeStack, wait.site.stackPointer) }
    homeCount += 1
  }

  private mutating func arriveNested(_ wait: Wait, _ time: Instant, _ homes: HomeLearner) {
    var state = nested ?? (visits: 0, since: time)
    state.visits += 1
    nested = state
    // The first wait of a program may lie further out than its loop: then the deeper one is home.
    let isReal =
      state.visits >= 4 && state.visits > 2 * homeCount
      || state.visits >= 16 && time - state.since >= .seconds(5)
    if isReal {
      homeStack = wait.site.stackPointer
      log.retract()
      nested = nil
      away = nil
      homeProbe = lastProbe
      leftAfter = nil
      isAtHome = true
    }
  }

  // MARK: Records

  mutating func follow(_ record: WaitRecord, homes: HomeLearner) {
    adapt(to: homes)
    switch record.step {
    case .exiting: exitAt = record.at
    case .lost:
      // Which turns ended meanwhile is not known; the next whole one is counted, as probable.
      hasLost = true
      isAtHome = false
      leftAfter = nil
      away = nil
      log.retract()
    case .entered(let wait):
      guard homes.isHome(wait) else { return }
      if isNested(wait) {
        arriveNested(wait, record.at, homes)
        return
      }
      guard !isStartup || homes.endsStartup(wait) else { return }
      arrive(wait, at: record.at)
    case .left:
      guard isAtHome else { return }
      isAtHome = false
      leftAfter = record.at
      leftBefore = record.at
      if let probe = lastProbe { away = AwayTime(base: probe) }
    }
  }

  private mutating func arrive(_ wait: Wait, at time: Instant) {
    countHome(wait)
    let wasAway = !isAtHome
    isAtHome = true
    defer {
      nested = nil
      isStartup = false
      away = nil
    }
    guard wasAway, let probe = lastProbe else { return }
    if isStartup {
      finishStartup(at: time, time, probe)
      return
    }
    guard let start = leftAfter else { return }
    log.end(turn(nested == nil ? .stall : .nested, from: start, to: time, .zero, probe))
    hasLost = false
    leftAfter = nil
  }

  /// With records, probes only tell of causes and of turns that go on.
  private mutating func followBeside(_ probe: ThreadProbe) {
    if homeProbe == nil { homeProbe = probe }
    guard !isAtHome else { return }
    if away == nil { away = AwayTime(base: probe) }
    away?.add(probe)
    // Records that are still to be read may tell that it is home already.
    if !isLagging { look(at: probe.at) }
  }

  // MARK: The end

  mutating func finish(at time: Instant, exited: Bool) {
    guard let away, !isAtHome, let after = leftAfter, let before = leftBefore,
      let last = away.last ?? lastProbe
    else { return }
    let start = isExact ? after : middle(after, before)
    // The kernel taking the process apart is not the program's doing.
    let end = max(start, min(time, exitAt ?? time))
    let kind: StallKind = isStartup ? .startup : exited ? .exit : nested == nil ? .stall : .nested
    var final = turn(kind, from: start, to: end, isExact ? .zero : (before - after) / 2, last)
    if exited { final.windingDown = away.windingDown(length: end - start, end: last) }
    log.end(final)
  }

  private func middle(_ one: Instant, _ other: Instant) -> Instant {
    one + (other - one) / 2
  }

  var reading: LoopReading {
    var reading = LoopReading(tid: log.tid, observer: settings.observer)
    reading.turns = countsAllTurns ? log.turns : nil
    reading.histogram = isExact ? log.histogram : nil
    reading.longTurns = log.longTurns
    reading.blockingTime = log.blockingTime
    reading.longestTurn = log.longest
    reading.startup = log.startup
    reading.undecided = log.undecided
    return reading
  }
}
