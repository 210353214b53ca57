// The watched loop threads of a session: who they are, their probes, their wait records, their news.

/// Which threads are watched for stalls.
public enum LoopSelection: Sendable, Equatable {
  /// The thread whose number is the process's.
  case main
  /// Threads by name pattern or number.
  case named([String])
  /// Every thread that parks at an idle wait again and again.
  case loops
}

/// How stalls are watched.
public struct StallSettings: Sendable, Equatable {
  public var threshold = Nanoseconds.milliseconds(250)
  public var selection = LoopSelection.main
  /// nil takes the best that is permitted.
  public var observer: LoopObserver?
  /// Whether stacks are taken in stalls.
  public var takesStacks = true
  /// Whether it is looked at what a stalled thread waits for, who holds that, and what the machine did.
  public var takesCauses = true
  /// Whether stacks are taken outside of stalls, too, one for each place where a watched thread waits.
  public var takesWaitStacks = false
  /// Patterns of modules that are the program's own; see `InAppRule`.
  public var inAppPatterns: [String] = []
  /// Stalls that do not count.
  public var ignored = IgnoredStalls()

  public init() {}
}

/// Finds, probes and reports the watched loops. Lives on pw-poller.
struct LoopWatcher {
  /// Loops watched at a time. Chosen; what they cost is a row of the benchmark.
  static let capacity = 64
  /// Numbers of stalls: each loop has room for this many.
  static let idsPerLoop = 1_000_000

  let settings: StallSettings
  let pid: ProcessID
  private var points: TracePoints?
  private var hasLookedForTracePoints = false
  let launchedAt: Instant?
  private(set) var loops: [WatchedLoop] = []
  private(set) var known = NumberIndex()
  var search: LoopSearch
  var canReadWaits: Bool { refusal == nil }
  /// Why the waits of a thread that is to be watched cannot be read; nil where they can.
  private(set) var refusal: ReadingError?
  let desk: CaptureDesk?
  /// Somebody wants to know of a stall before it is over.
  private let tellsOpenStalls: Bool
  private var keptLengths = KeptLengths(capacity: StallAccount.capacity)
  private let watchesSince = Clock.now()
  let waitPeers: WaitNames.Peers
  /// Told of once: captures that had to wait, as the budget was used up.
  private var isSlowed = false
  /// What was told of the switch records last.
  private var toldSwitches = SwitchReader.Standing.notTried

  init(
    _ settings: StallSettings, pid: ProcessID, points: TracePoints?, launchedAt: Instant?,
    desk: CaptureDesk? = nil, tellsOpenStalls: Bool = false
  ) {
    self.tellsOpenStalls = tellsOpenStalls
    self.desk = desk
    waitPeers = WaitNames.Peers(pid)
    self.settings = settings
    self.pid = pid
    self.points = points
    self.launchedAt = launchedAt
    search = LoopSearch(main: pid.rawValue, settings.selection)
  }

  /// Who sees the turns of the first loop now.
  var observer: LoopObserver {
    loops.first?.detector.settings.observer ?? .proc
  }

  /// Begins to watch the main thread; before a launched target is let go, so that nothing is missed.
  mutating func start(_ source: inout ProcSource) {
    switch settings.selection {
    case .main: add(pid.rawValue, &source)
    case .loops:
      // From its start, too; but a main thread that has no loop is left out.
      add(pid.rawValue, &source)
      main?.isOnTrial = true
    case .named: break
    }
  }

  /// The main thread, while it is watched.
  private var main: WatchedLoop? { known[pid.rawValue].map { loops[$0] } }

  mutating func add(_ tid: Int32, _ source: inout ProcSource) {
    guard known[tid] == nil, loops.count < Self.capacity else { return }
    let isMain = tid == pid.rawValue
    let detector = LoopDetector.Settings(
      threshold: settings.threshold,
      probePeriod: ProbeSchedule.period(threshold: settings.threshold),
      observer: settings.observer == .kernel ? .kernel : .proc,
      launchedAt: isMain ? launchedAt : nil,
      firstID: 1 + loops.count * Self.idsPerLoop)
    let loop: WatchedLoop
    do throws(ReadingError) {
      loop = try WatchedLoop(ThreadID(tid), detector, points: points, &source)
    } catch {
      if error.cause?.isOutOfDescriptors == true { refusal = error }
      return
    }
    if loop.trace == nil { refusal = loop.sampler.waitsRefusal ?? refusal }
    loop.detector.waits.keepsSites = settings.takesWaitStacks
    known[tid] = loops.count
    loops.append(loop)
  }

