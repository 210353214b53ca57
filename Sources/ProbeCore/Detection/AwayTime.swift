// What is seen of a thread while it is away from home: the evidence for a turn's length and cause.

/// Evidence gathered from probes between two home visits.
struct AwayTime: Sendable, Equatable {
  /// The last probe at home before, or the first one of all.
  var base: ThreadProbe
  /// The first and the last probe away.
  var first: ThreadProbe?
  var last: ThreadProbe?
  /// Sleeps that no probe explains: each could have been a visit home.
  var hiddenSleeps: UInt64 = 0
  /// The chance that all of them were visits home and still no probe saw one.
  var chanceOfMissing = 1.0
  var stopped = Nanoseconds.zero
  private var waits: [WaitCategory: Int] = [:]
  private var probes = 0
  private var lastWait: Wait?
  private var lastSlices: UInt64?

  init(base: ThreadProbe) { self.base = base }

  /// A probe away from home.
  mutating func add(_ probe: ThreadProbe) {
    let before = last ?? base
    let slept = probe.sleeps - min(before.sleeps, probe.sleeps)
    var explained: UInt64 = 0
    var wait: Wait?
    switch probe.state {
    case .waiting(let seen):
      wait = seen
      waits[seen.category, default: 0] += 1
      // The sleep that it is in now. It is the same one as before if the thread has not moved.
      if lastWait?.site != seen.site || lastSlices != probe.slices { explained = 1 }
    case .blocked:
      waits[.pageFault, default: 0] += 1
      if lastSlices != probe.slices { explained = 1 }
    case .stopped:
      stopped += probe.at - before.at
      explained = slept
    case .running, .unknown: break
    }
    let hidden = slept - min(slept, explained)
    if hidden > 0 {
      hiddenSleeps += hidden
      let length = probe.at - before.at
      let busy = (probe.cpu - before.cpu) + (probe.runDelay - before.runDelay)
      let asleep = max(0, 1 - busy.inSeconds / max(1e-9, length.inSeconds))
      chanceOfMissing *= max(0.05, 1 - min(1, asleep))
    }
    lastWait = wait
    lastSlices = probe.slices
    if first == nil { first = probe }
    last = probe
    probes += 1
  }

  /// The share of probes that saw the thread blocked.
  var blockedShare: Double {
    probes > 0 ? Double(waits.values.reduce(0, +)) / Double(probes) : 0
  }

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
    parts.runDelay = take(end.runDelay - base.runDelay)
    split(cpu, end, &parts)
    let seen = waits.values.reduce(0, +)
    guard seen > 0, rest > .zero else {
      parts.unknown = rest
      return parts
    }
    let blocked = rest
    for category in WaitCategory.allCases {
      guard let count = waits[category], count > 0 else { continue }
      let share = take(blocked * Int64(count) / Int64(seen))
      parts.add(share, category)
    }
    // What integer division left over.
    if let main = waits.max(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) })?.key
    {
      parts.add(rest, main)
    }
    return parts
  }

  /// Time of a turn of this length that went to waiting for children and threads to end.
  func windingDown(length: Nanoseconds, end: ThreadProbe) -> Nanoseconds {
    let seen = waits.values.reduce(0, +)
    guard seen > 0 else { return .zero }
    let ending = (waits[.child] ?? 0) + (waits[.join] ?? 0)
    let busy = (end.cpu - base.cpu) + (end.runDelay - base.runDelay) + stopped
    return max(.zero, length - busy) * Int64(ending) / Int64(seen)
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
    case .idle, .join, .other: otherWait += time
    }
  }
}
