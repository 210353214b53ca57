// What the threads of one watch tell each other: a few facts under one lock, and three bells.

internal import Synchronization

/// A process of ours that has executed or will.
struct LaunchedTarget: Sendable {
  let pid: ProcessID
  let pidfd: Int32
  /// Its CPU time when it had been made: ours, not the target's. What it takes from there to exec
  /// counts as the target's own, as exec itself does.
  let base: Nanoseconds
  /// Still to be given, when pw-poller is ready; nil when it was given at once.
  let word: HeldTarget.Word?
  /// When it was given at once; with `word` it is the poller who knows.
  let releasedAt: Instant
}

/// Shared by main, pw-tracer and pw-poller. Facts only ever get added, so nobody waits with the lock held.
final class WatchControl: Sendable {
  struct Facts: Sendable {
    /// The launched process, held before exec; its pidfd stays pw-tracer's until that thread ends.
    var held: LaunchedTarget?
    var launchFailure: LaunchError?
    /// The target has executed.
    var isReleased = false
    /// Signals to send, in order; pw-tracer sends them.
    var outbox: [Int32] = []
    var wantsJobChange = false
    /// The target was stopped by job control with this signal.
    var jobStop: Int32?
    var jobResumed = false
    /// End watching; the target goes on.
    var stopsWatching = false
    /// A budget is broken for good, and the run is to end for that.
    var isBudgetLost = false
    var isWatchingDone = false
    var exit: TargetExit?
    /// How often perfwatch itself was stopped: time that must not count as lateness.
    var suspensions = 0
  }

  private let facts = Mutex(Facts())
  let mainBell: WakeUp
  let tracerBell: WakeUp
  let pollerBell: WakeUp

  init() throws(SystemError) {
    mainBell = try WakeUp()
    tracerBell = try WakeUp()
    pollerBell = try WakeUp()
  }

  /// A look at the facts.
  func read<T: Sendable>(_ body: (Facts) -> T) -> T {
    facts.withLock { body($0) }
  }

  /// Changes the facts. Ring the bell of whom it concerns afterwards.
  func change<T: Sendable>(_ body: (inout sending Facts) -> T) -> T {
    facts.withLock { body(&$0) }
  }

  /// On pw-poller: waits until the target's process exists.
  ///
  /// - Returns: nil when it could not be made; that was said then.
  func waitForHeld() -> LaunchedTarget? {
    var set = PollSet([pollerBell.descriptor.raw])
    while true {
      let state = read { ($0.held, $0.launchFailure != nil) }
      if let held = state.0 { return held }
      if state.1 {
        Poller.end(self)
        return nil
      }
      set.wait(nil)
      pollerBell.drain()
    }
  }
}
