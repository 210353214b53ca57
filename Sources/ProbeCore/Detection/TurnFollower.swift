// Follows a thread from home to home and makes turns of what lies between.

/// Turns of one thread whose homes are known.
struct TurnFollower: Sendable {
  /// A wait this much deeper in the stack than home is a nested one. Chosen: two small frames.
  static let nestedDepth: UInt64 = 512
  /// So long before the threshold the quick probes begin.
  static let burstLead = Nanoseconds.milliseconds(40)
  /// A saturated loop reads and writes at every turn; a computation seldom does so often. Chosen.
  static let busyIOPerMillisecond = 2.0
  /// Below this chance, sleeps that no probe saw are not taken for visits home. A busy loop begins some
  /// ten thousand turns an hour at which it is asked. Chosen.
  static let smallChance = 1e-5

  var settings: LoopDetector.Settings
  var log: TurnLog
  var away: AwayTime?
  /// Bounds of the moment when home was left; equal where it is exact.
  var leftAfter: Instant?
  var leftBefore: Instant?
  var homeProbe: ThreadProbe?
  var homeStack: UInt64 = 0
  var homeCount = 0
  var nested: (visits: Int, since: Instant, slices: UInt64?)?
  /// Where the thread came to wait while it was not certain yet that its start-up is over.
  var arrival: (wait: Wait, slices: UInt64?, low: Instant, high: Instant)?
  var isStartup: Bool
  var quickProbes = QuickAllowance()
  var hasLost = false
  var lastProbe: ThreadProbe?
  /// With records: whether the thread is in a wait that counts as home.
  var isAtHome = false
  /// Records tell of every turn from the start.
  private var countsAllTurns: Bool
  private var generation: Int?
  /// Records are behind the probes.
  var isLagging = false
  /// It has been seen to turn faster than probes can follow: then nothing that they say is certain.
  var turnsUnseen = false
  /// Its loop moves between threads.
  var isSharing = false
  /// By how much the start was put later than it may have been.
  var startDoubt = Nanoseconds.zero
  /// What records of its switches say since home was left; nil where there are none.
  var switches: AwaySwitches?
  /// To either side of `exitAt`: zero where a record told it.
  private var exitError = Nanoseconds.zero
  /// When the thread called exit, or was first seen exiting.
  var exitAt: Instant?

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

  var isExact: Bool { settings.observer == .kernel }

  // MARK: Probes

  mutating func follow(_ probe: ThreadProbe, homes: HomeLearner) {
    defer { lastProbe = probe }
    adapt(to: homes)
    if let lastProbe { quickProbes.passed(probe.at - lastProbe.at) }
    if probe.isExiting {
      if exitAt == nil {
        let before = lastProbe?.at ?? probe.at
        exitAt = middle(before, probe.at)
        exitError = (probe.at - before) / 2
      }
      return
    }
    if away == nil, homeProbe == nil { away = AwayTime(base: probe) }
    if isExact {
      followBeside(probe, homes)
      return
    }
    if isAwaitingCPU(probe) { return }
    var isFirst = away == nil
    if wasBlind(until: probe) {
      isFirst = true
      forget(probe)
    }
    if case .waiting(let wait) = probe.state, homes.isHome(wait) {
      if isNested(wait) {
        leave(probe)
        if let last = away?.last {
          let bounds = nestedBounds(last, probe)
          isFirst = splitBeforeNested(bounds.low, bounds.high, probe)
        }
        let unseen = followSwitches(probe, isFirst: isFirst)
        away?.add(probe, unseen: unseen)
        arriveNested(wait, probe.at, probe)
        look(at: probe.at)
        return
      }
      if !isStartup || homes.endsStartup(wait) {
        arrive(wait, probe)
        return
      }
      if arrival?.wait != wait || arrival?.slices != probe.slices {
        arrival = (wait, probe.slices, away?.last?.at ?? probe.at, probe.at)
      }
    }
    // Where the thread cannot be read it is not known to be away.
    if probe.state == .unknown { return }
    leave(probe)
    if isTurningUnseen(probe) {
      restart(at: probe)
      return
    }
    if beginAnew(probe) { isFirst = true }
    let unseen = followSwitches(probe, isFirst: isFirst)
    away?.add(probe, unseen: unseen)
    look(at: probe.at)
  }

  /// Begins anew when other places turn out to be the homes.
  mutating func adapt(to homes: HomeLearner) {
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
    switches = nil
    log.retract()
  }

