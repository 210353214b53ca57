// The times at which a watch ends by itself: --duration, --timeout and the grace before SIGKILL.

/// Deadlines of one watch.
struct Limits {
  private var duration: Instant?
  private var timeout: Instant?
  private var kill: Instant?
  private let killAfter: Nanoseconds
  /// The target has run into `--timeout`.
  private(set) var hasTimedOut = false
  private(set) var hasStoppedWatching = false
  private var hasReachedDuration = false
  /// A budget ended the run.
  private(set) var hasAborted = false

  init(_ configuration: WatchConfiguration, start: Instant) {
    duration = configuration.duration.map { start + $0 }
    timeout = configuration.timeout.map { start + $0 }
    killAfter = configuration.killAfter
  }

  /// The next deadline.
  var next: Instant? { [duration, timeout, kill].compactMap { $0 }.min() }

  /// Ends the run because a budget is broken: a launched target is asked to end, an attached one is let
  /// go.
  ///
  /// - Returns: the signals that are due for the target.
  mutating func abort(at time: Instant, isLaunched: Bool, _ control: WatchControl) -> [Int32] {
    guard !hasAborted, !hasTimedOut else { return [] }
    hasAborted = true
    // What ended the run stays what ended it.
    timeout = nil
    guard isLaunched else {
      stopWatching(control)
      return []
    }
    kill = time + killAfter
    return [SignalNumber.terminate]
  }

  /// Asks the poller for its last look.
  mutating func stopWatching(_ control: WatchControl) {
    hasStoppedWatching = true
    duration = nil
    control.change { $0.stopsWatching = true }
    control.pollerBell.signal()
  }

  /// The signals that are due for the target.
  mutating func due(at time: Instant, _ control: WatchControl) -> [Int32] {
    var signals: [Int32] = []
    if let at = duration, time >= at {
      hasReachedDuration = true
      stopWatching(control)
    }
    if let at = timeout, time >= at {
      timeout = nil
      hasTimedOut = true
      kill = time + killAfter
      signals.append(SignalNumber.terminate)
    }
    if let at = kill, time >= at {
      kill = nil
      signals.append(SignalNumber.kill)
    }
    return signals
  }

  /// Why watching ended.
  func reason(or other: EndReason, exited: Bool) -> EndReason {
    if hasAborted { return .budget }
    if hasTimedOut { return .timeout }
    if exited && other == .exit { return .exit }
    return hasReachedDuration ? .duration : other
  }
}
