// CPU of every thread at every tick, at the price of the threads that ran.
// Files stay open, one buffer is reused, and threads that cannot have run are not read at all.

/// Samples /proc/<pid>/task.
///
/// How reading all threads is avoided: the process's CPU clock is the sum of all threads' counters plus
/// those of exited ones, and every counter only grows. So when the clock, read before and after, stands
/// still, and the threads that ran lately explain all of its growth to the nanosecond, no other thread
/// has run. A thousand parked threads then cost nothing; threads that all run cost one read each.
struct ThreadSampler: ~Copyable {
  /// Threads are listed at least so often, even if looks explain all that ran. Chosen.
  private static let listingAge = Nanoseconds.seconds(5)

  private var directory: NumberedDirectory
  var slots: [ThreadSlot] = []
  private var index = NumberIndex()
  private var listed: [Int32] = []
  private var changed: [Int] = []
  /// The first slots are those that ran in the last tick.
  private var hotCount = 0
  /// Process clock less the sum of the slots' counters, valid while `isBalanced`.
  private var offset = Nanoseconds.zero
  private var isBalanced = false
  /// The process clock when it was balanced or explained last.
  private var lastClock: Nanoseconds?
  /// The process clock at the last tick or look that was written.
  private(set) var seenClock: Nanoseconds?
  /// Looks between full ticks, with the first slots as their threads.
  private var quick = QuickLooks()
  var detailCursor = 0
  private(set) var lastListing = Instant(nanoseconds: 0)
  /// Threads whose file could not be kept open.
  private(set) var unkept = 0
  /// No descriptor was left at some time: new files are not kept any more.
  private var isFull = false
  /// Files given up when none is left, so that all others can still be opened in turn. Chosen.
  private static let spareFiles = 8
  /// Reads of schedstat so far, for the tests and the benchmark.
  private(set) var reads = 0

  /// What the only thread of a launched process had used when it was let go; it may have run since.
  private let launchBase: Nanoseconds?

  init(
    _ source: borrowing ProcSource, launchBase: Nanoseconds? = nil
  ) throws(ReadingError) {
    self.launchBase = launchBase
    do {
      directory = try NumberedDirectory(source.path("task"))
    } catch {
      throw ReadingError(error)
    }
  }

  deinit {
    for slot in slots where slot.file >= 0 { _ = FileDescriptor(owning: slot.file) }
  }

  var count: Int { slots.count }

  /// How many threads ran in the last tick: those at the first places.
  var recentCount: Int { hotCount }

  /// - Parameter place: below `count`.
  func thread(at place: Int) -> (tid: Int32, name: [UInt8]) {
    (slots[place].tid, slots[place].name)
  }

  /// The threads of the last look with their raw names.
  var threads: [(tid: Int32, name: [UInt8])] { slots.map { ($0.tid, $0.name) } }

  /// Any thread that was alive at the last look, for files that a dead leader no longer has.
  var anyThread: Int32? { slots.last?.tid }

  // MARK: Ticks

  /// Reads what may have changed and writes one tick event, after the events of threads that came or went.
  ///
  /// - Returns: how many events were written.
  mutating func tick(
    at time: Instant, late: Nanoseconds, skipped: Int, clock: Nanoseconds?,
    clockAgain: () -> Nanoseconds?, isFirst: Bool = false, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    quick.ticks.disarm()
    changed.removeAll(keepingCapacity: true)
    let isListingDue =
      isFirst || time - lastListing >= .seconds(1)
      || (expectedCount().map { $0 != slots.count } ?? false)
    if isListingDue {
      frames += list(at: time, isFirst: isFirst, &source, into: &out)
    }
    // Nothing has run since the last look.
    let isIdle = isBalanced && clock != nil && clock == lastClock && !isListingDue
    if !isIdle { read(0..<hotCount, &source) }
    let isSettled = isIdle || (isBalanced && clock != nil && clock == sum + offset)
    if !isSettled { read(hotCount..<slots.count, &source) }
    frames += removeGone(at: time, into: &out)
    if !isIdle { gatherHot() }
    if isSettled { lastClock = clock } else { balance(clock, clockAgain, &source) }
    // They are at the first places now.
    slots.writeTick(
      at: time, late: late, skipped: skipped, clock: clock, 0..<changed.count, into: &out)
    frames += 1
    frames += checkNames(hotCount, &source, into: &out)
    seenClock = clock
    return frames
  }

