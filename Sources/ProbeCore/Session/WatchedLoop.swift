// One watched thread: its probes, its records, and the detector that judges them.

/// One watched thread with its files.
final class WatchedLoop {
  var sampler: LoopSampler
  var trace: WaitTrace?
  /// Opened, and to be gone on with at the next probe that finds the thread at rest. Opening takes the
  /// kernel up to 0.2 s, in which a turn can begin that no record tells of.
  private var openedTrace: WaitTrace?
  var switches = SwitchReader(from: Clock.now())
  var detector: LoopDetector
  /// Records since `countedSince`, to notice a thread that waits too often to be traced.
  private var recordCount = 0
  private var lagging = 0
  private var countedSince = Clock.now()
  /// Set when tracing was given up and not yet told: how often the thread waited.
  private var waitsPerSecond: Int?
  var isGone = false
  /// Watched in case that it turns out to loop; nothing is told of it before.
  var isOnTrial = false
  /// What the last probe saw, and where the thread was seen waiting last.
  private(set) var lastProbe: ThreadProbe?
  var lastWait: Wait?
  /// What the rows of its waits are of; see `WaitNames`.
  var waitNames: [WaitNames.Name] = []
  /// How often a row's stack was asked for, and when one was last.
  var stackTries: [Int] = []
  var stackAskedAt = Instant(nanoseconds: 0)
  /// Until tracing was begun or has failed.
  private var mayBeTraced = true
  private var schedule: CaptureSchedule
  private var isSeenAway = false
  private var around = SurroundingsWatch()
  /// When a stall that goes on is told of again.
  private var nextTelling = Instant(nanoseconds: 0)
  /// Chosen: what waits for it looks every half second.
  private static let tellingPeriod = Nanoseconds.milliseconds(200)
  /// The last probe at rest before the turn that goes on or has just ended.
  private var restedAt: ThreadProbe?
  /// Whether the last probe was at rest when it was taken: records may have ended its turn since.
  private var lastRested = false

  init(
    _ tid: ThreadID, _ settings: LoopDetector.Settings, points: TracePoints?,
    _ source: inout ProcSource
  ) throws(ReadingError) {
    schedule = CaptureSchedule(threshold: settings.threshold)
    sampler = try LoopSampler(tid, &source)
    var settings = settings
    if let points, settings.observer == .kernel { trace = Self.trace(tid, points) }
    if trace == nil { settings.observer = .proc }
    detector = LoopDetector(tid: tid, settings)
  }

  /// Begins to trace a thread that has shown to be a loop.
  ///
  /// Not from its start: with both tracepoints switched on and off twice `perfwatch run true` took 170 ms
  /// longer (measured), which a short program would feel in how long perfwatch takes to end.
  func beginTracing(_ points: TracePoints) {
    guard mayBeTraced, trace == nil, detector.isAtRest else { return }
    mayBeTraced = false
    openedTrace = Self.trace(sampler.tid, points)
  }

  /// From the probe that was just taken on.
  private func goOnWithRecords(_ probe: ThreadProbe, _ source: borrowing ProcSource) {
    guard openedTrace != nil, detector.isAtRest else { return }
    trace = openedTrace.take()
    switches.end()
    countedSince = Clock.now()
    detector.goOnWithRecords()
    takeRecords(source, since: probe.at + (.zero - Self.probeTime))
  }

  /// A probe takes that long at the most, unless we lose the CPU meanwhile. Chosen.
  private static let probeTime = Nanoseconds.milliseconds(1)
  /// So often a record that is still to come is looked for before the span is given up as incomplete. Chosen:
  /// looks at a mapped ring without a system call, and the record is written in the same context switch.
  private static let rereads = 20

  private static func trace(_ tid: ThreadID, _ points: TracePoints) -> WaitTrace? {
    // Not permitted, or the thread is gone: then probes alone tell.
    try? WaitTrace(tid, points: points, calls: WaitCalls.possibleHomes + WaitCalls.control)
  }

  /// - Parameter desk: where stacks are ordered; nil if none are taken.
  func probe(isQuick: Bool, _ desk: CaptureDesk?, _ source: inout ProcSource) {
    takeRecords(source)
    guard let desk else { return look(isQuick: isQuick, OwnStops(), &source) }
    desk.undisturbed(sampler.tid) { look(isQuick: isQuick, $0, &source) }
  }

  /// Orders a capture if the thread is in a turn that is worth it.
  ///
  /// - Returns: whether one was due but is not affordable.
  func order(
    _ desk: CaptureDesk, atLeast: Nanoseconds, isAffordable: (_ isFirst: Bool) -> Bool,
    prepare: () -> Void
  ) -> Bool {
    guard !isGone, !isOnTrial, let turn = detector.openTurn else {
      if isSeenAway { desk.sawNoTurn(sampler.tid) }
      isSeenAway = false
      return false
    }
    let isDue = schedule.isDue(turn, atLeast: atLeast)
    if isSeenAway || isDue { desk.saw(sampler.tid, turn) }
    guard isDue else { return false }
    isSeenAway = true
    guard isAffordable(schedule.isFirst(turn)) else { return true }
    schedule.take(turn)
    prepare()
    desk.order(CaptureOrder(tid: sampler.tid, turn: turn.start))
    return false
  }

