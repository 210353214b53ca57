// pw-poller: reads the target at absolute times and writes what it read as events.
// Late ticks are skipped, not made up for, and every late one is counted.

/// The body of pw-poller.
struct Poller {
  let pid: ProcessID
  let pidfd: Int32
  /// nil when attached.
  let launched: LaunchedTarget?
  let configuration: WatchConfiguration
  let clockTicksPerSecond: Int
  let control: WatchControl
  let queue: EventQueue
  /// CPU of perfwatch when watching began.
  let ownCPUBefore: Nanoseconds
  /// For the kernel observer; nil watches stalls by /proc.
  let tracePoints: TracePoints?
  /// Whether somebody looks at the events while watching goes on.
  let isShown: Bool
  /// Where stacks are ordered; nil for none.
  var desk: CaptureDesk?

  /// Extra ticks after the start, so that a program of a few milliseconds is seen at all. Chosen.
  static let earlyTicks: [Nanoseconds] = [1, 3, 10, 30].map { .milliseconds($0) }
  static let slowBeat = Nanoseconds.seconds(1)
  /// How long what a tick has read may wait to be written with others. Chosen: a display shows it in time.
  static let lookAge = Nanoseconds.milliseconds(400)
  /// Later than this a tick asks whether we were stopped ourselves. Chosen.
  static let lateness = Nanoseconds.milliseconds(1)
  /// How often our own cost is looked at. Chosen: it takes 20 to 50 us (measured).
  static let ownBeat = Nanoseconds.seconds(5)

  var isLaunched: Bool { launched != nil }

  /// - Parameters:
  ///   - releasedAt: when a launched target was let go; nil if it is still held, or attached to.
  ///   - release: lets it go once all is ready to watch it; nil if it cannot be executed.
  func run(releasedAt: Instant? = nil, release: () -> Instant? = { nil }) {
    let source = ProcSource(root: configuration.procRoot, pid: pid)
    do throws(ReadingError) {
      let threads = try ThreadSampler(source, launchBase: launched?.base)
      try watch(source, threads, releasedAt: releasedAt, release)
    } catch {
      // Thrown before it was let go: the target must run all the same.
      let runs = !isLaunched || releasedAt != nil || release() != nil
      // It was gone before its files were open; the exit itself is learnt from the pidfd.
      if case .failed(let cause) = error, runs {
        let isLimit = cause.isOutOfDescriptors
        queue.append(
          isLimit
            ? .notice(.descriptorLimit, detail: "nothing was measured")
            : .notice(.threadsUnreadable, detail: "\(cause.object): \(cause.reason)"))
      }
      waitForExit()
    }
    Self.end(control)
  }

  /// Says that nothing more will come from this thread.
  static func end(_ control: WatchControl) {
    control.change { $0.isWatchingDone = true }
    control.tracerBell.signal()
    control.mainBell.signal()
  }

