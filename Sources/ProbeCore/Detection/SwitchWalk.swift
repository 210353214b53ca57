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

  /// - Parameter states: what the thread did in each record's sleep; nil where that is not known.
  mutating func go(_ records: ArraySlice<SwitchRecord>, _ states: [ThreadProbe.State?]) {
    var state: ThreadProbe.State?
    for (record, known) in zip(records, states) {
      switch record.step {
      case .ran:
        wake(at: record.at, state)
        slices += 1
        runningSince = record.at
      case .slept:
        stop(at: record.at)
        sleep = (true, record.at)
        sleeps += 1
        state = known
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

  private mutating func wake(at time: Instant, _ state: ThreadProbe.State?) {
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
      if let state { see(state, since, time) } else { span.hide(from: since, to: time) }
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
  fileprivate mutating func hide(from start: Instant, to end: Instant) {
    guard var seen = hidden else {
      hidden = Hidden(
        count: 1, start: start, end: end, asleep: end - start, shortest: end - start)
      return
    }
    let gap = Gap(start: seen.end, end: start)
    if gap.length > seen.longestGap?.length ?? .zero { seen.longestGap = gap }
    seen.count += 1
    seen.end = end
    seen.asleep += end - start
    seen.shortest = min(seen.shortest, end - start)
    hidden = seen
  }
}
