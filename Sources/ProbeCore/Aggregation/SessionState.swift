// The pure fold: events in, summary out. Live view, recording and replay all run through here.

/// Everything that is known of a run so far.
///
/// `apply` is the only way in. It never fails: an event that does not fit (a thread that was never
/// seen, time running backwards) changes nothing that it does not prove.
public struct SessionState: Sendable, Equatable {
  let start: SessionStart
  private(set) var threads = ThreadAccounts()
  private(set) var memory = MemoryAccount()
  private(set) var tree: TreeAccount?
  private(set) var series: SeriesBuilder
  var peak = PeakRate()
  private(set) var processCPU: Nanoseconds?
  private(set) var times: ProcessTimes?
  /// The first reading: the base for a target that lived before we came.
  private(set) var firstTimes: ProcessTimes?
  private(set) var executable: String?
  private(set) var exit: TargetExit?
  private(set) var end: SessionEnd?
  private(set) var observer: ObserverReading?
  private(set) var stalls = StallAccount()
  private(set) var waits = WaitProfiles()
  private(set) var alarms = ThreadAlarms()
  private(set) var capabilities: Capabilities
  private(set) var notices: [(code: NoticeCode, detail: String)] = []
  private(set) var lastAt: Instant
  private(set) var isStopped = false
  private(set) var threadsPeak: Int?
  private(set) var threadsNow: Int?
  private(set) var descriptors: Summary.Descriptors?
  private(set) var ticks = 0
  private(set) var lateTicks = 0
  private(set) var skippedTicks = 0
  /// CPU in percent of one core over the last tick's interval.
  private(set) var recentPercent: Double?
  /// How long the last tick's interval was.
  private(set) var lastInterval: Nanoseconds?
  private var lastTickAt: Instant
  private var lastClockAt: Instant
  private var treeTickAt: Instant
  private var treeCPU = Nanoseconds.zero
  var treePeak = PeakRate()

  public init(_ start: SessionStart) {
    self.start = start
    series = SeriesBuilder(start: start.start, period: max(start.period, .milliseconds(100)))
    tree = start.followsChildren ? TreeAccount(pageSize: start.pageSize) : nil
    executable = start.target.executable
    lastAt = start.start
    lastTickAt = start.start
    lastClockAt = start.start
    treeTickAt = start.start
    processCPU = start.cpuBefore
    capabilities = start.capabilities
  }

  /// Takes one fact in.
  public mutating func apply(_ event: ProbeEvent) {
    switch event {
    case .started: break
    case .threadSeen(let seen):
      threads.see(seen, start: start.start)
    case .threadNamed(let tid, let name): threads.rename(tid, name)
    case .threadEnded(let tid, let at): threads.end(tid, at: at)
    case .tick(let tick): apply(tick)
    case .threadDetail(let detail): threads.detail(detail)
    case .memory(let reading):
      advance(to: reading.at)
      memory.add(reading, start: start.start)
      series.add(footprint: reading.footprint, at: reading.at)
    case .processTimes(let value):
      times = value
      if firstTimes == nil && !start.target.launched { firstTimes = value }
    case .member(let member): tree?.see(member)
    case .memberReading(let reading): tree?.read(reading)
    case .memberEnded(let pid, let at): tree?.end(pid, at: at)
    case .treeRound(let at, let cpu, let stolen):
      if let cpu { tree?.learn(counted: cpu) }
      if let stolen { tree?.learn(stolen: stolen) }
      treeRound(at: at)
    case .executed(let at, let path):
      advance(to: at)
      executable = SafeText.decode(path)
    case .stopped(let stopped, let at):
      advance(to: at)
      isStopped = stopped
    case .notice(let code, let detail): note(code, detail)
    case .observer(let reading): observer = reading
    case .capability(let name, let value): capabilities.entries[name] = value
    case .loop(let reading): stalls.loop(reading)
    case .stallBegan(let stall): stalls.began(stall)
    case .stallGoesOn(let stall, let around): stalls.goesOn(stall, around)
    case .descriptors(let reading):
      let peak = max(descriptors?.peak ?? 0, reading.count)
      descriptors = Summary.Descriptors(peak: peak, atEnd: reading.count)
    case .stallRetracted(let id): stalls.retracted(id)
    case .stall(let stall): stalls.ended(stall)
    case .codePlace(let place): stalls.place(place)
    case .stack(let stack): stalls.stack(stack)
    case .wait(let wait): stalls.wait(wait)
    case .surroundings(let value): stalls.surroundings(value)
    case .waitProfile(let reading): waits.add(reading)
    case .waitStack(let reading): waits.add(reading)
    case .threadAlarm(let reading): alarms.add(reading)
    case .parked(let reading): alarms.add(reading)
    case .stallsIgnored(let patterns): stalls.ignored = IgnoredStalls(patterns)
    case .exited(let value):
      advance(to: value.at)
      exit = value
      learnResidentPeak(value)
    case .ended(let value):
      advance(to: value.at)
      end = value
    }
  }