  /// Probes every watched thread.
  ///
  /// - Returns: how many events were written, and whether quick probes are wanted.
  mutating func probe(
    isQuick: Bool, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> (frames: Int, wantsQuick: Bool) {
    var frames = 0
    var wantsQuick = false
    for loop in loops where !loop.isGone {
      loop.probe(isQuick: isQuick, desk, &source)
      if loop.isOnTrial, loop.detector.hasLooped { loop.isOnTrial = false }
      search.take(loop)
      frames += emit(loop, &source, into: &out)
      frames += order(loop, into: &out)
      orderWaitStack(loop)
      if settings.takesCauses { loop.watchSurroundings(&source) }
      if tellsOpenStalls, let stall = loop.openStall {
        EventCodec.encode(
          .stallGoesOn(stall, loop.surroundingsSoFar(of: stall, &source)), into: &out)
        frames += 1
      }
      if loop.detector.wantsBurst { wantsQuick = true }
      if let rate = loop.takeRefusal() {
        EventCodec.encode(
          .notice(
            .tracingGivenUp, detail: "thread \(loop.sampler.tid) waits \(rate) times a second"),
          into: &out)
        frames += 1
      }
      // The main thread's last word waits for the end of the process, which often is its own.
      if loop.isGone, loop.sampler.tid.rawValue != pid.rawValue {
        frames += finish(loop, at: Clock.now(), exited: false, &source, into: &out)
      }
    }
    joinMoving(&source)
    return (frames, wantsQuick)
  }

  private mutating func order(_ loop: WatchedLoop, into out: inout ByteWriter) -> Int {
    guard let desk else { return 0 }
    let isTooMuch = loop.order(desk, atLeast: keptLengths.shortestKept) { isFirst in
      CaptureBudget.allows(
        stopped: desk.costs.stopTotal, cpu: desk.cpu, elapsed: Clock.now() - watchesSince,
        isFirst: isFirst)
    } prepare: {
      // The pw-tracer of a launched target is there already.
      if launchedAt == nil { desk.startTracer(pid) }
    }
    guard isTooMuch, !isSlowed else { return 0 }
    isSlowed = true
    let costs = desk.costs
    EventCodec.encode(
      .notice(
        .stacksSlowed,
        detail: "\(Counted.text(costs.stops, "stop")) took \(Units.text(costs.stopTotal)), "
          + "and perfwatch \(Units.text(desk.cpu)) of CPU"), into: &out)
    return 1
  }

  /// The standing of every loop, and a look for threads that should be watched.
  mutating func slowBeat(
    threads: [(tid: Int32, name: [UInt8])], _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    addNamed(threads, &source)
    search.keep(threads)
    var frames = findTracePoints(into: &out)
    frames += tellSwitches(isLast: false, into: &out)
    for loop in loops where !loop.isGone {
      if let points { loop.beginTracing(points) }
      guard !loop.isOnTrial else { continue }
      EncodedLoop.write(loop, into: &out)
      frames += 1 + tellWaits(loop, source, into: &out)
    }
    return frames
  }

  /// Unless the user chose an observer, the kernel's records are used where they can be had. Looked for
  /// only now: a short program ends before it matters.
  private mutating func findTracePoints(into out: inout ByteWriter) -> Int {
    guard settings.observer == nil, !hasLookedForTracePoints else { return 0 }
    hasLookedForTracePoints = true
    var answer = "yes"
    do throws(ObserverProblem) {
      points = try TracePoints.find()
    } catch {
      answer = error.message
    }
    EventCodec.encode(.capability("tracepoints", value: answer), into: &out)
    return 1
  }

  /// Whether switch records are used; of several loops the first that was refused or given up tells.
  private mutating func tellSwitches(isLast: Bool, into out: inout ByteWriter) -> Int {
    guard settings.observer != .kernel, !loops.isEmpty else { return 0 }
    var standing = SwitchReader.Standing.notTried
    for loop in loops {
      switch loop.switches.standing {
      case .notTried: break
      case .used: if standing == .notTried { standing = loop.switches.standing }
      case .refused, .givenUp:
        if standing == .notTried || standing.isUsed { standing = loop.switches.standing }
      }
    }
    let missing = isLast ? loops.reduce(0) { $0 + $1.detector.brokenSpans } : 0
    guard standing != toldSwitches || isLast && standing == .notTried || missing > 0 else {
      return 0
    }
    toldSwitches = standing
    var text = standing.text
    if missing > 0 { text += "; incomplete between probes: \(missing) times" }
    EventCodec.encode(.capability("switchRecords", value: text), into: &out)
    return 1
  }

  /// The last news of all loops.
  mutating func finish(
    at time: Instant, exited: Bool, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    var frames = tellSwitches(isLast: true, into: &out)
    desk?.stop()
    if let refusal = desk?.refusal {
      EventCodec.encode(.notice(.stacksRefused, detail: refusal.words), into: &out)
      frames += 1
    }
    for loop in loops where !loop.isGone || loop.sampler.tid.rawValue == pid.rawValue {
      frames += finish(loop, at: time, exited: exited, &source, into: &out)
    }
    return frames
  }

  private mutating func finish(
    _ loop: WatchedLoop, at time: Instant, exited: Bool, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) -> Int {
    loop.takeRecords(source)
    loop.detector.finish(at: time, exited: exited)
    if loop.isOnTrial, loop.detector.hasLooped { loop.isOnTrial = false }
    guard !loop.isOnTrial else { return 0 }
    let frames = emit(loop, &source, into: &out)
    EncodedLoop.write(loop, into: &out)
    return frames + 1 + tellWaits(loop, source, into: &out)
  }

  private mutating func emit(
    _ loop: WatchedLoop, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    guard !loop.isOnTrial else { return 0 }
    let news = loop.detector.news
    var frames = news.count
    for item in news {
      switch item {
      case .began(let stall): EventCodec.encode(.stallBegan(stall), into: &out)
      case .stalled(let stall):
        keptLengths.add(stall.duration)
        EventCodec.encode(.stall(stall), into: &out)
        if let around = loop.surroundings(of: stall, &source) {
          EventCodec.encode(.surroundings(around), into: &out)
          frames += 1
        }
      case .retracted(let id): EventCodec.encode(.stallRetracted(id), into: &out)
      }
    }
    return frames
  }
}

/// The loop event.
private enum EncodedLoop {
  static func write(_ loop: WatchedLoop, into out: inout ByteWriter) {
    var reading = loop.detector.reading(callName: WaitCalls.name)
    if let refusal = loop.sampler.waitsRefusal, reading.verdictless != nil {
      let reason = refusal.cause.map { ": " + $0.shortReason } ?? ""
      reading.verdictless = "where it waits cannot be read (/proc/PID/syscall)" + reason
    }
    EventCodec.encode(.loop(reading), into: &out)
  }
}
