// Makes the captures that were ordered, one after the other. Lives on pw-tracer.

/// The captures of one process.
struct CaptureServer: ~Copyable {
  private let pid: ProcessID
  /// Made for the first order: most runs never need it.
  private var capturer: StackCapturer?
  private var finder: WaitFinder
  /// Stacks of holders that were taken in a turn.
  private var holders: (tid: ThreadID, turn: Instant, count: Int)?
  /// Chosen: one at the first stack, which may be before the stall is one, and one after that.
  private static let holderRounds = 2
  private static let holdersAtOnce = 8

  init(_ pid: ProcessID) {
    self.pid = pid
    finder = WaitFinder(pid)
  }

  /// Makes all captures that are ordered and still wanted.
  mutating func serve(_ desk: CaptureDesk) {
    serveOrders(desk)
    if let order = desk.nextParkedOrder() { look(order, desk) }
    while let order = desk.nextWaitOrder() {
      let cpu = Clock.threadCPU()
      guard let copy = captureWait(order) else { continue }
      desk.deliver(copy, took: Clock.threadCPU() - cpu)
    }
  }

  private mutating func serveOrders(_ desk: CaptureDesk) {
    while let order = desk.nextOrder() {
      do throws(CaptureRefusal) {
        if capturer == nil {
          capturer = try StackCapturer(pid)
          // The target stands still while we wait for a CPU.
          OSThread.raisePriority()
        }
        try capture(order, desk)
      } catch {
        // Ended, moved on, not to be stopped where it is: there is no stack of this moment.
        if error == .notPermitted || error == .wrongMachine { desk.giveUp(error) }
      }
    }
  }

  /// The stack of a thread that still waits where it was seen; never by a stop.
  private mutating func captureWait(_ order: WaitStackOrder) -> WaitStackCopy? {
    do throws(CaptureRefusal) {
      if capturer == nil { capturer = try StackCapturer(pid) }
      guard let snapshot = try capturer?.capture(order.tid, CaptureRequest(mayStop: false)),
        case .inside(let call)? = capturer?.line,
        Int32(truncatingIfNeeded: call.number) == order.site.call,
        call.stackPointer == order.site.stackPointer,
        call.programCounter == order.site.programCounter
      else { return nil }
      return WaitStackCopy(order: order, snapshot: snapshot)
    } catch {
      return nil
    }
  }

  /// Where the threads of an alarm are. Those that run are left alone: what they are blocked in is asked.
  private mutating func look(_ order: ParkedOrder, _ desk: CaptureDesk) {
    let cpu = Clock.threadCPU()
    do throws(CaptureRefusal) {
      if capturer == nil { capturer = try StackCapturer(pid) }
    } catch {
      return
    }
    var found = ParkedThreads(order: order, at: Clock.now())
    for tid in order.threads {
      // Stalls cannot wait.
      if desk.hasOrders { serveOrders(desk) }
      let result = Result { () throws(CaptureRefusal) in
        try capturer?.capture(tid, CaptureRequest(mayStop: false))
      }
      switch result {
      case .success(let snapshot?):
        if let line = capturer?.line {
          found.add(snapshot, line) { finder.find(tid, line, at: $0) }
        }
      case .failure(.moved): found.running += 1
      case .success(nil), .failure: break
      }
    }
    desk.deliver(found, took: Clock.threadCPU() - cpu)
  }

  private mutating func capture(
    _ order: CaptureOrder, _ desk: CaptureDesk
  ) throws(CaptureRefusal) {
    let begin = Clock.now()
    let result = desk.capturing(order.tid, wasBlocked: order.request.needsRegisters) {
      Result { () throws(CaptureRefusal) in try capturer?.capture(order.tid, order.request) }
    }
    guard let snapshot = try result.get() else { throw CaptureRefusal.gone }
    var copy = CapturedStack(order: order, snapshot: snapshot)
    let took = Clock.now() - begin
    let cpu = Clock.threadCPU()
    // A better copy of the same stack brings nothing new.
    if order.replaces == nil, desk.takesCauses { findWait(&copy, desk) }
    desk.deliver(copy, took: took + (Clock.threadCPU() - cpu))
  }

  /// What the thread waits for and, where that is a lock with a known holder, what that one does.
  private mutating func findWait(_ copy: inout CapturedStack, _ desk: CaptureDesk) {
    guard let line = capturer?.line,
      var found = finder.find(
        copy.order.tid, line, at: copy.snapshot.takenAt, turn: copy.order.turn)
    else { return }
    defer { copy.wait = found.reading }
    let chain = found.reading.chain
    guard !chain.isEmpty else { return }
    let (tid, turn) = (copy.order.tid, copy.order.turn)
    let count = holders.map { $0.tid == tid && $0.turn == turn ? $0.count : 0 } ?? 0
    guard count < Self.holderRounds else { return }
    holders = (tid, turn, count + 1)
    for index in chain.indices.prefix(Self.holdersAtOnce) {
      let holder = chain[index].tid
      // A thread that cannot be captured is named all the same.
      let result = desk.capturing(holder) {
        Result { () throws(CaptureRefusal) in try capturer?.capture(holder) }
      }
      if let snapshot = try? result.get() { copy.holders[index] = snapshot }
    }
    if !finder.isStillHeld(found) { found.reading.isProbable = true }
  }
}
