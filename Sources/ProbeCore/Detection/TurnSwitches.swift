// The ends of turns by the records of a thread's context switches: exact where probes saw every sleep.

/// What the records say of the time since home was left.
///
/// A sleep that no probe saw may have been at home. So two things are known: home was left when the sleep
/// there ended, and between two sleeps that may have been at home the thread was surely away.
struct AwaySwitches: Sendable, Equatable {
  /// Away since then without a sleep that may have been at home.
  private(set) var sureSince: Instant
  /// The longest such time that is over.
  private(set) var longest: SwitchSpan.Gap?
  /// When the first unseen sleep between the last two probes away began.
  private(set) var lastHidden: Instant?

  init(since: Instant) { sureSince = since }

  mutating func add(_ span: SwitchSpan) {
    lastHidden = span.hidden?.start
    guard let hidden = span.hidden else { return }
    consider(SwitchSpan.Gap(start: sureSince, end: hidden.start))
    if let gap = hidden.longestGap { consider(gap) }
    sureSince = hidden.end
  }

  /// The longest time in which it was surely away, if it is home at the end.
  func surest(until end: Instant) -> SwitchSpan.Gap {
    var known = self
    let last = SwitchSpan.Gap(start: sureSince, end: end)
    known.consider(last)
    return known.longest ?? last
  }

  private mutating func consider(_ gap: SwitchSpan.Gap) {
    if gap.length > longest?.length ?? .zero { longest = gap }
  }
}

extension TurnFollower {
  /// From a return to user code to the end of the sleep before it, and to the next sleep. Chosen:
  /// a few microseconds, more on a machine that is crowded.
  static let switchError = Nanoseconds.microseconds(100)

  /// Woken at home but without a CPU so far: the wait has not returned, the turn has not begun.
  func isAwaitingCPU(_ probe: ThreadProbe) -> Bool {
    away == nil && homeProbe != nil && probe.state == .running
      && probe.switches?.sleptOn == true
  }

  /// Home was left when the sleep there ended, or when the last one ended that nobody saw: claims less.
  mutating func leaveBySwitches(_ probe: ThreadProbe, _ home: ThreadProbe) {
    switches = nil
    guard let span = probe.switches, let woke = span.wokeAt else { return }
    var known = AwaySwitches(since: woke)
    known.add(span)
    switches = known
    begin(at: known.sureSince, doubt: known.sureSince - woke)
    away?.delayBefore = max(.zero, probe.runDelay - home.runDelay - span.preempted)
  }

  private mutating func begin(at start: Instant, doubt: Nanoseconds) {
    leftAfter = start
    leftBefore = start
    startDoubt = doubt
  }

  /// Takes a further probe's records in.
  ///
  /// - Parameter isFirst: the turn began after the sleeps before this probe.
  /// - Returns: what was slept unseen; nil leaves it to the counters.
  mutating func followSwitches(_ probe: ThreadProbe, isFirst: Bool) -> SwitchSpan.Unseen? {
    guard switches != nil else { return nil }
    guard let span = probe.switches else {
      switches = nil
      return nil
    }
    if isFirst { return SwitchSpan.Unseen() }
    switches?.add(span)
    if let since = lastProbe?.switches?.asleepSince, let woke = span.wokeAt {
      away?.sawSleep(woke - since)
    }
    return span.unseen
  }

  /// As `beginAnew`: mostly asleep unseen since it was seen away first, so that was home.
  mutating func beginAnewBySwitches(_ probe: ThreadProbe, after last: ThreadProbe) -> Bool {
    guard let hidden = probe.switches?.hidden, hidden.asleep * 2 > probe.at - last.at,
      let before = leftAfter
    else { return false }
    away = AwayTime(base: last)
    let preempted = probe.switches?.preempted ?? .zero
    away?.delayBefore = max(.zero, probe.runDelay - last.runDelay - preempted)
    switches = AwaySwitches(since: hidden.end)
    begin(at: hidden.end, doubt: hidden.end - before)
    return true
  }

  /// We were not looking, and it slept meanwhile: what was surely one turn before that is judged, and the
  /// next one begins after the last of these sleeps.
  mutating func forgetBySwitches(_ probe: ThreadProbe) -> Bool {
    guard !isStartup, let known = switches, let away, let hidden = probe.switches?.hidden
    else { return false }
    let sure = known.surest(until: hidden.start)
    if sure.length - away.stopped >= settings.threshold {
      log.end(
        turn(
          nested == nil ? .stall : .nested, from: sure.start, to: sure.end, Self.switchError,
          away.last ?? probe))
    }
    log.retract()
    homeProbe = nil
    nested = nil
    self.away = AwayTime(base: probe)
    switches = AwaySwitches(since: hidden.end)
    begin(at: hidden.end, doubt: .zero)
    return true
  }

  /// Home at two probes in a row, awake in between. Sleeps that nobody saw may have been home as well: then
  /// only what lies between two of them is one turn for sure.
  mutating func closeUnseen(_ probe: ThreadProbe) -> Bool {
    guard let span = probe.switches, let woke = span.wokeAt, let back = span.asleepSince
    else { return false }
    var known = AwaySwitches(since: woke)
    known.add(span)
    let sure = known.surest(until: back)
    if span.hidden == nil || sure.length >= settings.threshold {
      log.end(turn(.stall, from: sure.start, to: sure.end, Self.switchError, probe))
    }
    return true
  }

  /// Ends a turn when the thread went to the sleep in which it is seen at home, or to the first one on the
  /// way there that nobody saw.
  mutating func closeBySwitches(_ away: AwayTime, _ probe: ThreadProbe) -> Bool {
    guard var known = switches, let span = probe.switches, let back = span.asleepSince,
      let after = leftAfter, let before = leftBefore
    else { return false }
    let start = middle(after, before)
    var end = span.hidden?.start ?? back
    // Mostly asleep unseen just before it was seen away last: that was the way home, and a turn more.
    if away.sleptBeforeLast != nil, let hidden = known.lastHidden { end = hidden }
    end = max(start, end)
    known.add(span)
    let kind: StallKind = nested == nil ? .stall : .nested
    let doubt = startDoubt + (before - after) / 2 + (back - end)
    let whole = turn(kind, from: start, to: end, Self.switchError + doubt, probe)
    let couldBe = back - start - away.stopped >= settings.threshold
    guard couldBe, !(isTold(away) && whole.judged >= settings.threshold) else {
      log.end(whole)
      return true
    }
    let sure = known.surest(until: back)
    if sure.length - away.stopped >= settings.threshold {
      let doubt = startDoubt + max(.zero, (back - start) - sure.length)
      log.end(turn(kind, from: sure.start, to: sure.end, Self.switchError + doubt, probe))
    } else {
      log.undecided += back - start
      log.retract()
    }
    return true
  }

  /// When a nested wait began: bounds of the moment, or the probes beside it.
  func nestedBounds(_ last: ThreadProbe, _ probe: ThreadProbe) -> (low: Instant, high: Instant) {
    guard let span = probe.switches, let since = span.asleepSince, !span.sleptOn else {
      return (last.at, probe.at)
    }
    return (span.hidden?.start ?? since, since)
  }
}
