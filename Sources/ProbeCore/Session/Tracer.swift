// pw-tracer: the one thread that signals, waits for and reaps the target, and asks for its stops.

/// The body of pw-tracer for a launched target.
struct Tracer {
  let control: WatchControl
  let queue: EventQueue
  /// Captures that are wanted; nil for none.
  let desk: CaptureDesk?

  /// Sleeps until there is something to do for a target; launching itself does not need it.
  func run() {
    var set = PollSet([control.tracerBell.descriptor.raw])
    while true {
      set.wait(nil)
      if control.read({ $0.launchFailure != nil }) { return }
      if let launch = control.takeTarget() {
        let resident = launch.launcherResident
        return follow(launch.target, launcherResident: resident)
      }
      control.tracerBell.drain()
    }
  }

  /// Serves the target until it has ended and is reaped.
  private func follow(_ target: consuming RunningTarget, launcherResident: UInt64?) {
    var set = PollSet([control.tracerBell.descriptor.raw])
    var waitsForEnd = false
    var captures = CaptureServer(target.pid)
    while !waitsForEnd || !set.isReady(1) {
      set.wait(nil)
      control.tracerBell.drain()
      let work = control.change { facts in
        let work = (
          outbox: facts.outbox, wantsJobChange: facts.wantsJobChange, isDone: facts.isWatchingDone
        )
        facts.outbox = []
        facts.wantsJobChange = false
        return work
      }
      // A target that has just ended takes no signals: normal.
      for signal in work.outbox { try? target.signal(signal) }
      if work.wantsJobChange { takeJobChanges(target) }
      if let desk, !work.isDone { captures.serve(desk) }
      // A zombie's last counters can still be read: the poller, which sees the end by itself, takes
      // them before we reap.
      if work.isDone, !waitsForEnd {
        waitsForEnd = true
        set.add(target.pidfd)
      }
    }
    let reaped = try? target.reap()  // ECHILD: somebody else took the status; then it is unknown
    let exit = TargetExit(
      at: Clock.now(), status: reaped?.status, maxResident: reaped?.maxResidentBytes,
      launcherResident: launcherResident)
    control.change { $0.exit = exit }
    control.mainBell.signal()
  }

  private func takeJobChanges(_ target: borrowing RunningTarget) {
    while let change = try? target.takeJobChange() {
      let time = Clock.now()
      switch change {
      case .stopped(let signal):
        queue.append(.stopped(true, at: time))
        control.change { $0.jobStop = signal }
      case .continued:
        queue.append(.stopped(false, at: time))
        control.change {
          $0.jobStop = nil
          $0.jobResumed = true
        }
      }
      control.mainBell.signal()
    }
  }
}
