// Lays the records of a thread's context switches beside its probes: which sleep did a probe see?

/// Records since the last probe, and what the thread did when that was taken.
///
/// Records and probes are matched by number and not by time: /proc counts how often the thread was put on
/// a CPU (schedstat, third field), and the kernel writes one record each time (measured on 6.18: equal in
/// 150 of 150). Where the two differ, records are missing, and nothing is said of that span.
struct SwitchTrail: Sendable, Equatable {
  /// A probe takes that long; records older than it that do not fit in are not late ones. Chosen.
  static let probeTime = Nanoseconds.milliseconds(1)
  /// Records kept while probes cannot be read. Chosen: more than a ring holds.
  static let capacity = 4096

  private var pending: [SwitchRecord] = []
  private var slices: UInt64?
  /// Asleep since then by the records, at the last probe; the time is nil when it was not recorded.
  private var sleep: (isAsleep: Bool, since: Instant?) = (false, nil)
  private var preemptedAt: Instant?
  private var isWhole = true
  /// Spans that could not be told.
  private(set) var broken = 0

  mutating func add(_ record: SwitchRecord) {
    if record.step == .lost {
      isWhole = false
    } else if pending.count < Self.capacity {
      pending.append(record)
    } else {
      pending.removeAll(keepingCapacity: true)
      isWhole = false
    }
  }

  /// What happened since the last probe. All records up to the probe must have been added.
  ///
  /// A probe that could not be read tells nothing; its time goes to the next one.
  mutating func span(to probe: ThreadProbe) -> SwitchSpan? {
    if probe.state == .unknown { return nil }
    guard isWhole, let slices, probe.slices >= slices,
      let taken = match(probe, runs: probe.slices - slices)
    else {
      restart(at: probe)
      return nil
    }
    var span = SwitchSpan()
    span.sleptOn = sleep.isAsleep && probe.slices == slices
    walk(pending[..<taken], isAsleepAtEnd: probe.isAsleep, into: &span)
    if probe.isAsleep || span.sleptOn { span.asleepSince = sleep.since }
    pending.removeFirst(taken)
    self.slices = probe.slices
    return span
  }

  /// How many of the records belong before the probe; nil when they do not fit it.
  private func match(_ probe: ThreadProbe, runs: UInt64) -> Int? {
    var taken = 0
    var left = runs
    var isAsleep = sleep.isAsleep
    for record in pending {
      if record.step == .ran {
        if left == 0 { break }
        left -= 1
        isAsleep = false
      } else if record.step == .slept {
        // It may have gone to sleep a moment after it was seen awake.
        if left == 0, !probe.isAsleep { break }
        isAsleep = true
      }
      taken += 1
    }
    guard left == 0, isAsleep || !probe.isAsleep else { return nil }
    if taken < pending.count, probe.at - pending[taken].at > Self.probeTime,
      pending[taken].step == .ran
    {
      return nil
    }
    return taken
  }

  private mutating func walk(
    _ records: ArraySlice<SwitchRecord>, isAsleepAtEnd: Bool, into span: inout SwitchSpan
  ) {
    var isFirst = sleep.isAsleep
    for record in records {
      switch record.step {
      case .ran:
        if sleep.isAsleep {
          if isFirst {
            span.wokeAt = record.at
          } else if let since = sleep.since {
            span.hide(from: since, to: record.at)
          }
          isFirst = false
          sleep = (false, nil)
        } else if let from = preemptedAt {
          span.preempted += record.at - from
        }
        preemptedAt = nil
      case .slept: sleep = (true, record.at)
      case .preempted: preemptedAt = record.at
      case .lost: break
      }
    }
  }

  /// Begins anew: from here on the records are whole, but when this sleep began is not known.
  private mutating func restart(at probe: ThreadProbe) {
    if slices != nil { broken += 1 }
    isWhole = true
    slices = probe.slices
    let before = pending.prefix { $0.at <= probe.at }
    let since = before.last.flatMap { $0.step == .slept ? $0.at : nil }
    sleep = (probe.isAsleep, probe.isAsleep ? since : nil)
    preemptedAt = nil
    pending.removeFirst(before.count)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.pending == right.pending && left.slices == right.slices
      && left.sleep == right.sleep && left.isWhole == right.isWhole
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

extension ThreadProbe {
  /// Not on a CPU and not ready for one.
  var isAsleep: Bool {
    switch state {
    case .waiting, .blocked, .stopped: true
    case .running, .unknown: false
    }
  }
}
