// What the threads of one watch tell each other: a few facts under one lock, and three bells.

internal import Synchronization

/// A process of ours that has executed or will.
struct LaunchedTarget: Sendable {
  let pid: ProcessID
  let pidfd: Int32
  /// Its CPU time when it had been made: ours, not the target's. What it takes from there to exec
  /// counts as the target's own, as exec itself does.
  let base: Nanoseconds
}

/// A target that has executed, on its way to pw-tracer.
struct Handover: ~Copyable, Sendable {
  let target: RunningTarget
  /// Peak of our own memory when it executed, in bytes; nil if not known.
  let launcherResident: UInt64?
}

/// Shared by main, pw-tracer and pw-poller. Facts only ever get added, so nobody waits with the lock held.
final class WatchControl: Sendable {
  struct Facts: Sendable {
    var launchFailure: LaunchError?
    /// The launched target, once it has executed.
    var released: ProcessID?
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
  private let handover = Mutex<Handover?>(nil)
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

  /// Leaves the target to pw-tracer, which is not woken for that.
  func handOver(_ target: consuming RunningTarget, launcherResident: UInt64?) {
    var next: Handover? = Handover(target: target, launcherResident: launcherResident)
    handover.withLock { $0 = next.take() }
  }

  /// The target, once.
  func takeTarget() -> Handover? { handover.withLock { $0.take() } }
}
