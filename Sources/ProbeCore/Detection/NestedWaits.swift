// Loops within a handler: a modal dialog, a synchronous wait. Which depth of the stack is the home?

extension TurnFollower {
  func isNested(_ wait: Wait) -> Bool {
    homeCount > 0 && wait.waitClass == .idle
      && wait.site.stackPointer + Self.nestedDepth < homeStack
  }

  mutating func countHome(_ wait: Wait) {
    // A runtime's park lies elsewhere in the stack than its idle wait and says nothing of depth.
    if wait.waitClass == .idle { homeStack = max(homeStack, wait.site.stackPointer) }
    homeCount += 1
  }

  /// What the thread did before it came to a nested wait is a stall by itself when it was long enough.
  ///
  /// - Returns: whether that was so, and a turn begins here.
  @discardableResult
  mutating func splitBeforeNested(
    _ low: Instant, _ high: Instant, _ probe: ThreadProbe
  ) -> Bool {
    guard nested == nil, !isStartup, let away, let known = surelyAway(until: middle(low, high))
    else { return false }
    let end = max(known.start, middle(low, high))
    guard end - known.start - away.stopped >= settings.threshold else { return false }
    log.end(turn(.stall, from: known.start, to: end, known.error + (high - low) / 2, probe))
    self.away = AwayTime(base: probe)
    leftAfter = low
    leftBefore = high
    if switches != nil { switches = AwaySwitches(since: high) }
    return true
  }

  mutating func arriveNested(_ wait: Wait, _ time: Instant, _ probe: ThreadProbe?) {
    var state = nested ?? (visits: 0, since: time, slices: nil)
    if probe == nil || state.slices != probe?.slices { state.visits += 1 }
    state.slices = probe?.slices
    nested = state
    // The first wait of a program may lie further out than its loop: then the deeper one is home.
    let isReal =
      state.visits >= 4 && state.visits > 2 * homeCount
      || state.visits >= 16 && time - state.since >= .seconds(5)
    if isReal {
      homeStack = wait.site.stackPointer
      log.retract()
      nested = nil
      away = nil
      homeProbe = probe ?? lastProbe
      leftAfter = nil
      switches = nil
      isAtHome = true
    }
  }
}
