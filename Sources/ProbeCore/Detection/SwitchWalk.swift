// From a probe to the next along the records of context switches.

/// Walks the records between two probes.
struct SwitchWalk {
  private(set) var sleep: (isAsleep: Bool, since: Instant?)
  private(set) var preemptedAt: Instant?
  /// A probe for each sleep whose place is known.
  private(set) var seen: [ThreadProbe] = []
  private let last: ThreadProbe
  private let next: ThreadProbe
  private var span = SwitchSpan()
  /// In the sleep in which the last probe found the thread.
  private var isFirst: Bool
  private var runningSince: Instant?
  private var ran = Nanoseconds.zero
  private var preempted = Nanoseconds.zero
  private var slices: UInt64 = 0
  private var sleeps: UInt64 = 0

  init(
    from last: ThreadProbe, to next: ThreadProbe,
    _ sleep: (isAsleep: Bool, since: Instant?), preemptedAt: Instant?
  ) {
    self.last = last
    self.next = next
    self.sleep = sleep
    self.preemptedAt = preemptedAt
    isFirst = sleep.isAsleep
    runningSince = sleep.isAsleep || preemptedAt != nil ? nil : last.at
    span.sleptOn = sleep.isAsleep && next.slices == last.slices
  }

  /// - Parameter views: what is known of the sleep that each record begins.
  mutating func go(_ records: ArraySlice<SwitchRecord>, _ views: [HiddenSleep]) {
    var view = HiddenSleep.unknown
    for (record, known) in zip(records, views) {
      switch record.step {
      case .ran:
        wake(at: record.at, view)
        slices += 1
        runningSince = record.at
      case .slept:
        stop(at: record.at)
        sleep = (true, record.at)
        sleeps += 1
        view = known
      case .preempted:
        stop(at: record.at)
        preemptedAt = record.at
      case .lost: break
      }
    }
  }

  /// The probe at the end, with what its span says.
  func end(_ probe: ThreadProbe) -> ThreadProbe {
    var probe = probe
    var span = span
    if probe.isAsleep || span.sleptOn { span.asleepSince = sleep.since }
    probe.switches = span
    return probe
  }

  private mutating func stop(at time: Instant) {
    if let since = runningSince { ran += max(.zero, time - since) }
    runningSince = nil
  }

  private mutating func wake(at time: Instant, _ view: HiddenSleep) {
    defer { preemptedAt = nil }
    guard sleep.isAsleep else {
      if let from = preemptedAt {
        span.preempted += time - from
        preempted += time - from
      }
      return
    }
    if isFirst {
      span.wokeAt = time
    } else if let since = sleep.since {
      switch view {
      case .seen(let state): see(state, since, time)
      case .passing(let wait): span.hide(from: since, to: time, at: wait)
      case .unknown: span.hide(from: since, to: time, at: nil)
      }
    }
    isFirst = false
    sleep = (false, nil)
  }

  /// As if a probe had been taken just before the sleep ended.
  private mutating func see(_ state: ThreadProbe.State, _ since: Instant, _ time: Instant) {
    var probe = last
    probe.at = time
    probe.state = state
    probe.cpu = min(max(last.cpu, next.cpu), last.cpu + ran)
    probe.runDelay = min(max(last.runDelay, next.runDelay), last.runDelay + preempted)
    probe.slices = min(max(last.slices, next.slices), last.slices + slices)
    probe.sleeps = min(max(last.sleeps, next.sleeps), last.sleeps + sleeps)
    span.asleepSince = since
    probe.switches = span
    seen.append(probe)
    span = SwitchSpan(wokeAt: time)
  }
}

extension SwitchSpan {
  /// A sleep that no probe saw.
  ///
  /// - Parameter home: where, if it is known to be at home.
  fileprivate mutating func hide(from start: Instant, to end: Instant, at home: Wait?) {
    let length = end - start
    var all =
      hidden ?? Hidden(count: 0, start: start, end: start, asleep: .zero, shortest: length)
    if all.count > 0 {
      let gap = Gap(start: all.end, end: start)
      if gap.length > all.longestGap?.length ?? .zero { all.longestGap = gap }
    }
    all.count += 1
    all.end = end
    all.asleep += length
    all.shortest = min(all.shortest, length)
    if let home {
      all.home = home
      all.homes += 1
      all.atHome += length
    }
    hidden = all
  }
}