  private var sum: Nanoseconds { slots.reduce(.zero) { $0 + $1.cpu } }

  private func expectedCount() -> Int? {
    guard let links = try? directory.linkCount(), links > 2 else { return nil }
    return links - 2
  }

  /// After all were read. While threads run the clock moves on: then those that ran in this tick are
  /// read once more, close to the clock. Should another have run in the moment between, it is charged
  /// when it runs again.
  private mutating func balance(
    _ before: Nanoseconds?, _ again: () -> Nanoseconds?, _ source: inout ProcSource
  ) {
    isBalanced = false
    guard let before, var clock = again() else { return }
    if clock != before {
      guard hotCount <= QuickTicks.maxThreads, let now = again() else { return }
      clock = now
      for place in 0..<hotCount {
        guard let reading = readSchedStat(place, &source) else { return }
        slots[place].cpu = reading.cpu
        slots[place].runDelay = reading.runDelay
      }
    }
    offset = clock - sum
    lastClock = clock
    isBalanced = true
  }

  private mutating func read(_ range: Range<Int>, _ source: inout ProcSource) {
    for place in range {
      reads += 1
      guard let reading = readSchedStat(place, &source) else {
        slots[place].isListed = false
        continue
      }
      if reading.cpu != slots[place].cpu || reading.runDelay != slots[place].runDelay {
        slots[place].cpu = reading.cpu
        slots[place].runDelay = reading.runDelay
        slots[place].needsDetail = true
        changed.append(place)
      }
    }
  }

  private mutating func readSchedStat(_ place: Int, _ source: inout ProcSource) -> SchedStat? {
    let file = slots[place].file
    // A thread that is gone answers ESRCH; anything unreadable is treated as gone and listed again.
    let count =
      file >= 0
      ? try? source.read(file) : try? source.readOnce("task/\(slots[place].tid)/schedstat")
    guard let count else { return nil }
    return try? SchedStat(source.buffer.span.extracting(0..<count))
  }

  /// Moves the slots that changed to the front, so that the next tick begins with them.
  private mutating func gatherHot() {
    if changed.count > 1 { changed.sort() }
    for (place, from) in changed.enumerated() where place != from {
      slots.swapAt(place, from)
      index[slots[place].tid] = place
      index[slots[from].tid] = from
    }
    hotCount = changed.count
  }

  // MARK: Quick looks

  /// Prepares quick looks, if the threads that ran lately are few enough and explain the clock.
  ///
  /// - Parameter statm: the process's kept file; -1 for none.
  mutating func arm(statm: Int32) {
    guard isBalanced, let lastClock, hotCount <= QuickTicks.maxThreads else { return }
    quick.arm(slots[0..<hotCount], clock: lastClock, statm: statm)
  }

  /// Instead of a tick: notes what the threads that ran lately have used, if that explains the clock.
  mutating func look(
    at time: Instant, late: Nanoseconds, skipped: Int, clock: Nanoseconds?
  ) -> QuickTicks.Answer {
    quick.ticks.take(at: time, late: late, skipped: skipped, clock: clock)
  }

  /// Waits and looks at a steady beat, as long as nothing else is to do; nil if it cannot.
  mutating func lookOn(_ beat: inout QuickTicks.Beat, _ set: inout WaitSet) -> QuickTicks.Answer? {
    quick.ticks.lookOn(&beat, &set)
  }

  /// Prepares a look at the slower beat, at which memory is read in any case.
  ///
  /// - Returns: false if threads have come or gone, or may have: take a full tick.
  mutating func prepareSlowLook(at time: Instant) -> Bool {
    guard time - lastListing < Self.listingAge, expectedCount() == slots.count else { return false }
    quick.ticks.expectNewPages()
    return true
  }

  /// When the oldest look was taken that has not been written.
  var oldestLook: Instant? { quick.oldest }

