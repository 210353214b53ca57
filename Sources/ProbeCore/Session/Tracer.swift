// pw-tracer: the one thread that launches, signals, waits for and reaps the target.
// The kernel ties a child (and later ptrace) to the thread that made it.

/// The body of pw-tracer for a launched target.
struct Tracer {
  let request: LaunchRequest
  /// The command line as the summary shows it.
  let command: [String]
  let opening: Opening
  /// What watches the target has to be there before its first instruction: a wake-up of pw-poller and
  /// another of the target, which the target would feel in its start.
  let waitsForPoller: Bool
  let control: WatchControl
  let queue: EventQueue
  /// Captures that are wanted; nil for none.
  let desk: CaptureDesk?

  func run() {
    do throws(LaunchError) {
      let start = Clock.now()
      let held = try request.hold()
      let launched = LaunchedTarget(
        pid: held.pid, pidfd: held.pidfd, base: Clock.processCPU(held.pid) ?? .zero,
        word: waitsForPoller ? held.word : nil, releasedAt: Clock.now())
      if waitsForPoller {
        // Its events wait until we say "released".
        control.change { $0.held = launched }
        control.pollerBell.signal()
      } else {
        // pw-poller sleeps on: at its priority it would take the target's CPU while that starts.
        held.word.give()
      }
      opening.write(launched, command: command, at: start)
      let target = try held.started()
      // The kernel lets the target's ru_maxrss begin at the peak of the memory that it executed from.
      let resident = OwnMemory.residentPeak()
      control.change {
        $0.held = launched
        $0.isReleased = true
      }
      control.pollerBell.signal()
      control.mainBell.signal()
      follow(target, launcherResident: resident)
    } catch {
      let failure = error
      control.change { $0.launchFailure = failure }
      control.pollerBell.signal()
      control.mainBell.signal()
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
