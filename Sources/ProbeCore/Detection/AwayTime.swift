// What is seen of a thread while it is away from home: the evidence for a turn's length and cause.

/// Evidence gathered from probes between two home visits.
struct AwayTime: Sendable, Equatable {
  /// A thread that neither slept nor ran nor was ready for so long: the machine stood still. Far more
  /// than a running thread's counters lag (4 ms).
  static let standstill = Nanoseconds.milliseconds(100)

  /// How old the counters of a running thread may be: a scheduler tick of the slowest kernels in use.
  static let counterLag = Nanoseconds.milliseconds(4)

  /// The last probe at home before, or the first one of all.
  var base: ThreadProbe
  /// The first and the last probe away.
  var first: ThreadProbe?
  var last: ThreadProbe?
  /// Sleeps that no probe explains: each could have been a visit home.
  var hiddenSleeps: UInt64 = 0
  /// The first probe after the last of them, and the longest time before that between two probes with none.
  private(set) var sureSince: Instant?
  private(set) var longestSure: SwitchSpan.Gap?
  /// The shortest of them, by records of switches: visits home are.
  private var shortestHidden: Nanoseconds?
  /// Sleeps away from home that were seen and are over, by records; the oldest give way.
  private var seenSleeps: [Nanoseconds] = []
  private static let seenSleepsKept = 64
  /// When the last probe but one was taken, if the thread was mostly asleep since, where nobody looked.
  private(set) var sleptBeforeLast: Instant?
  /// The chance that all of them were visits home and still no probe saw one.
  var chanceOfMissing = 1.0
  var stopped = Nanoseconds.zero
  /// Ready for a CPU after it was woken at home: before the turn, but in the counters' difference.
  var delayBefore = Nanoseconds.zero
  /// Time between probes by what the later one saw, so that quick probes weigh no more than others.
  private var waits: [WaitCategory: Nanoseconds] = [:]
  private var lastWait: Wait?
  private var lastSlices: UInt64?

  init(base: ThreadProbe) { self.base = base }

  /// A probe away from home.
  ///
  /// - Parameter unseen: what the thread slept since the last probe where nobody saw it, from records of
  ///   its switches; nil takes it from the counters.
  mutating func add(_ probe: ThreadProbe, unseen: SwitchSpan.Unseen? = nil) {
    let before = last ?? base
    let passed = max(.zero, probe.at - before.at)
    finishWait(probe, before)
    let slept = probe.sleeps - min(before.sleeps, probe.sleeps)
    var explained: UInt64 = 0
    var wait: Wait?
    switch probe.state {
    case .waiting(let seen):
      wait = seen
      waits[seen.category, default: .zero] += asleep(probe, before)
      // The sleep that it is in now. It is the same one as before if the thread has not moved.
      if lastWait?.site != seen.site || lastSlices != probe.slices { explained = 1 }
    case .blocked:
      waits[.pageFault, default: .zero] += asleep(probe, before)
      // Going to sleep it needs no new slice; in the same sleep as before it has none either.
      if before.state != .blocked || lastSlices != probe.slices { explained = 1 }
    case .stopped:
      stopped += passed
      explained = slept
    case .running:
      let ran = probe.cpu - before.cpu
      let waited = probe.runDelay - before.runDelay
      let frozen = passed - ran - waited
      if slept == 0, min(ran, waited) >= .zero, before.state == .running, frozen >= Self.standstill
      {
        stopped += frozen
      }
    case .unknown: break
    }
    var hidden = slept - min(slept, explained)
    if let unseen { hidden = probe.state == .stopped ? 0 : unseen.count }
    sleptBeforeLast = nil
    if hidden > 0 {
      hiddenSleeps += hidden
      if let shortest = unseen?.shortest {
        shortestHidden = min(shortestHidden ?? shortest, shortest)
      }
      if let start = sureSince ?? first?.at {
        let gap = SwitchSpan.Gap(start: start, end: before.at)
        if gap.length > longestSure?.length ?? .zero { longestSure = gap }
      }
      sureSince = probe.at
      let busy = (probe.cpu - before.cpu) + (probe.runDelay - before.runDelay)
      let asleep = unseen?.asleep ?? passed - busy
      sleptBeforeLast = asleep * 2 > passed ? last?.at : nil
      // By counters a sleep that was seen cannot be told from one that was not; and those of a thread that
      // runs may be older than the probe.
      var lost = unseen?.asleep ?? .zero
      if unseen == nil, before.state == .running, probe.state == .running {
        lost = asleep - Self.counterLag
      }
      let share = lost.inSeconds / max(1e-9, passed.inSeconds)
      chanceOfMissing *= 1 - min(0.95, max(0, share))
    }
    lastWait = wait
    lastSlices = probe.slices
    if first == nil { first = probe }
    last = probe
  }

  /// How long it has been in the sleep in which this probe sees it, since the probe before; where records do
  /// not tell, all the time.
  private func asleep(_ probe: ThreadProbe, _ before: ThreadProbe) -> Nanoseconds {
    let since = probe.switches?.asleepSince ?? before.at
    return max(.zero, probe.at - max(before.at, since))
  }

