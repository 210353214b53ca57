// Judges a run while it goes on, for --abort-on-fail. Looks where the live view looks: on pw-recorder.

internal import Synchronization

/// A live display that also looks whether a budget is broken for good.
final class BudgetWatch: LiveDisplay {
  /// Chosen: a look makes a summary, which takes a millisecond of a long run.
  private static let period = Nanoseconds.milliseconds(500)

  private struct Due: Sendable {
    var display: Instant?
    var judge: Instant?
    var isLost = false
  }

  private let display: (any LiveDisplay)?
  private let budget: BudgetSettings
  private let control: WatchControl
  private let due = Mutex(Due())

  private init(_ display: (any LiveDisplay)?, _ budget: BudgetSettings, _ control: WatchControl) {
    self.display = display
    self.budget = budget
    self.control = control
  }

  /// The display itself, unless the run is to end when a budget is broken.
  static func wrap(
    _ display: (any LiveDisplay)?, _ budget: BudgetSettings?, _ control: WatchControl
  ) -> (any LiveDisplay)? {
    guard let budget, budget.abortsOnFail else { return display }
    return BudgetWatch(display, budget, control)
  }

  func update(_ state: SessionState, at time: Instant) -> Nanoseconds? {
    let now = due.withLock { due in
      (
        display: display != nil && time >= due.display ?? time,
        judge: !due.isLost && time >= due.judge ?? time
      )
    }
    if now.display, let display {
      let next = display.update(state, at: time)
      due.withLock { $0.display = time + (next ?? .seconds(1 << 30)) }
    }
    if now.judge {
      let isLost = Judge.isLost(Self.summary(state), budget)
      due.withLock {
        $0.judge = time + Self.period
        $0.isLost = isLost
      }
      if isLost {
        control.change { $0.isBudgetLost = true }
        control.mainBell.signal()
      }
    }
    return due.withLock { due in
      [due.display, due.isLost ? nil : due.judge].compactMap { $0 }.min().map { $0 - time }
    }
  }

  /// With the stalls that go on, as far as they have come.
  private static func summary(_ state: SessionState) -> Summary {
    guard state.hasGrowingStalls else { return state.summary() }
    var soFar = state
    soFar.endOpenStalls()
    return soFar.summary()
  }

  func finish() { display?.finish() }
}