  /// Writes the looks since the last tick as ticks, as if they had been.
  ///
  /// - Parameter memory: the last reading, which holds for looks at which no page had come or gone.
  /// - Returns: how many events were written.
  mutating func writeLooks(memory: MemoryReading?, into out: inout ByteWriter) -> Int {
    lastClock = quick.lastClock ?? lastClock
    seenClock = quick.lastClock ?? seenClock
    return quick.write(&slots, memory: memory, into: &out)
  }

  // MARK: Threads that come and go

  private mutating func list(
    at time: Instant, isFirst: Bool, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    // Gone: the exit is seen elsewhere.
    guard (try? directory.list(into: &listed)) != nil else { return 0 }
    lastListing = time
    var frames = 0
    for place in slots.indices { slots[place].isListed = false }
    for tid in listed {
      if let place = index[tid] {
        slots[place].isListed = true
      } else if var slot = openSlot(tid, &source) {
        if isFirst, let launchBase, tid == source.pid.rawValue {
          slot.cpu = min(slot.cpu, launchBase)
          slot.runDelay = .zero
        }
        // What we launched began with one thread.
        let isNew = !isFirst || launchBase != nil && tid != source.pid.rawValue
        index[tid] = slots.count
        slots.append(slot)
        isBalanced = false
        let seen = ThreadSeen(
          tid: ThreadID(tid), name: slot.name, isNew: isNew, cpu: slot.cpu,
          runDelay: slot.runDelay, at: time)
        EventCodec.encode(.threadSeen(seen), into: &out)
        frames += 1
      }
    }
    return frames + removeGone(at: time, into: &out)
  }

  private mutating func openSlot(_ tid: Int32, _ source: inout ProcSource) -> ThreadSlot? {
    var raw: Int32 = -1
    if isFull {
      unkept += 1
    } else {
      do {
        let file = try directory.open("\(tid)/schedstat")
        raw = file.release()
      } catch {
        // EMFILE, ENFILE: read it without keeping it. Gone between listing and opening: no thread.
        guard !error.isGone, !error.isNotPermitted else { return nil }
        unkept += 1
        makeRoom()
      }
    }
    var slot = ThreadSlot(tid: tid, file: raw, cpu: .zero, runDelay: .zero, name: [])
    guard
      let count = raw >= 0
        ? try? source.read(raw) : try? source.readOnce("task/\(tid)/schedstat"),
      let reading = try? SchedStat(source.buffer.span.extracting(0..<count))
    else {
      if raw >= 0 { _ = FileDescriptor(owning: raw) }
      return nil
    }
    slot.cpu = reading.cpu
    slot.runDelay = reading.runDelay
    if let count = try? source.readOnce("task/\(tid)/comm") {
      slot.name = Comm.name(source.buffer.span.extracting(0..<count))
    }
    return slot
  }

  /// Gives up some kept files.
  private mutating func makeRoom() {
    isFull = true
    for place in slots.indices.reversed().prefix(Self.spareFiles) where slots[place].file >= 0 {
      _ = FileDescriptor(owning: slots[place].file)
      slots[place].file = -1
      unkept += 1
    }
  }

  /// Drops the slots that are no longer listed.
  private mutating func removeGone(at time: Instant, into out: inout ByteWriter) -> Int {
    guard slots.contains(where: { !$0.isListed }) else { return 0 }
    isBalanced = false
    var frames = 0
    let wasChanged = changed.map { slots[$0].tid }
    var kept: [ThreadSlot] = []
    kept.reserveCapacity(slots.count)
    for slot in slots {
      if slot.isListed {
        kept.append(slot)
        continue
      }
      if slot.file >= 0 { _ = FileDescriptor(owning: slot.file) }
      EventCodec.encode(.threadEnded(ThreadID(slot.tid), at: time), into: &out)
      frames += 1
    }
    slots = kept
    index.removeAll()
    for (place, slot) in slots.enumerated() { index[slot.tid] = place }
    changed = wasChanged.compactMap { index[$0] }
    hotCount = min(hotCount, slots.count)
    return frames
  }
}