  /// What the sleep in which the probe before saw it went on after that, by records.
  private mutating func finishWait(_ probe: ThreadProbe, _ before: ThreadProbe) {
    guard last != nil, let woke = probe.switches?.wokeAt else { return }
    let rest = max(.zero, woke - before.at)
    switch before.state {
    case .waiting(let wait): waits[wait.category, default: .zero] += rest
    case .blocked: waits[.pageFault, default: .zero] += rest
    case .running, .stopped, .unknown: break
    }
  }

  /// By probes alone: the longest time without a sleep that nobody saw, if there is none up to `end`.
  func surest(until end: Instant) -> SwitchSpan.Gap {
    let last = SwitchSpan.Gap(start: sureSince ?? first?.at ?? base.at, end: end)
    guard let longestSure, longestSure.length > last.length else { return last }
    return longestSure
  }

  /// The sleep in which the probe before saw it has ended after so long.
  mutating func sawSleep(_ length: Nanoseconds) {
    seenSleeps.append(length)
    if seenSleeps.count > Self.seenSleepsKept { seenSleeps.removeFirst() }
  }

  /// The chance that every short sleep that was seen was elsewhere, although half of those that are as
  /// short as the unseen ones are at home.
  var chanceOfOtherKind: Double {
    guard let shortestHidden else { return 1 }
    let alike = seenSleeps.count { $0 <= shortestHidden * 2 }
    return 1 / Double(1 << UInt64(min(alike, 62)))
  }

  /// The share of the time in which the thread was seen blocked.
  var blockedShare: Double {
    guard let last, last.at > base.at else { return 0 }
    return blocked.inSeconds / (last.at - base.at).inSeconds
  }

  private var blocked: Nanoseconds { waits.values.reduce(.zero, +) }

  /// The parts of a turn of this length; they add up to it.
  ///
  /// - Parameter end: the first probe after the turn, or the last one in it.
  func parts(length: Nanoseconds, end: ThreadProbe) -> Summary.CauseParts {
    var parts = Summary.CauseParts()
    var rest = length
    func take(_ wanted: Nanoseconds) -> Nanoseconds {
      let taken = min(max(.zero, wanted), rest)
      rest -= taken
      return taken
    }
    parts.stopped = take(stopped)
    let cpu = take(end.cpu - base.cpu)
    parts.runDelay = take(end.runDelay - base.runDelay - delayBefore)
    split(cpu, end, &parts)
    let seen = blocked
    guard seen > .zero, rest > .zero else {
      parts.unknown = rest
      return parts
    }
    let waited = rest
    for category in WaitCategory.allCases {
      guard let time = waits[category], time > .zero else { continue }
      parts.add(take(waited.part(time, of: seen)), category)
    }
    // What rounding left over.
    if let main = waits.max(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) })?.key
    {
      parts.add(rest, main)
    }
    return parts
  }

  /// The parts of a turn that goes on. What the thread was neither seen to run nor to be blocked may be
  /// waiting for a CPU, of which the counters tell only when it is over: it counts as that.
  func partsSoFar(length: Nanoseconds, end: ThreadProbe) -> Summary.CauseParts {
    let counted = (end.cpu - base.cpu) + (end.runDelay - base.runDelay - delayBefore)
    let seen = min(length, max(.zero, stopped + blocked + counted))
    var parts = parts(length: seen, end: end)
    parts.runDelay += length - seen
    return parts
  }

  /// Time of a turn of this length that went to waiting for children and threads to end.
  func windingDown(length: Nanoseconds, end: ThreadProbe) -> Nanoseconds {
    let seen = blocked
    guard seen > .zero else { return .zero }
    let ending = waits[.child, default: .zero] + waits[.join, default: .zero]
    let busy = (end.cpu - base.cpu) + (end.runDelay - base.runDelay) + stopped
    return max(.zero, length - max(.zero, busy)).part(ending, of: seen)
  }

  private func split(_ cpu: Nanoseconds, _ end: ThreadProbe, _ parts: inout Summary.CauseParts) {
    guard let user = end.userTicks, let system = end.systemTicks,
      let userBefore = first?.userTicks, let systemBefore = first?.systemTicks
    else {
      parts.cpuUser = cpu
      return
    }
    let userGrown = user - min(user, userBefore)
    let systemGrown = system - min(system, systemBefore)
    guard userGrown + systemGrown > 0 else {
      parts.cpuUser = cpu
      return
    }
    let share = Double(systemGrown) / Double(userGrown + systemGrown)
    parts.cpuSystem = Nanoseconds(Int64((Double(cpu.rawValue) * share).rounded()))
    parts.cpuUser = cpu - parts.cpuSystem
  }
}

extension Nanoseconds {
  /// This length times the ratio of two others; without overflow.
  fileprivate func part(_ some: Nanoseconds, of all: Nanoseconds) -> Nanoseconds {
    Nanoseconds(Int64((Double(rawValue) * (some.inSeconds / all.inSeconds)).rounded()))
  }
}

extension Summary.CauseParts {
  /// Adds blocked time of a category.
  mutating func add(_ time: Nanoseconds, _ category: WaitCategory) {
    switch category {
    case .lock: lock += time
    case .disk: disk += time
    case .pipe: pipe += time
    case .socket: socket += time
    case .sleep: sleep += time
    case .child: child += time
    case .pageFault: pageFault += time
    case .idle, .join, .other, .signal: otherWait += time
    }
  }
}
