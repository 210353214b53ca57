// What went on while we did not look is not judged, unless records looked for us.

extension TurnFollower {
  /// Whether we ourselves were not looking for so long that the thread may have turned meanwhile.
  func wasBlind(until probe: ThreadProbe) -> Bool {
    guard let lastProbe, lastProbe.sleeps != probe.sleeps else { return false }
    // The records looked for us, unless it slept where only a look would tell.
    if let span = probe.switches, span.hidden == nil || away == nil { return false }
    return probe.at - lastProbe.at > max(settings.probePeriod * 4, .milliseconds(60))
  }

  /// What went on while we did not look is not judged.
  mutating func forget(_ probe: ThreadProbe) {
    if forgetBySwitches(probe) { return }
    if let away, let after = leftAfter, !isStartup,
      probe.at - after - away.stopped >= settings.threshold
    {
      log.undecided += probe.at - after
    }
    switches = nil
    log.retract()
    guard !isStartup else { return }
    homeProbe = nil
    away = AwayTime(base: probe)
    nested = nil
    leftAfter = probe.at
    leftBefore = probe.at
  }
}