  private mutating func apply(_ tick: Tick) {
    ticks += 1
    skippedTicks = skippedTicks.saturatedAdding(max(0, tick.skipped))
    // Half a period late is late: the next tick is nearer than the one it stands for.
    if tick.late > start.period / 2 { lateTicks += 1 }
    threadsNow = tick.threadCount
    threadsPeak = max(threadsPeak ?? 0, tick.threadCount)
    for reading in tick.threads {
      guard let used = threads.read(reading, tick: ticks) else { continue }
      let account = threads.all[used.account]
      series.add(
        cpu: used.cpu, account: account.number,
        isNotable: account.used > (tick.at - start.start) / 100, at: tick.at)
    }
    if let cpu = tick.processCPU {
      // A clock that runs backwards is another process's: nothing is charged.
      let used = max(.zero, cpu - (processCPU ?? cpu))
      processCPU = max(processCPU ?? cpu, cpu)
      // Since the clock was last read: a tick without it must not make the next one look busy.
      let length = tick.at - lastClockAt
      if length > .zero {
        series.add(cpu: used, over: length, threads: tick.threadCount, at: tick.at)
        recentPercent = Percent.of(used, length)
        peak.add(used, over: length)
        lastClockAt = tick.at
      }
    }
    if tick.at > lastTickAt {
      lastInterval = tick.at - lastTickAt
      lastTickAt = tick.at
    }
    advance(to: tick.at)
  }

  private mutating func treeRound(at time: Instant) {
    guard tree != nil else { return }
    tree?.roundEnded()
    let cpu = tree?.cpu ?? .zero
    if time > treeTickAt {
      treePeak.add(max(.zero, cpu - treeCPU), over: time - treeTickAt)
      treeTickAt = time
      treeCPU = max(treeCPU, cpu)
    }
  }

  private mutating func learnResidentPeak(_ exit: TargetExit) {
    // The kernel lets ru_maxrss begin at the launching process's own peak and adds waited-for children:
    // it is the target's only if it is larger than ours was and no child was ever waited for.
    guard let bytes = exit.maxResident, let launcher = exit.launcherResident,
      bytes > launcher, let times, times.childFaults == 0
    else { return }
    memory.learnResidentPeak(bytes)
  }

  mutating func note(_ code: NoticeCode, _ detail: String) {
    if let index = notices.firstIndex(where: { $0.code == code }) {
      notices[index].detail = detail
    } else {
      notices.append((code, detail))
    }
  }

  /// Takes stalls that go on as if they had ended when they were seen last: what is said of them then
  /// stands, however long they still last.
  mutating func endOpenStalls() { stalls.endGrowing() }

  /// Whether there is any.
  var hasGrowingStalls: Bool { !stalls.growing.isEmpty }

  private mutating func advance(to time: Instant) { lastAt = max(lastAt, time) }

  /// Ticks that did not come when they should have.
  var lateOrSkipped: Int { lateTicks.saturatedAdding(skippedTicks) }

  /// From the start of watching to the last thing seen.
  var duration: Nanoseconds { max(.zero, (end?.at ?? lastAt) - start.start) }

  /// CPU of the process since watching began, exited threads included.
  var totalCPU: Nanoseconds? {
    processCPU.map { max(.zero, $0 - (start.cpuBefore ?? .zero)) }
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.summary() == right.summary()
  }
}

/// The highest rate over windows long enough to mean something.
struct PeakRate: Sendable, Equatable {
  /// CPU counters of a running thread move in scheduler ticks of up to 4 ms (8 ms on a noisy machine),
  /// so shorter windows than this would show peaks that never were.
  static let window = Nanoseconds.milliseconds(95)

  private var cpu = Nanoseconds.zero
  private var length = Nanoseconds.zero
  private(set) var percent: Double?

  mutating func add(_ used: Nanoseconds, over time: Nanoseconds) {
    cpu += used
    length += time
    guard length >= Self.window else { return }
    percent = max(percent ?? 0, Percent.of(cpu, length))
    cpu = .zero
    length = .zero
  }
}