  private mutating func leave(_ probe: ThreadProbe) {
    guard away == nil, let home = homeProbe else { return }
    away = AwayTime(base: home)
    startDoubt = .zero
    leftAfter = home.at
    leftBefore = probe.at
    // Ran without sleeping since it left: then it left just as long ago as it has run. The counter of a
    // running thread lags by up to a scheduler tick, so this bounds the moment from one side only.
    if probe.sleeps == home.sleeps {
      let busy = (probe.cpu - home.cpu) + (probe.runDelay - home.runDelay)
      leftBefore = min(probe.at, max(home.at, probe.at + (Nanoseconds.zero - busy)))
    }
    leaveBySwitches(probe, home)
  }

  /// Seen away but once before, and since then mostly asleep where nobody looked: that was most likely a
  /// visit home, and the turn began after it. Claims less than what may be.
  private mutating func beginAnew(_ probe: ThreadProbe) -> Bool {
    guard !isStartup, nested == nil, !log.hasOpenStall, let away, let last = away.last,
      away.first == last, away.base.at == homeProbe?.at, probe.sleeps > last.sleeps
    else { return false }
    if case .waiting = probe.state, probe.sleeps == last.sleeps + 1 { return false }
    guard probe.state != .stopped, last.state != .stopped else { return false }
    if switches != nil, probe.switches != nil { return beginAnewBySwitches(probe, after: last) }
    let busy = (probe.cpu - last.cpu) + (probe.runDelay - last.runDelay)
    guard busy * 2 < probe.at - last.at else { return false }
    self.away = AwayTime(base: last)
    // It may have left as early as it was thought to before.
    startDoubt = last.at - (leftAfter ?? last.at)
    leftAfter = last.at
    leftBefore = probe.at
    switches = nil
    return true
  }

  mutating func arrive(_ wait: Wait, _ probe: ThreadProbe) {
    if homeProbe?.slices != probe.slices || away != nil { countHome(wait) }
    defer {
      homeProbe = probe
      away = nil
      switches = nil
      nested = nil
      isStartup = false
    }
    if isStartup {
      if let arrival, arrival.wait == wait, arrival.slices == probe.slices {
        finishStartup(at: arrival.low, arrival.high, probe)
      } else {
        finishStartup(at: away?.last?.at ?? probe.at, probe.at, probe)
      }
      return
    }
    guard let home = homeProbe else {
      // After a gap of ours: how often it slept is not known.
      if let away, let last = away.last {
        closeTurn(away, last, slept: .max, busy: .zero, probe)
      }
      return
    }
    if probe.slices == home.slices { return }
    let slept = probe.sleeps - min(home.sleeps, probe.sleeps)
    let busy = (probe.cpu - home.cpu) + (probe.runDelay - home.runDelay)
    guard let away, let last = away.last else {
      if closeUnseen(probe) { return }
      // Home at both looks: one sleep is one turn, and it was as long as the thread ran.
      if slept == 1, busy > .zero, busy <= probe.at - home.at {
        log.end(turn(.stall, from: probe.at + (.zero - busy), to: probe.at, .zero, probe))
      }
      return
    }
    closeTurn(away, last, slept: slept, busy: busy, probe)
  }

  private mutating func closeTurn(
    _ away: AwayTime, _ last: ThreadProbe, slept: UInt64, busy: Nanoseconds, _ probe: ThreadProbe
  ) {
    if closeBySwitches(away, probe) { return }
    guard let after = leftAfter, let before = leftBefore else { return }
    let kind: StallKind = nested == nil ? .stall : .nested
    // No shorter than it was seen away: counters may lie, and a virtual machine's know no stolen time.
    let seen = last.at - (away.first ?? last).at
    if slept == 1, busy >= seen, busy <= probe.at - after {
      // It left once and came back once, and both counters were read at rest: exact.
      let earliest = max(after, last.at + (.zero - busy))
      let latest = max(earliest, min(before, probe.at + (.zero - busy)))
      let start = middle(earliest, latest)
      log.end(turn(kind, from: start, to: start + busy, .milliseconds(1), probe))
      return
    }
    let start = middle(after, before)
    // Mostly asleep unseen just before it was seen away last: that was the way home, and a turn more.
    let low = away.sleptBeforeLast ?? last.at
    let high = away.sleptBeforeLast == nil ? probe.at : last.at
    let end = max(start, middle(low, high))
    let error = (before - after) / 2 + startDoubt + (probe.at - low) / 2 + (probe.at - high) / 2
    if !isTold(away), end - start >= settings.threshold {
      let sleptLast = probe.sleeps - min(last.sleeps, probe.sleeps)
      let sure = away.surest(until: sleptLast <= 1 ? middle(last.at, probe.at) : last.at)
      if sure.length - away.stopped >= settings.threshold {
        let doubt = startDoubt + max(.zero, (end - start) - sure.length)
        log.end(turn(kind, from: sure.start, to: sure.end, settings.probePeriod + doubt, probe))
      } else {
        log.undecided += end - start
        log.retract()
      }
      return
    }
    log.end(turn(kind, from: start, to: end, error, probe))
  }