  private func look(isQuick: Bool, _ stops: OwnStops, _ source: inout ProcSource) {
    do {
      if isQuick { detector.countQuickProbe() }
      var probe = try sampler.probe(isAway: trace != nil && !detector.isAtRest, &source)
      probe.sleeps -= min(probe.sleeps, stops.sleeps)
      switches.read(sampler.tid, stops: stops, into: &detector)
      for _ in 0..<Self.rereads where detector.awaitsRecords(probe) {
        switches.read(sampler.tid, stops: stops, into: &detector)
      }
      if lastRested { restedAt = lastProbe }
      detector.take(probe)
      lastRested = detector.isAtRest
      lastProbe = probe
      nameWaits(source)
      if trace == nil { switches.begin(sampler.tid, at: probe.at, &detector) }
      goOnWithRecords(probe, source)
    } catch {
      if error == .gone { isGone = true }
    }
  }

  /// Looks at what goes on around a turn that is worth it.
  func watchSurroundings(_ source: inout ProcSource) {
    guard !isGone, !isOnTrial, let turn = detector.openTurn,
      turn.length * 2 >= detector.settings.threshold
    else { return }
    around.saw(turn.start, &source, thread: lastProbe?.cpu ?? .zero)
  }

  /// What went on around a stall that has just ended; nil where it was not watched.
  func surroundings(
    of stall: StallReading, _ source: inout ProcSource
  ) -> StallSurroundings? {
    let cpu = lastProbe?.cpu ?? .zero
    return withFaults(around.finish(stall, &source, thread: cpu, tick: Self.tick))
  }

  /// The stall that goes on, once in a while.
  var openStall: StallReading? {
    guard !isGone, !isOnTrial, let last = lastProbe, last.at >= nextTelling,
      let stall = detector.openStall
    else { return nil }
    nextTelling = last.at + Self.tellingPeriod
    return stall
  }

  /// What went on around a stall that still does.
  func surroundingsSoFar(
    of stall: StallReading, _ source: inout ProcSource
  ) -> StallSurroundings? {
    let cpu = lastProbe?.cpu ?? .zero
    return withFaults(around.soFar(stall, &source, thread: cpu, tick: Self.tick))
  }

  private static var tick: Nanoseconds {
    Nanoseconds(1_000_000_000 / Int64(max(1, HostInfo.clockTicksPerSecond)))
  }

  private func withFaults(_ measured: StallSurroundings?) -> StallSurroundings? {
    guard var result = measured else { return nil }
    func grown(_ field: KeyPath<ThreadProbe, UInt64?>) -> UInt64? {
      guard let last = lastProbe?[keyPath: field] else { return nil }
      let before = restedAt.map { $0[keyPath: field] } ?? 0
      return before.map { last - min(last, $0) }
    }
    result.minorFaults = grown(\.minorFaults)
    result.majorFaults = grown(\.majorFaults)
    return result
  }

  func takeRecords(
    _ source: borrowing ProcSource, since start: Instant = Instant(nanoseconds: 0)
  ) {
    guard trace != nil else { return }
    var records: [(Instant, WaitTraceRecord)] = []
    let isUpToDate = trace?.take { if $0 >= start { records.append(($0, $1)) } } ?? true
    for (time, record) in records {
      switch record {
      case .entered(let call, _, _, _)
      where WaitCalls.exits.contains(Int32(truncatingIfNeeded: call)):
        detector.take(WaitRecord(at: time, step: .exiting))
      case .entered(let call, let arguments, let stack, let counter):
        let wait = sampler.wait(
          Int32(truncatingIfNeeded: call), arguments, stack, counter, source)
        detector.take(WaitRecord(at: time, step: .entered(wait)))
      case .left: detector.take(WaitRecord(at: time, step: .left))
      case .lost: detector.take(WaitRecord(at: time, step: .lost))
      }
    }
    detector.setLagging(!isUpToDate)
    giveUpIfTooMany(records.count, isUpToDate: isUpToDate)
  }
}

extension WatchedLoop {
  /// Waits a second beyond which the thread is no longer traced. Chosen, not measured: at a
  /// microsecond a record it would be slowed down by 1 to 2 %.
  static let tolerable = 10_000
  /// Probes in a row that may leave records behind. Chosen.
  static let patience = 4

  /// How often the thread waited when tracing was given up; once.
  func takeRefusal() -> Int? {
    defer { waitsPerSecond = nil }
    return waitsPerSecond
  }

  private func giveUpIfTooMany(_ records: Int, isUpToDate: Bool) {
    recordCount += records
    let time = Clock.now() - countedSince
    // What lags behind cannot tell whether a turn goes on.
    lagging = isUpToDate ? 0 : lagging + 1
    guard time >= .milliseconds(500) || lagging > Self.patience else { return }
    // Two records a wait.
    let rate = Int(Double(recordCount) / 2 / time.inSeconds)
    recordCount = 0
    countedSince = Clock.now()
    guard rate > Self.tolerable || lagging > Self.patience else { return }
    waitsPerSecond = rate
    trace = nil
    detector.fallBackToProbes()
  }
}
