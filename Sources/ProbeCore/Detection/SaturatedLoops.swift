// Loops that are never seen at home because they always find work there.

extension TurnFollower {
  /// A saturated loop never sleeps at home, but reads and writes at every turn: so many calls since the
  /// last probe are taken for turns. What computes in silence is not.
  func isTurningUnseen(_ probe: ThreadProbe) -> Bool {
    guard homeCount > 0, probe.state == .running, let before = away?.last?.ioCalls,
      let now = probe.ioCalls, let since = away?.last?.at, probe.at > since
    else { return false }
    return Double(now - min(now, before))
      >= Self.busyIOPerMillisecond * (probe.at - since).inMilliseconds
  }

  mutating func restart(at probe: ThreadProbe) {
    guard let evidence = away, let last = evidence.last else { return }
    turnsUnseen = true
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
    switches = nil
    leftAfter = since
    leftBefore = probe.at
  }
}
