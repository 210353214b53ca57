// Where captures are ordered, and where the copies are picked up: between pw-poller, pw-tracer and
// pw-recorder. The target's own time is guarded here: who is stopped when, and how often.

internal import Synchronization

/// A wish for one thread's stack.
struct CaptureOrder: Sendable, Equatable {
  var number = 0
  var tid: ThreadID
  /// The turn in which it is wanted; when that is over, it is not wanted any more.
  var turn: Instant
  var request = CaptureRequest()
  /// The order whose copy was not enough.
  var replaces: Int?
}

/// A copy that was made.
struct CapturedStack: Sendable {
  var order: CaptureOrder
  var snapshot: StackSnapshot
  /// What the thread waited for at that moment; nil if it did not, or it is not known.
  var wait: WaitReading?
  /// Stacks of threads that hold it up, by their place in the wait's chain.
  var holders: [Int: StackSnapshot] = [:]
}

/// What our own stops have added to a thread's counters and switch records.
struct OwnStops: Sendable, Equatable {
  /// Times that it went to sleep because of us.
  var sleeps: UInt64 = 0
  /// In each of these, oldest first, it went to sleep because of us.
  var windows: [ClosedRange<Instant>] = []

  static let windowsKept = 8

  /// - Parameter wasBlocked: it was waiting in the kernel, and went back to that afterwards.
  mutating func add(_ snapshot: StackSnapshot, wasBlocked: Bool) {
    guard let stop = snapshot.stop else { return }
    sleeps += wasBlocked ? 2 : 1
    windows.append(stop)
    if windows.count > Self.windowsKept { windows.removeFirst() }
  }
}

/// Shared by the three threads.
final class CaptureDesk: Sendable {
  /// Whether a moment was in a turn, by probes that came later.
  enum Witness: Sendable, Equatable {
    /// A later probe saw the same turn.
    case seen
    /// The next probe will tell.
    case awaited
    /// The turn was over at the next probe, so it may have been over then.
    case unseen
  }

  private struct Turn: Sendable {
    var start: Instant
    var lastSeen: Instant
    var isOpen = true
  }

  private struct Facts: Sendable {
    var orders: [CaptureOrder] = []
    var copies: [CapturedStack] = []
    var parkedOrder: ParkedOrder?
    var parked: [ParkedThreads] = []
    var waitOrders: [WaitStackOrder] = []
    var waitStacks: [WaitStackCopy] = []
    /// Rows whose stack is known.
    var waitsKnown: Set<WaitStackOrder> = []
    var turns: [ThreadID: [Turn]] = [:]
    var stops: [ThreadID: OwnStops] = [:]
    var costs = CaptureCosts()
    var cpu = Nanoseconds.zero
    var helperCPU = Nanoseconds.zero
    var dropped = 0
    var lastNumber = 0
    var refusal: CaptureRefusal?
    var isClosed = false
  }

  /// Orders and copies that may wait. Chosen: a copy is 64 KiB as a rule, 1 MiB at most.
  private static let capacity = 16
  /// Turns of a thread that are remembered: until their stacks were looked at.
  private static let turnsKept = 8

  let inAppPatterns: [String]
  /// Whether it is looked at what a stalled thread waits for.
  let takesCauses: Bool
  private let facts = Mutex(Facts())
  /// Held while a thread is captured, and while a watched thread is probed: a probe must not see our
  /// own stop, nor its counters half-way through one.
  private let gate = Mutex(())
  private let thread = Mutex<OSThread?>(nil)
  private let control: WatchControl
  private let queue: EventQueue

  init(
    control: WatchControl, queue: EventQueue, inAppPatterns: [String], takesCauses: Bool = true
  ) {
    self.takesCauses = takesCauses
    self.control = control
    self.queue = queue
    self.inAppPatterns = inAppPatterns
  }

  // MARK: pw-poller and pw-recorder

