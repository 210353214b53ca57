// One watch from start to end: wires the threads, serves signals and limits on the main thread, and
// hands back the summary.

/// A watch of one target. Make it on the main thread, with all signals blocked there.
public struct Watch: ~Copyable {
  private let configuration: WatchConfiguration
  private let control: WatchControl
  private let queue: EventQueue
  private let signals: SignalChannel
  private var policy: SignalPolicy
  private let isLaunched: Bool
  private var tracer: OSThread?
  private var attached: PidFD?
  private let trace: TracePoints?
  /// Of stacks in stalls; nil where none are taken.
  private let desk: CaptureDesk?
  private let ownCPUBefore = Clock.ownCPU()
  /// The stop signal that came to us and is to stop us once it has stopped the target, too.
  private var pendingStop: Int32?
  private var limits: Limits
  /// The first signal that came to us and asks for an end.
  private var interruption: Int32?

  private init(
    _ configuration: WatchConfiguration, isLaunched: Bool, control: WatchControl,
    signals: consuming SignalChannel, trace: TracePoints?, queue: EventQueue
  ) {
    self.trace = trace
    self.queue = queue
    self.configuration = configuration
    self.isLaunched = isLaunched
    self.control = control
    self.signals = signals
    desk = configuration.stalls.flatMap { stalls in
      stalls.takesStacks
        ? CaptureDesk(
          control: control, queue: queue, inAppPatterns: stalls.inAppPatterns,
          takesCauses: stalls.takesCauses) : nil
    }
    policy = SignalPolicy(isLaunched: isLaunched, sessionLeader: OwnProcess.session)
    limits = Limits(configuration, start: Clock.now())
  }

  private static func prepare(
    _ configuration: WatchConfiguration, isLaunched: Bool
  ) throws(WatchError) -> Watch {
    let queue = EventQueue()
    // Before anything is started: what the user asked for may not be possible.
    let trace = try tracePoints(configuration.stalls)
    do {
      return Watch(
        configuration, isLaunched: isLaunched, control: try WatchControl(),
        signals: try SignalChannel(), trace: trace, queue: queue)
    } catch {
      throw WatchError(text(error, doing: "prepare watching"))
    }
  }

  /// How a launch ended before the target ran.
  public enum LaunchFailure: Error, Sendable {
    case target(LaunchError)
    case ours(WatchError)
  }

  // MARK: Launching

  /// Launches the command, watches it, and returns when watching is over.
  ///
  /// - Parameters:
  ///   - command: what the summary shows of the command line, redacted as the user wants.
  ///   - recording: opened before, so that it fails before the target starts.
  ///   - finished: gets the summary as soon as watching is over, which with a duration is before the
  ///     target ends.
  /// - Returns: how the target ended.
  @available(*, noasync)
  public static func launch(
    _ request: LaunchRequest, command: [String], configuration: WatchConfiguration,
    recording: consuming OutputFile?, display: (any LiveDisplay)?,
    finished: (WatchResult) -> Void
  ) throws(LaunchFailure) -> LaunchEnd {
    do throws(WatchError) {
      var watch = try prepare(configuration, isLaunched: true)
      let (control, queue) = (watch.control, watch.queue)
      let opening = Opening(configuration: configuration, queue: queue)
      // What has to be there before the first instruction is felt by the target in its start.
      let isHeldForEvents = configuration.followsChildren || watch.trace != nil
      let poller = watch.pollerMaker(isShown: display != nil)
      let tracer = Tracer(control: control, queue: queue, desk: watch.desk)
      // Before there is a target: it must be there to reap it.
      watch.tracer = try Self.thread("pw-tracer") { tracer.run() }
      let thread = try Self.thread("pw-poller") {
        var launcher = Launcher(request, command: command, opening: opening, control: control)
        var releasedAt: Instant?
        guard let held = launcher.hold() else { return Poller.end(control) }
        if !isHeldForEvents {
          releasedAt = launcher.release()
          guard releasedAt != nil else { return Poller.end(control) }
        }
        // Not before, as a child begins with the priority of who made it.
        OSThread.raisePriority()
        poller(held.pid, held.pidfd, held).run(releasedAt: releasedAt) { launcher.release() }
      }
      let result = try watch.run(thread, recording: recording, display: display)
      finished(result)
      let status = watch.waitForTarget()
      return LaunchEnd(
        status: status, isTimedOut: watch.limits.hasTimedOut, interruption: watch.interruption)
    } catch {
      if let failure = error.launch { throw .target(failure) }
      throw .ours(error)
    }
  }

  /// Waits until the target has executed.
  private func waitForRelease() throws(WatchError) {
    var set = PollSet([control.mainBell.descriptor.raw])
    while true {
      let state = control.read { ($0.released != nil, $0.launchFailure) }
      if let failure = state.1 { throw WatchError(launch: failure) }
      if state.0 { return }
      set.wait(nil)
      control.mainBell.drain()
    }
  }

  // MARK: Attaching

