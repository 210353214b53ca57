// Stacks of waits outside of stalls, where the user asked for them: one for each place where a watched
// thread waits, taken while it is there and without a stop.

/// A wish for the stack of one row of a wait profile.
struct WaitStackOrder: Sendable, Hashable {
  var tid: ThreadID
  var row: Int
  /// Where the thread has to be found for the stack to be that row's.
  var site: WaitSite
}

/// A copy that was made.
struct WaitStackCopy: Sendable {
  var order: WaitStackOrder
  var snapshot: StackSnapshot
}

extension LoopWatcher {
  /// A row is asked for so often: it may have gone on meanwhile. Chosen.
  private static let tries = 5
  /// Chosen: twenty captures a second at most.
  private static let pause = Nanoseconds.milliseconds(50)

  /// Orders the stack of the wait that the last probe saw, if it is not known.
  func orderWaitStack(_ loop: WatchedLoop) {
    guard settings.takesWaitStacks, let desk, !loop.isGone, !loop.isOnTrial,
      let row = loop.detector.waits.current, let probe = loop.lastProbe,
      case .waiting(let wait) = probe.state, probe.at - loop.stackAskedAt >= Self.pause,
      loop.detector.waits.rows[row].key.site == wait.site
    else { return }
    while loop.stackTries.count <= row { loop.stackTries.append(0) }
    guard loop.stackTries[row] < Self.tries else { return }
    // The pw-tracer of a launched target is there already.
    if launchedAt == nil { desk.startTracer(pid) }
    guard desk.order(WaitStackOrder(tid: loop.sampler.tid, row: row, site: wait.site)) else {
      loop.stackTries[row] = Self.tries
      return
    }
    loop.stackTries[row] += 1
    loop.stackAskedAt = probe.at
  }
}

extension StackKeeper {
  /// Tells of stacks of waits.
  func tell(_ copies: [WaitStackCopy], into out: inout ByteWriter) {
    guard !copies.isEmpty else { return }
    let unwound = copies.map { resolver.unwind($0.snapshot).stack }
    let numbers = numbers(of: unwound.map { resolver.places(of: $0.frames) }, into: &out)
    for (index, copy) in copies.enumerated() {
      EventCodec.encode(
        .waitStack(
          WaitStackReading(
            tid: copy.order.tid, row: copy.order.row, places: numbers[index],
            truncation: unwound[index].truncation)), into: &out)
    }
  }
}