  private func watch(
    _ openSource: consuming ProcSource, _ openThreads: consuming ThreadSampler,
    releasedAt: Instant?, _ release: () -> Instant?
  ) throws(ReadingError) {
    var source = openSource
    var threads = openThreads
    // Of a launch, what is not needed before the first instruction comes when the target executes already.
    var process = isLaunched ? ProcessSampler() : try ProcessSampler(source)
    var out = ByteWriter(capacity: 64 << 10)
    var tree = configuration.followsChildren ? makeTree(source, into: &out) : nil
    // What the launch began is start-up, also when we come after it.
    let begin = releasedAt ?? Clock.now()
    var loops =
      !isLaunched || tracePoints != nil ? makeLoops(&source, from: begin, into: &out) : nil

    // The base: everything that was before this moment is not charged to the run.
    sample(
      at: Clock.now(), late: .zero, skipped: 0, isFirst: true, &source, &threads, &process, &tree,
      readsMemory: !isLaunched, into: &out)
    // Of a launched program there is only main so far.
    if !isLaunched { loops?.addNamed(threads.threads, &source) }
    // Nothing goes into the queue before: the opening events come first.
    if isLaunched, releasedAt == nil, release() == nil { return }
    let start = Clock.now()
    queue.append(&out)
    // Gone already: reaped by somebody else; then there is nothing to read.
    if isLaunched { try? process.open(source) }
    if loops == nil { loops = makeLoops(&source, from: begin, into: &out) }
    var ticker = Ticker(
      start: start, period: configuration.period,
      early: isLaunched ? Self.earlyTicks.filter { $0 < configuration.period } : [])
    var probes = ProbeSchedule(
      start: start, threshold: configuration.stalls?.threshold ?? .seconds(1))
    var nextSlow = start + Self.slowBeat
    var suspensions = control.read { $0.suspensions }
    if isLaunched {
      emitExecutable(&process, &source, into: &out)
    } else {
      emitTimes(&process, &source, into: &out)
    }

    let firstSlow = nextSlow
    var nextOwn = nextSlow
    var alarm = configuration.threadAlarm.map {
      ThreadAlarmWatch(limit: $0, pid: pid, isLaunched: isLaunched)
    }
    alarm?.take(threads, at: start, loops, desk, queue)
    var set = WaitSet([control.pollerBell.descriptor.raw, pidfd])
    var stops = control.read { $0.stopsWatching }
    while true {
      let now: Instant
      var isUnknown = false
      if loops == nil, tree == nil, let (answer, end) = lookOn(&threads, &ticker, nextSlow, &set) {
        if take(answer, at: end, &source, &threads, &process, into: &out) { continue }
        now = end
        isUnknown = answer == .unknown
      } else {
        let due = loops == nil ? ticker.deadline : min(ticker.deadline, probes.deadline)
        set.wait(due - Clock.now())
        now = Clock.now()
      }
      if set.isReady(0) {
        control.pollerBell.drain()
        stops = control.read { $0.stopsWatching }
      }
      let isOver = set.isReady(1) || stops
      if loops != nil, isOver || now >= probes.deadline {
        probe(&loops, &probes, &source, into: &out)
      }
      guard isOver || now >= ticker.deadline else { continue }
      let isSlow = now >= nextSlow || isOver
      // Only a late tick asks whether we were stopped ourselves.
      var wasSuspended = false
      if isSlow || now - ticker.deadline > Self.lateness {
        let count = control.read { $0.suspensions }
        wasSuspended = count != suspensions
        suspensions = count
      }
      let lateness = ticker.take(at: now, isOver: isOver, wasSuspended: wasSuspended)
      let isQuick =
        !isOver && !isUnknown && tree == nil
        && look(
          at: now, lateness, isSlow: isSlow, &source, &threads, &process, into: &out)
      if !isQuick {
        writeLooks(&threads, process, into: &out)
        sample(
          at: now, late: lateness.late, skipped: lateness.skipped, isFirst: false, &source,
          &threads, &process, &tree, readsMemory: isSlow, into: &out)
        if tree == nil { threads.arm(statm: process.pagesFile) }
        // Wrappers (env, shells) execute the real program soon, and short runs have no slow beat.
        if isLaunched && now < firstSlow { emitExecutable(&process, &source, into: &out) }
      }
      if !isOver {
        loops?.look(threads, &source)
        alarm?.take(threads, at: now, loops, desk, queue)
      }
      if isSlow {
        nextSlow = now + Self.slowBeat
        emitTimes(&process, &source, into: &out)
        let frames = threads.slowBeat(
          limit: isOver ? 4096 : ThreadSampler.detailsPerBeat, leader: process.leader, &source,
          into: &out)
        queue.append(&out, frames: frames)
        if loops != nil, !isOver {
          let news = loops?.slowBeat(threads: threads.threads, &source, into: &out) ?? 0
          queue.append(&out, frames: news)
        }
        if isOver || now >= nextOwn {
          nextOwn = now + Self.ownBeat
          emitObserver(into: &out)
        }
      }
      if isOver {
        alarm?.finish(at: now, loops, queue)
        finish(&loops, isEnded: set.isReady(1), &source, into: &out)
        sayLastWords(
          isEnded: set.isReady(1), &process, &threads, loops?.refusal, &source, into: &out)
        return
      }
    }
  }

  /// The watched loops, the main thread's first; nil when stalls are not watched.
  private func makeLoops(
    _ source: inout ProcSource, from begin: Instant, into out: inout ByteWriter
  ) -> LoopWatcher? {
    guard let settings = configuration.stalls else { return nil }
    var watcher = LoopWatcher(
      settings, pid: pid, points: tracePoints, launchedAt: isLaunched ? begin : nil,
      desk: desk, tellsOpenStalls: configuration.budget?.abortsOnFail == true)
    watcher.start(&source)
    EventCodec.encode(.capability("observer", value: watcher.observer.rawValue), into: &out)
    // That there are too few descriptors is said at the end, once for all that suffers from it.
    if let refusal = watcher.refusal, refusal.cause?.isOutOfDescriptors != true {
      let reason = refusal.cause.map { ": " + $0.shortReason } ?? ""
      EventCodec.encode(
        .notice(.stallsNotWatched, detail: "/proc/\(pid)/syscall cannot be read" + reason),
        into: &out)
    }
    return watcher
  }

  private func makeTree(
    _ source: borrowing ProcSource, into out: inout ByteWriter
  ) -> TreeSampler {
    let tree = TreeSampler(source, isLaunched: isLaunched)
    let reason = tree.pollingReason
    EventCodec.encode(.capability("tree", value: reason == nil ? "perf" : "proc"), into: &out)
    if let reason { EventCodec.encode(.notice(.childrenPolled, detail: reason), into: &out) }
    return tree
  }