  /// Watches a process that runs already, until it ends or the user has seen enough.
  ///
  /// - Parameter command: makes of the raw arguments what the summary may show.
  @available(*, noasync)
  public static func attach(
    _ pid: ProcessID, command: ([[UInt8]]) -> [String], configuration: WatchConfiguration,
    recording: consuming OutputFile?, display: (any LiveDisplay)?
  ) throws(WatchError) -> WatchResult {
    var watch = try prepare(configuration, isLaunched: false)
    let start = Clock.now()
    var source = ProcSource(root: configuration.procRoot, pid: pid)
    let subject: AttachSubject
    let raw: Int32
    do throws(AttachRefusal) {
      // Once as it is, for the clearest message; pidfd_open itself only knows "no such process".
      _ = try AttachCheck.inspect(
        &source, ownPID: OwnProcess.pid, ownSession: OwnProcess.session)
      guard let handle = try? PidFD(pid) else { throw AttachRefusal.notFound(pid) }
      // And again under the pidfd: what is read now is of the process that the pidfd holds.
      subject = try AttachCheck.inspect(
        &source, ownPID: OwnProcess.pid, ownSession: OwnProcess.session)
      raw = handle.raw
      watch.attached = consume handle
    } catch {
      throw WatchError(error.message)
    }
    let target = Summary.Target(
      pid: pid.rawValue, executable: subject.executable.map(SafeText.decode),
      command: command(subject.arguments.isEmpty ? [subject.name] : subject.arguments),
      launched: false, startTicks: subject.stat.startTicks)
    Opening(configuration: configuration, queue: watch.queue).write(
      target, at: start, cpuBefore: Clock.processCPU(pid) ?? .zero,
      notices: Opening.notices(of: subject))
    let poller = watch.pollerMaker(isShown: display != nil)
    let thread = try Self.thread("pw-poller") {
      OSThread.raisePriority()
      poller(pid, raw, nil).run()
    }
    return try watch.run(thread, recording: recording, display: display)
  }

  // MARK: Watching

  /// The tracepoints if the user asked for the kernel's records; nil otherwise.
  ///
  /// - Throws: when they cannot be had.
  private static func tracePoints(
    _ stalls: StallSettings?
  ) throws(WatchError) -> TracePoints? {
    guard stalls?.observer == .kernel else { return nil }
    do throws(ObserverProblem) {
      let points = try TracePoints.find()
      try points.test()
      return points
    } catch {
      throw WatchError("cannot observe by the kernel: \(error.message); or use --observer proc")
    }
  }

  /// Makes the poller once it is known whom it watches.
  private func pollerMaker(isShown: Bool)
    -> @Sendable (_ pid: ProcessID, _ pidfd: Int32, _ launched: LaunchedTarget?) -> Poller
  {
    let (configuration, control, queue, trace) = (configuration, control, queue, trace)
    let (desk, ownCPU) = (desk, ownCPUBefore)
    // A budget is judged while watching goes on, too.
    let isShown = isShown || configuration.budget != nil
    return { pid, pidfd, launched in
      Poller(
        pid: pid, pidfd: pidfd, launched: launched, configuration: configuration,
        clockTicksPerSecond: HostInfo.clockTicksPerSecond, control: control, queue: queue,
        ownCPUBefore: ownCPU, tracePoints: trace, isShown: isShown,
        desk: desk)
    }
  }

  private mutating func run(
    _ poller: consuming OSThread, recording: consuming OutputFile?, display: (any LiveDisplay)?
  ) throws(WatchError) -> WatchResult {
    if isLaunched {
      do throws(WatchError) {
        try waitForRelease()
      } catch {
        poller.join()
        throw error
      }
    }
    policy.target = control.read { $0.released }
    let display = BudgetWatch.wrap(display, configuration.budget, control)
    var recorder = RecorderThread(
      queue: queue, file: SendableFile(recording), display: display,
      stacks: desk.map {
        Recorder.StackSource(desk: $0, ownCPUBefore: ownCPUBefore, control: control)
      },
      startsAt: isLaunched ? Clock.now() + RecorderThread.grace : Clock.now())
    let reason = serve(from: Clock.now(), &recorder)
    poller.join()
    desk?.join()
    if let exit = control.read({ $0.exit }) { queue.append(.exited(exit)) }
    let results = recorder.finish(SessionEnd(at: Clock.now(), reason: reason), queue) {
      waitForResults($0)
    }
    guard let state = results.finalState else {
      throw WatchError("perfwatch lost its own measurements; run it again and report this")
    }
    var summary = state.summary()
    let failure = results.recordingFailure
    if let budget = configuration.budget {
      summary.verdict = Judge.verdict(summary, budget)
      if let known = budget.scope.knownStalls {
        summary.metrics = MetricCatalog.values(of: summary, known: known)
      }
    }
    summary.exit.perfwatch = ExitCode.of(
      summary, failed: failure != nil, budget: configuration.budget)
    return WatchResult(
      summary: summary, outputFailure: failure.map { Self.text($0, doing: "write the recording") })
  }

