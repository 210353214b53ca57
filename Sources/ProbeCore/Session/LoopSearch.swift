// Which threads are watched beside those that were asked for: looks at the others, and what follows.

/// A thread that is told of.
typealias NamedThread = (tid: Int32, name: [UInt8])

/// What is known of the threads' waits, and which threads were added because of it.
struct LoopSearch {
  /// Unwatched threads that ran since the last metrics tick and are looked at in this one: at 10 us each
  /// a few percent of what the tick itself costs with as many threads. Chosen.
  static let looks = 8
  static let looksAmongMany = 3
  static let many = 100
  /// Threads passed over in search of them.
  static let passed = 64

  let selection: LoopSelection
  private let main: Int32
  private var scout = LoopScout()
  private var moving = MovingLoops()
  private var mainStanding = MainStanding()
  private var shares = WorkShare()
  private var sharing: Set<Int32> = []
  private var seen = (generation: 0, isOut: false)
  /// Where to look next, among the threads that ran and among all.
  fileprivate var cursors = (recent: 0, all: 0)
  /// The threads of a loop that moves, and loops that are watched as the main thread has none.
  private(set) var movers: [NamedThread] = []
  private(set) var elsewhere: [NamedThread] = []

  init(main: Int32, _ selection: LoopSelection) {
    self.main = main
    self.selection = selection
  }

  /// A watched thread was probed.
  mutating func take(_ loop: WatchedLoop) {
    let tid = loop.sampler.tid.rawValue
    if loop.isGone, tid == main { mainStanding.ended() }
    guard !loop.isGone, let probe = loop.lastProbe else { return }
    if tid == main { mainStanding.saw(probe) }
    if case .waiting(let wait) = probe.state, wait != loop.lastWait {
      loop.lastWait = wait
      moving.saw(tid, wait)
    }
    guard sharing.contains(tid) else { return }
    shares.saw(tid, cpu: probe.cpu, isAtRest: loop.detector.isAtRest)
    loop.detector.setOthers(computed: shares.others(than: tid))
  }

  /// A thread that is not watched was looked at.
  ///
  /// - Returns: what it is, if it is to be watched.
  fileprivate mutating func take(_ thread: NamedThread, _ look: ThreadLook) -> LoopScout.Finding? {
    moving.saw(thread.tid, look.wait)
    guard let finding = scout.saw(thread.tid, name: thread.name, look.wait, slices: look.slices)
    else { return nil }
    switch (selection, finding) {
    case (.loops, _): return finding
    case (.main, .loop) where mainStanding.isOut:
      elsewhere.append(thread)
      return finding
    case (.main, _), (.named, _): return nil
    }
  }

  /// Threads that loops move between and that were not told of yet; empty while nothing new is known.
  fileprivate mutating func newMovers() -> [Int32] {
    let now = (generation: moving.generation, isOut: mainStanding.isOut)
    guard now != seen else { return [] }
    seen = now
    let needed = selection == .main && !now.isOut ? main : nil
    return moving.threads(with: needed).subtracting(sharing).sorted()
  }

  fileprivate mutating func share(_ thread: NamedThread) {
    sharing.insert(thread.tid)
    movers.append(thread)
  }

  /// Forgets threads that have ended.
  mutating func keep(_ alive: [NamedThread]) {
    let tids = Set(alive.map(\.tid))
    scout.keep { tids.contains($0) }
    moving.keep { tids.contains($0) }
  }

  /// Threads that loop, or did until they ended; oldest first.
  var loops: [NamedThread] { scout.loops }
}

extension LoopWatcher {
  /// Looks where some of the unwatched threads wait, those that ran since the last metrics tick first; and
  /// watches those that should be. What did not run has not turned.
  mutating func look(_ threads: borrowing ThreadSampler, _ source: inout ProcSource) {
    guard canReadWaits, threads.count > 0 else { return }
    var left = threads.count > LoopSearch.many ? LoopSearch.looksAmongMany : LoopSearch.looks
    for _ in 0..<min(threads.recentCount, LoopSearch.passed) where left > 0 {
      search.cursors.recent = (search.cursors.recent + 1) % threads.recentCount
      if look(at: threads.thread(at: search.cursors.recent), &source) { left -= 1 }
    }
    // One that did not run may have parked before we came.
    search.cursors.all = (search.cursors.all + 1) % threads.count
    _ = look(at: threads.thread(at: search.cursors.all), &source)
    joinMoving(&source)
  }

  private mutating func look(at thread: NamedThread, _ source: inout ProcSource) -> Bool {
    guard known[thread.tid] == nil else { return false }
    guard let look = ThreadLook(thread.tid, &source) else { return true }
    switch search.take(thread, look) {
    case .loop(let wait): add(thread.tid, knowing: wait, LoopScout.loopSightings, &source)
    case .worker(let wait):
      add(thread.tid, knowing: wait, LoopScout.workerSightings, &source)
      if let place = known[thread.tid] { loops[place].isOnTrial = true }
    case nil: break
    }
    return true
  }

  private mutating func add(
    _ tid: Int32, knowing wait: Wait, _ visits: Int, _ source: inout ProcSource
  ) {
    add(tid, &source)
    if let place = known[tid] { loops[place].detector.startKnowing(wait, visits: visits) }
  }

  /// Watches the threads that a loop moves between as such.
  mutating func joinMoving(_ source: inout ProcSource) {
    for tid in search.newMovers() {
      if known[tid] == nil, !isNamed { add(tid, &source) }
      guard let place = known[tid] else { continue }
      loops[place].isOnTrial = false
      loops[place].detector.shareLoop()
      search.share((tid, name(of: tid, &source)))
    }
  }

  private var isNamed: Bool {
    if case .named = search.selection { true } else { false }
  }

  private func name(of tid: Int32, _ source: inout ProcSource) -> [UInt8] {
    // Gone again: then it has none.
    guard let count = try? source.readOnce("task/\(tid)/comm") else { return [] }
    return Comm.name(source.buffer.span.extracting(0..<count))
  }

  /// Watches threads that were asked for by name or number.
  mutating func addNamed(_ threads: [NamedThread], _ source: inout ProcSource) {
    guard case .named(let patterns) = settings.selection else { return }
    let globs = patterns.map { (Glob($0), Int32($0)) }
    for thread in threads where known[thread.tid] == nil {
      let name = SafeText.decode(thread.name)
      if globs.contains(where: { $0.1 == thread.tid || $0.0.matches(name) }) {
        add(thread.tid, &source)
      }
    }
  }

  /// Threads that loop, or did until they ended, but are not watched; oldest first.
  var unwatchedLoops: [NamedThread] {
    isNamed ? [] : search.loops.filter { known[$0.tid] == nil }
  }
}