  private func probe(
    _ loops: inout LoopWatcher?, _ schedule: inout ProbeSchedule, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) {
    guard let news = loops?.probe(isQuick: schedule.isQuick, &source, into: &out) else { return }
    schedule.advance(from: Clock.now(), wantsQuick: news.wantsQuick)
    // A stall is worth a wake-up of the reader: it is shown while it lasts.
    if news.frames > 0 { queue.append(&out, frames: news.frames, isUrgent: true) }
  }

  private func finish(
    _ loops: inout LoopWatcher?, isEnded: Bool, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) {
    guard loops != nil else { return }
    // It may have changed since the start: tracing begins late and may be given up.
    if let observer = loops?.observer {
      queue.append(.capability("observer", value: observer.rawValue))
    }
    let frames = loops?.finish(at: Clock.now(), exited: isEnded, &source, into: &out) ?? 0
    queue.append(&out, frames: frames)
    tell(.loopMoves, loops?.search.movers)
    tell(.loopsElsewhere, loops?.search.elsewhere)
    tell(.otherLoops, loops?.unwatchedLoops)
  }

  private func tell(_ code: NoticeCode, _ threads: [NamedThread]?) {
    guard let threads, !threads.isEmpty else { return }
    let list = threads.prefix(5).map { "\(SafeText.decode($0.name)) (\($0.tid))" }
    let more = threads.count > 5 ? " and \(threads.count - 5) more" : ""
    queue.append(.notice(code, detail: list.joined(separator: ", ") + more))
  }

  private func sample(
    at time: Instant, late: Nanoseconds, skipped: Int, isFirst: Bool,
    _ source: inout ProcSource, _ threads: inout ThreadSampler, _ process: inout ProcessSampler,
    _ tree: inout TreeSampler?, readsMemory: Bool,
    into out: inout ByteWriter
  ) {
    let clock = source.cpuClock(clockTicksPerSecond: clockTicksPerSecond)
    let pid = self.pid
    let lastClock = threads.seenClock
    var frames = threads.tick(
      at: time, late: late, skipped: skipped, clock: clock, clockAgain: { Clock.processCPU(pid) },
      isFirst: isFirst, &source, into: &out)
    // A process that did not run has not changed its memory; the slow beat catches the kernel's doings.
    // What starts fast and then rests has done all its work before the first tick.
    if readsMemory || (!isFirst && (clock != lastClock || !process.hasReadMemory)),
      let memory = process.memory(
        at: time, anyThread: threads.anyThread, mayBeOld: !readsMemory, &source)
    {
      EventCodec.encode(.memory(memory), into: &out)
      frames += 1
    }
    if readsMemory || (!isFirst && (clock != lastClock || process.descriptors.isNew)) {
      frames += process.descriptors.look(isSlow: readsMemory, at: time, source, into: &out)
    }
    if tree != nil {
      frames +=
        tree?.round(at: time, isFirst: isFirst, isSlow: readsMemory, &source, into: &out) ?? 0
    }
    if !isFirst { queue.append(&out, frames: frames) }
  }

  private func emitTimes(
    _ process: inout ProcessSampler, _ source: inout ProcSource, into out: inout ByteWriter
  ) {
    if let times = process.times(&source) { EventCodec.encode(.processTimes(times), into: &out) }
    if let path = process.newExecutableIfLikely(source) {
      EventCodec.encode(.executed(at: Clock.now(), executable: path), into: &out)
    }
    queue.append(&out)
  }

  private func emitExecutable(
    _ process: inout ProcessSampler, _ source: inout ProcSource, into out: inout ByteWriter
  ) {
    guard let path = process.newExecutable(source) else { return }
    EventCodec.encode(.executed(at: Clock.now(), executable: path), into: &out)
    queue.append(&out)
  }

  private func emitObserver(into out: inout ByteWriter) {
    let reading = ObserverReading(
      cpu: Clock.ownCPU() - ownCPUBefore + (desk?.helperCPU ?? .zero),
      residentPeak: OwnMemory.residentPeak(),
      droppedEvents: queue.droppedCount + (desk?.dropped ?? 0),
      captures: desk?.costs ?? CaptureCosts())
    EventCodec.encode(.observer(reading), into: &out)
    queue.append(&out)
  }

  private func waitForExit() {
    var set = PollSet([control.pollerBell.descriptor.raw, pidfd])
    while !set.isReady(1), !control.read({ $0.stopsWatching || $0.launchFailure != nil }) {
      set.wait(nil)
      control.pollerBell.drain()
    }
    if set.isReady(1) && !isLaunched {
      let status = PidFD.exitStatus(pidfd)
      note(status)
      let exit = TargetExit(at: Clock.now(), status: status, maxResident: nil)
      control.change { $0.exit = exit }
    }
  }
}