  /// Orders a capture. Nothing happens if there is no room: there will be other moments.
  func order(_ order: CaptureOrder) {
    let isTaken = facts.withLock { facts in
      guard facts.orders.count < Self.capacity, !facts.isClosed, facts.refusal == nil else {
        return false
      }
      facts.lastNumber += 1
      var order = order
      order.number = facts.lastNumber
      facts.orders.append(order)
      return true
    }
    if isTaken { control.tracerBell.signal() }
  }

  /// Orders a look at the threads of an alarm.
  func order(_ order: ParkedOrder) {
    let isTaken = facts.withLock { facts in
      guard !facts.isClosed, facts.refusal == nil else { return false }
      facts.parkedOrder = order
      return true
    }
    if isTaken { control.tracerBell.signal() }
  }

  /// Orders the stack of a wait; false if that is known already.
  func order(_ order: WaitStackOrder) -> Bool {
    let isTaken = facts.withLock { facts in
      guard !facts.isClosed, facts.refusal == nil, facts.waitOrders.count < 4,
        !facts.waitsKnown.contains(order)
      else { return false }
      facts.waitOrders.append(order)
      return true
    }
    if isTaken { control.tracerBell.signal() }
    return isTaken
  }

  /// On pw-poller, of an attached target: there has to be a pw-tracer from now on.
  func startTracer(_ pid: ProcessID) {
    thread.withLock { thread in
      guard thread == nil else { return }
      // Without a thread there are no stacks; that is said at the end.
      thread = try? OSThread(name: "pw-tracer") { self.serve(pid) }
    }
  }

  /// A probe saw the turn going on.
  func saw(_ tid: ThreadID, _ turn: OpenTurn) {
    facts.withLock { facts in
      var turns = facts.turns[tid] ?? []
      if let last = turns.last, last.isOpen, last.start == turn.start {
        turns[turns.count - 1].lastSeen = turn.lastSeen
      } else {
        if !turns.isEmpty { turns[turns.count - 1].isOpen = false }
        turns.append(Turn(start: turn.start, lastSeen: turn.lastSeen))
        if turns.count > Self.turnsKept { turns.removeFirst() }
      }
      facts.turns[tid] = turns
    }
  }

  /// A probe saw that the turn is over.
  func sawNoTurn(_ tid: ThreadID) {
    facts.withLock { facts in
      facts.orders.removeAll { $0.tid == tid }
      guard let count = facts.turns[tid]?.count, count > 0 else { return }
      facts.turns[tid]?[count - 1].isOpen = false
    }
  }

  /// Watching is over: nobody is captured any more.
  func stop() {
    facts.withLock { facts in
      facts.orders.removeAll()
      facts.parkedOrder = nil
      facts.waitOrders = []
      for tid in facts.turns.keys {
        let count = facts.turns[tid]?.count ?? 0
        if count > 0 { facts.turns[tid]?[count - 1].isOpen = false }
      }
      facts.isClosed = true
    }
  }

  /// Runs what looks at a thread, while nobody is stopped by us.
  ///
  /// - Parameter body: gets what our stops have done to the thread so far.
  func undisturbed(_ tid: ThreadID, _ body: (OwnStops) -> Void) {
    gate.withLock { _ in body(facts.withLock { $0.stops[tid] } ?? OwnStops()) }
  }

  var costs: CaptureCosts { facts.withLock { $0.costs } }
  /// CPU that captures and names have taken; not that of the lines at the end, nor of helpers.
  var cpu: Nanoseconds { facts.withLock { $0.cpu } }
  /// CPU of helpers, which is not in our own clock.
  var helperCPU: Nanoseconds { facts.withLock { $0.helperCPU } }
  var dropped: Int { facts.withLock { $0.dropped } }
  /// Why there are no captures; nil if there are.
  var refusal: CaptureRefusal? { facts.withLock { $0.refusal } }

  // MARK: pw-recorder

  func takeCopies() -> [CapturedStack] {
    facts.withLock { facts in
      defer { facts.copies = [] }
      return facts.copies
    }
  }

  func takeParked() -> [ParkedThreads] {
    facts.withLock { facts in
      defer { facts.parked = [] }
      return facts.parked
    }
  }

  func takeWaitStacks() -> [WaitStackCopy] {
    facts.withLock { facts in
      defer { facts.waitStacks = [] }
      return facts.waitStacks
    }
  }