  /// The main thread's loop: signals, limits, the target's end.
  private mutating func serve(
    from start: Instant, _ recorder: inout RecorderThread
  ) -> EndReason {
    var set = PollSet([signals.descriptor.raw, control.mainBell.descriptor.raw])
    var reason = EndReason.exit
    limits = Limits(configuration, start: start)
    while true {
      let next = [limits.next, recorder.startsAt].compactMap { $0 }.min()
      set.wait(next.map { $0 - Clock.now() })
      control.mainBell.drain()
      let now = Clock.now()
      recorder.startIfDue(at: now)
      for signal in signals.take() {
        note(signal)
        if let ended = act(on: policy.decide(signal, at: now)) {
          reason = ended
          limits.stopWatching(control)
        }
      }
      stopWithTarget()
      let facts = control.read { ($0.exit != nil, $0.isWatchingDone) }
      if facts.0 || (facts.1 && !isLaunched) { return limits.reason(or: reason, exited: facts.0) }
      // With a duration the poller ends before the target does.
      if facts.1 && limits.hasStoppedWatching { return limits.reason(or: reason, exited: false) }
      for signal in limits.due(at: now, control) { send(signal) }
      if control.read({ $0.isBudgetLost }) {
        for signal in limits.abort(at: now, isLaunched: isLaunched, control) { send(signal) }
      }
    }
  }

  /// Signals still count while the last names are looked up: who sends one does not want to wait.
  private mutating func waitForResults(_ recorder: Recorder) {
    guard desk != nil else { return }
    var set = PollSet([signals.descriptor.raw, control.mainBell.descriptor.raw])
    while !recorder.isDone {
      set.wait(nil)
      control.mainBell.drain()
      for signal in signals.take() {
        note(signal)
        let action = policy.decide(signal, at: Clock.now())
        switch action {
        case .ignore, .childChanged, .redraw, .resumed, .jobStop: break
        case .forward, .terminate, .kill, .detach: recorder.hurry()
        }
        _ = act(on: action)
      }
    }
  }

  private mutating func note(_ signal: ReceivedSignal) {
    if interruption == nil, SignalChannel.ends.contains(signal.number) {
      interruption = signal.number
    }
  }

  /// Does what a signal asks for.
  ///
  /// - Returns: why watching is to end, if it is.
  private mutating func act(on action: SignalAction) -> EndReason? {
    switch action {
    case .ignore: return nil
    case .forward(let number): send(number)
    case .terminate: send(SignalNumber.terminate)
    case .kill: send(SignalNumber.kill)
    case .detach(let reason): return reason
    case .jobStop(let number):
      if isLaunched { pendingStop = number } else { suspend(by: number) }
    case .resumed: pendingStop = nil
    case .redraw: queue.wake()
    case .childChanged:
      control.change { $0.wantsJobChange = true }
      control.tracerBell.signal()
    }
    return nil
  }

  /// Stops perfwatch when the terminal's stop key stopped both the target and us: the shell sees the job
  /// stop and can resume it. A target that was stopped by anybody else is watched on.
  private mutating func stopWithTarget() {
    let stop = control.change { facts -> Int32? in
      defer { facts.jobResumed = false }
      return facts.jobStop
    }
    guard pendingStop != nil, let stop else { return }
    guard
      stop == SignalNumber.terminalStop || stop == SignalNumber.terminalInput
        || stop == SignalNumber.terminalOutput
    else { return }
    pendingStop = nil
    control.change { $0.jobStop = nil }
    suspend(by: stop)
  }

  private func suspend(by signal: Int32) {
    control.change { $0.suspensions += 1 }
    SignalChannel.stopSelf(by: signal)
    queue.wake()
  }

  private func send(_ signal: Int32) {
    control.change { $0.outbox.append(signal) }
    control.tracerBell.signal()
  }

  /// After a duration: waits for the target to end; signals and the time-out still reach it.
  private mutating func waitForTarget() -> ExitStatus? {
    var set = PollSet([signals.descriptor.raw, control.mainBell.descriptor.raw])
    while control.read({ $0.exit == nil }) {
      set.wait(limits.next.map { $0 - Clock.now() })
      control.mainBell.drain()
      let now = Clock.now()
      for signal in signals.take() {
        note(signal)
        _ = act(on: policy.decide(signal, at: now))
      }
      stopWithTarget()
      for signal in limits.due(at: now, control) { send(signal) }
    }
    tracer.take()?.join()
    return control.read { $0.exit?.status }
  }

  // MARK: Small helpers

  private static func thread(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(WatchError) -> OSThread {
    do {
      return try OSThread(name: name, body: body)
    } catch {
      throw WatchError(
        text(error, doing: "start a thread") + "; raise `ulimit -u` or `ulimit -v`, or free memory")
    }
  }

  private static func text(_ error: SystemError, doing: String) -> String {
    let object = error.object.isEmpty ? "" : " \(SafeText.terminal(error.object))"
    return "cannot \(doing): \(error.call)\(object): \(error.reason)"
  }
}
