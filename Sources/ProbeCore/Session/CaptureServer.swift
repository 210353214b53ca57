// Makes the captures that were ordered, one after the other. Lives on pw-tracer.

/// The captures of one process.
struct CaptureServer: ~Copyable {
  private let pid: ProcessID
  /// Made for the first order: most runs never need it.
  private var capturer: StackCapturer?

  init(_ pid: ProcessID) { self.pid = pid }

  /// Makes all captures that are ordered and still wanted.
  mutating func serve(_ desk: CaptureDesk) {
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

  private mutating func capture(
    _ order: CaptureOrder, _ desk: CaptureDesk
  ) throws(CaptureRefusal) {
    let begin = Clock.now()
    let result = desk.capturing {
      Result { () throws(CaptureRefusal) in
        guard let snapshot = try capturer?.capture(order.tid, order.request) else {
          throw CaptureRefusal.gone
        }
        return snapshot
      }
    }
    desk.deliver(
      CapturedStack(order: order, snapshot: try result.get()), asked: begin,
      took: Clock.now() - begin)
  }
}
