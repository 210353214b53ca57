// Sleeps that no probe saw may have been at home: when is a turn one all the same, and from when on?

extension TurnFollower {
  /// Whether the turn is one: no sleep in it was unseen, or so many probes were taken that one of them
  /// would very likely have seen the thread at home, or that so many sleeps of the same length were seen
  /// elsewhere. A start-up has no home yet.
  func isTold(_ away: AwayTime) -> Bool {
    isExact || isStartup || away.hiddenSleeps == 0
      || away.chanceOfMissing * away.chanceOfOtherKind <= Self.smallChance
  }

  /// Since when the thread has surely not been at home; nil while that is in doubt.
  func surelyAway(until time: Instant) -> (start: Instant, error: Nanoseconds)? {
    guard let away, let after = leftAfter, let before = leftBefore else { return nil }
    if isTold(away) {
      return isExact ? (after, .zero) : (middle(after, before), (before - after) / 2)
    }
    // The last sleep that may have been at home has long been over.
    guard let since = switches?.sureSince ?? away.sureSince,
      time - since - away.stopped >= settings.threshold
    else { return nil }
    let error = switches == nil ? settings.probePeriod : Self.switchError
    return (since, error + startDoubt + max(.zero, since - middle(after, before)))
  }

  /// Quick probes are wanted from shortly before the threshold on, as long as sleeps were not seen.
  var wantsBurst: Bool {
    guard quickProbes.isLeft, let away, !isTold(away), let last = away.last,
      let after = leftAfter, let before = leftBefore
    else { return false }
    return last.at - middle(after, before) >= settings.threshold - Self.burstLead
  }

  mutating func countBurstProbe() { quickProbes.take() }
}

/// How many quick probes may be taken: fifty a second in the long run, six seconds' worth at once.
/// Chosen.
struct QuickAllowance: Sendable, Equatable {
  private static let each = Nanoseconds.milliseconds(20)
  private static let most = Nanoseconds.seconds(6)
  private var left = most

  var isLeft: Bool { left >= Self.each }

  mutating func passed(_ time: Nanoseconds) { left = min(Self.most, left + max(.zero, time)) }
  mutating func take() { left = max(.zero, left - Self.each) }
}
