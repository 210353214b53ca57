// Makes the target, on the thread that watches it from its first instruction on: a thread of its own for
// that would hand over twice, and each time the kernel may put the next one behind the target.

/// Launches one target. Made and used on pw-poller; the running target goes to pw-tracer.
struct Launcher: ~Copyable {
  private let request: LaunchRequest
  /// The command line as the summary shows it.
  private let command: [String]
  private let opening: Opening
  private let control: WatchControl
  private let start = Clock.now()
  private var held: HeldTarget?
  private var launched: LaunchedTarget?

  init(
    _ request: LaunchRequest, command: [String], opening: Opening, control: WatchControl
  ) {
    self.request = request
    self.command = command
    self.opening = opening
    self.control = control
  }

  /// Makes the target's process; it has executed nothing yet.
  ///
  /// - Returns: nil when it could not be made; that was said.
  mutating func hold() -> LaunchedTarget? {
    do throws(LaunchError) {
      let held = try request.hold()
      let launched = LaunchedTarget(
        pid: held.pid, pidfd: held.pidfd, base: Clock.processCPU(held.pid) ?? .zero)
      self.held = consume held
      self.launched = launched
      return launched
    } catch {
      tell(error)
      return nil
    }
  }

  /// Lets the target execute, waits until it has, and hands it to pw-tracer.
  ///
  /// - Returns: when it was let go; nil when it could not be executed, which was said.
  mutating func release() -> Instant? {
    guard let launched, let held = held.take() else { return nil }
    let released = Clock.now()
    held.word.give()
    opening.write(launched, command: command, at: start)
    do throws(LaunchError) {
      let target = try held.started()
      // The kernel lets the target's ru_maxrss begin at the peak of the memory that it executed from.
      control.handOver(target, launcherResident: OwnMemory.residentPeak())
      control.change { $0.released = launched.pid }
      control.mainBell.signal()
      return released
    } catch {
      tell(error)
      return nil
    }
  }

  private func tell(_ failure: LaunchError) {
    control.change { $0.launchFailure = failure }
    control.tracerBell.signal()
    control.mainBell.signal()
  }
}