  func turn(
    _ kind: StallKind, from start: Instant, to end: Instant, _ error: Nanoseconds,
    _ probe: ThreadProbe
  ) -> Turn {
    let seen = away ?? AwayTime(base: homeProbe ?? probe)
    let parts = seen.parts(length: max(.zero, end - start), end: probe)
    return Turn(
      kind: kind, start: start, end: end, error: error, stopped: away?.stopped ?? .zero,
      certainty: certainty, parts: parts)
  }

  private var certainty: Certainty {
    if hasLost || isSharing { return .probable }
    if isExact { return .exact }
    // A thread that only ran may have been home without sleeping there: its wait was over at once. What
    // was mostly seen blocked away from home was nowhere else.
    guard let away, away.hiddenSleeps == 0, !turnsUnseen else { return .probable }
    return away.blockedShare > 0.5 ? .exact : .probable
  }

  mutating func finishStartup(at low: Instant, _ high: Instant, _ probe: ThreadProbe) {
    guard let launched = settings.launchedAt else { return }
    let end = isExact ? high : middle(low, high)
    log.end(turn(.startup, from: launched, to: end, (high - low) / 2, probe))
  }

  /// A turn that goes on: announce it when it is long enough and not in doubt.
  mutating func look(at time: Instant) {
    guard let away, !log.hasOpenStall, let start = surelyAway(until: time)?.start else { return }
    let length = time - start - away.stopped
    let runDelay = (away.last ?? away.base).runDelay - away.base.runDelay
    let kind: StallKind = isStartup ? .startup : nested == nil ? .stall : .nested
    guard length >= log.limit(of: kind), !log.isWorkOfMany(length, runDelay: runDelay) else {
      return
    }
    log.begin(kind, start: start)
  }

  /// The turn that goes on, if it is very likely one: worth a look at the thread's stack.
  var openTurn: OpenTurn? {
    guard let away, !isAtHome, !isLagging, let last = away.last, last.state != .stopped,
      let start = surelyAway(until: last.at)?.start
    else { return nil }
    return OpenTurn(
      start: start, length: last.at - start - away.stopped, lastSeen: last.at)
  }

  /// The stall that goes on, as it were if it ended at the last probe.
  var openStall: StallReading? {
    guard let away, let id = log.openStall, !isAtHome, !isLagging, let last = away.last,
      last.state != .stopped, let known = surelyAway(until: last.at)
    else { return nil }
    let length = max(.zero, last.at - known.start)
    let kind: StallKind = isStartup ? .startup : nested == nil ? .stall : .nested
    let parts = away.partsSoFar(length: length, end: last)
    guard length - parts.stopped >= log.limit(of: kind),
      !log.isWorkOfMany(length - parts.stopped, runDelay: parts.runDelay)
    else { return nil }
    return StallReading(
      id: id, tid: log.tid, kind: kind, start: known.start, duration: length, error: known.error,
      observer: log.observer, certainty: certainty, parts: parts)
  }

  /// At home by the last probe, and nothing announced.
  var isAtRest: Bool { away == nil && homeProbe != nil && !log.hasOpenStall && !isStartup }

  mutating func goOnWithRecords() {
    settings.observer = .kernel
    log.observer = .kernel
    log.forgetTurns()
    countsAllTurns = false
    leftAfter = nil
    switches = nil
    isAtHome = true
  }

  mutating func fallBackToProbes() {
    settings.observer = .proc
    log.observer = .proc
    countsAllTurns = false
    turnsUnseen = true
    homeProbe = nil
    away = nil
    switches = nil
    nested = nil
    leftAfter = nil
    isStartup = false
    log.retract()
  }

  // MARK: The end

  mutating func finish(at time: Instant, exited: Bool) {
    guard let away, !isAtHome, let last = away.last ?? lastProbe else { return }
    // The kernel taking the process apart is not the program's doing.
    // Killed without an exit that was seen, it ended some time after the last look; let go, it goes on.
    let unseen = exited ? middle(min(last.at, time), time) : time
    guard let known = surelyAway(until: min(time, exitAt ?? unseen)) else {
      log.undecided += time - (leftAfter ?? time)
      log.retract()
      return
    }
    let start = known.start
    let end = max(start, min(time, exitAt ?? unseen))
    let kind: StallKind = isStartup ? .startup : nested != nil ? .nested : exited ? .exit : .stall
    let endError = exitAt == nil ? time - unseen : exitError
    var final = turn(kind, from: start, to: end, known.error + endError, last)
    if exited { final.windingDown = away.windingDown(length: end - start, end: last) }
    log.end(final)
  }

  func middle(_ one: Instant, _ other: Instant) -> Instant {
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
