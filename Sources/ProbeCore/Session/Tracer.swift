// pw-tracer: the one thread that launches, signals, waits for and reaps the target.
// The kernel ties a child (and later ptrace) to the thread that made it.

/// The body of pw-tracer for a launched target.
struct Tracer {
  let request: LaunchRequest
  let control: WatchControl
  let queue: EventQueue

  func run() {
    do throws(LaunchError) {
      let held = try request.hold()
      let handle = (pid: held.pid, pidfd: held.pidfd)
      control.change { $0.held = handle }
      control.mainBell.signal()
      var set = PollSet([control.tracerBell.descriptor.raw])
      while !control.read({ $0.isArmed || $0.failure != nil }) {
        set.wait(nil)
        control.tracerBell.drain()
      }
      if control.read({ $0.failure != nil }) { return }  // dropping `held` leaves no child
      let target = try held.release()
      control.change { $0.isReleased = true }
      control.pollerBell.signal()
      control.mainBell.signal()
      follow(target)
    } catch {
      let failure = error
      control.change { $0.launchFailure = failure }
      control.pollerBell.signal()
      control.mainBell.signal()
    }
  }

  /// Serves the target until it has ended and is reaped.
  private func follow(_ target: consuming RunningTarget) {
    var set = PollSet([control.tracerBell.descriptor.raw, target.pidfd])
    while true {
      set.wait(nil)
      control.tracerBell.drain()
      let work = control.change { facts in
        let work = (outbox: facts.outbox, wantsJobChange: facts.wantsJobChange)
        facts.outbox = []
        facts.wantsJobChange = false
        return work
      }
      // A target that has just ended takes no signals: normal.
      for signal in work.outbox { try? target.signal(signal) }
      if work.wantsJobChange { takeJobChanges(target) }
      if set.isReady(1) { break }
    }
    // A zombie's last counters can still be read: the poller takes them before we reap.
    while !control.read({ $0.isWatchingDone }) {
      set.disable(1)
      set.wait(nil)
      control.tracerBell.drain()
    }
    let reaped = try? target.reap()  // ECHILD: somebody else took the status; then it is unknown
    let exit = TargetExit(
      at: Clock.now(), status: reaped?.status, maxResident: reaped?.maxResidentBytes)
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
