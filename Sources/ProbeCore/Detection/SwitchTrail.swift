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
  /// The last probe that could be read.
  private var last: ThreadProbe?
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

  /// The probe with what happened since the last one, and before it one for each sleep in between of which
  /// is known where it was: as if a probe had been taken at its end. All records up to the probe must have
  /// been added.
  ///
  /// A probe that could not be read tells nothing; its time goes to the next one.
  mutating func probes(
    to probe: ThreadProbe, places: SleepPlaces, isHome: (Wait) -> Bool
  ) -> [ThreadProbe] {
    if probe.state == .unknown { return [probe] }
    guard isWhole, let last, probe.slices >= last.slices,
      let taken = match(probe, runs: probe.slices - last.slices)
    else {
      restart(at: probe)
      return [probe]
    }
    var walk = SwitchWalk(from: last, to: probe, sleep, preemptedAt: preemptedAt)
    let records = pending[..<taken]
    walk.go(records, places.views(records, from: last, isHome: isHome))
    pending.removeFirst(taken)
    sleep = walk.sleep
    preemptedAt = walk.preemptedAt
    self.last = probe
    return walk.seen + [walk.end(probe)]
  }

  /// Whether a record that belongs before this probe is still to come: the kernel counts a slice a moment
  /// before it writes the record of it.
  func isBehind(_ probe: ThreadProbe) -> Bool {
    guard isWhole, let last, probe.state != .unknown, probe.slices > last.slices else {
      return false
    }
    let runs = UInt64(clamping: pending.count { $0.step == .ran })
    return runs < probe.slices - last.slices
  }

  /// How many of the records belong before the probe; nil when they do not fit it.
  private mutating func match(_ probe: ThreadProbe, runs: UInt64) -> Int? {
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
    guard left == 0 else { return nil }
    if probe.isAsleep, !isAsleep {
      // It has not run since it left its CPU, so that this was its sleep, whatever the record says.
      guard taken > 0, pending[taken - 1].step == .preempted else { return nil }
      pending[taken - 1].step = .slept
    }
    if taken < pending.count, probe.at - pending[taken].at > Self.probeTime,
      pending[taken].step == .ran
    {
      return nil
    }
    return taken
  }

  /// Begins anew: from here on the records are whole, but when this sleep began is not known.
  private mutating func restart(at probe: ThreadProbe) {
    if last != nil { broken += 1 }
    isWhole = true
    last = probe
    let before = pending.prefix { $0.at <= probe.at }
    let since = before.last.flatMap { $0.step == .slept ? $0.at : nil }
    sleep = (probe.isAsleep, probe.isAsleep ? since : nil)
    preemptedAt = nil
    pending.removeFirst(before.count)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.pending == right.pending && left.last == right.last
      && left.sleep == right.sleep && left.isWhole == right.isWhole
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