  func witness(_ tid: ThreadID, _ time: Instant) -> Witness {
    facts.withLock { facts in
      let turns = facts.turns[tid] ?? []
      if turns.contains(where: { $0.start <= time && time <= $0.lastSeen }) { return .seen }
      guard let last = turns.last, last.isOpen, last.start <= time else { return .unseen }
      return .awaited
    }
  }

  /// CPU that went into unwinding and names.
  func spent(_ time: Nanoseconds) { facts.withLock { $0.cpu += time } }

  func helpersSpent(_ time: Nanoseconds) { facts.withLock { $0.helperCPU = time } }

  // MARK: pw-tracer

  /// The body of pw-tracer for a target that was attached to.
  private func serve(_ pid: ProcessID) {
    var server = CaptureServer(pid)
    var set = PollSet([control.tracerBell.descriptor.raw])
    while !facts.withLock({ $0.isClosed }) {
      server.serve(self)
      set.wait(nil)
      control.tracerBell.drain()
    }
  }

  /// Ends the pw-tracer of an attached target, if there is one.
  func join() {
    stop()
    control.tracerBell.signal()
    thread.withLock { $0.take() }?.join()
  }

  /// The next order whose turn still goes on.
  func nextOrder() -> CaptureOrder? {
    facts.withLock { facts in
      while !facts.orders.isEmpty {
        let order = facts.orders.removeFirst()
        if let turn = facts.turns[order.tid]?.last, turn.isOpen, turn.start == order.turn {
          return order
        }
      }
      return nil
    }
  }

  var hasOrders: Bool { facts.withLock { !$0.orders.isEmpty } }

  func nextParkedOrder() -> ParkedOrder? {
    facts.withLock { facts in
      defer { facts.parkedOrder = nil }
      return facts.parkedOrder
    }
  }

  func nextWaitOrder() -> WaitStackOrder? {
    facts.withLock { $0.waitOrders.isEmpty ? nil : $0.waitOrders.removeFirst() }
  }

  func deliver(_ copy: WaitStackCopy, took time: Nanoseconds) {
    facts.withLock { facts in
      facts.cpu += time
      facts.costs.add(copy.snapshot.stopTime)
      facts.waitsKnown.insert(copy.order)
      facts.waitStacks.append(copy)
    }
    queue.wake()
  }

  func deliver(_ parked: ParkedThreads, took time: Nanoseconds) {
    facts.withLock { facts in
      facts.cpu += time
      for thread in parked.threads { facts.costs.add(thread.snapshot.stopTime) }
      facts.parked.append(parked)
      if facts.parked.count > 4 { facts.parked.removeFirst() }
    }
    queue.wake()
  }

  /// Runs the capture of a thread while nobody probes; the next probe knows of the stop.
  ///
  /// - Parameter wasBlocked: it waits in the kernel, and goes back to that afterwards.
  func capturing(
    _ tid: ThreadID, wasBlocked: Bool = false,
    _ capture: () -> Result<StackSnapshot?, CaptureRefusal>
  ) -> Result<StackSnapshot?, CaptureRefusal> {
    gate.withLock { _ in
      let result = capture()
      if case .success(let snapshot?) = result {
        // It may be a watched loop itself, be it captured for another's sake.
        facts.withLock { $0.stops[tid, default: OwnStops()].add(snapshot, wasBlocked: wasBlocked) }
      }
      return result
    }
  }

  func deliver(_ copy: CapturedStack, took time: Nanoseconds) {
    facts.withLock { facts in
      facts.cpu += time
      facts.costs.add(copy.snapshot.stopTime)
      for holder in copy.holders.values { facts.costs.add(holder.stopTime) }
      if facts.copies.count < Self.capacity {
        facts.copies.append(copy)
      } else {
        facts.dropped += 1
      }
    }
    queue.wake()
  }

  /// There will be no captures of this process.
  func giveUp(_ refusal: CaptureRefusal) {
    facts.withLock { facts in
      facts.refusal = refusal
      facts.orders.removeAll()
    }
  }
}
