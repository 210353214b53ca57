// Turns by the kernel's records of wait calls: every one of them, with exact times.

extension TurnFollower {
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
        if let lastProbe { splitBeforeNested(record.at, record.at, lastProbe) }
        arriveNested(wait, record.at, nil)
        return
      }
      guard !isStartup || homes.endsStartup(wait) else {
        arrival = (wait, nil, record.at, record.at)
        return
      }
      arrive(wait, at: record.at)
    case .left:
      arrival = nil
      guard isAtHome else { return }
      isAtHome = false
      leftAfter = record.at
      leftBefore = record.at
      if let probe = lastProbe { away = AwayTime(base: probe) }
    }
  }

  mutating func arrive(_ wait: Wait, at time: Instant) {
    countHome(wait)
    let wasAway = !isAtHome
    isAtHome = true
    defer {
      nested = nil
      isStartup = false
      away = nil
    }
    guard wasAway else { return }
    // A loop that is at home before it was ever probed has used no time that was seen.
    let probe =
      lastProbe
      ?? ThreadProbe(
        at: time, state: .unknown, cpu: .zero, runDelay: .zero, slices: 0, sleeps: 0)
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
  mutating func followBeside(_ probe: ThreadProbe, _ homes: HomeLearner) {
    if homeProbe == nil { homeProbe = probe }
    if isStartup, let arrival, homes.endsStartup(arrival.wait) {
      arrive(arrival.wait, at: arrival.high)
    }
    guard !isAtHome else { return }
    if away == nil { away = AwayTime(base: probe) }
    away?.add(probe)
    // Records that are still to be read may tell that it is home already.
    if !isLagging { look(at: probe.at) }
  }
}
