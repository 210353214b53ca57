// The live view's picture of a session.

extension LiveSnapshot {
  /// The state at `time`; `title` names the target.
  public init(_ state: SessionState, at time: Instant, title: String) {
    self.init()
    self.title = title
    elapsed = max(.zero, time - state.start.start)
    self.state = state.isStopped ? "stopped" : "running"
    cpuPercentNow = state.recentPercent
    cpuAverage = state.totalCPU.flatMap { elapsed > .zero ? Percent.of($0, elapsed) : nil }
    hottest = state.hottestNow(4)
    footprint = state.memory.last?.footprint
    footprintPeak = state.memory.peak?.footprint
    footprintHistory = state.series.recentFootprint(40).map { $0 }
    threadCount = state.threadsNow
    processCount = state.tree?.members.count
    lastNotices = state.noticeTexts
    lateTicks = state.lateTicks + state.skippedTicks
  }
}

extension SessionState {
  /// Whether the target is stopped by job control.
  public var isTargetStopped: Bool { isStopped }

  /// The notices so far, oldest first, as sentences.
  public var noticeTexts: [String] { notices.map { $0.code.message($0.detail) } }

  /// The threads that ran most over the last tick.
  func hottestNow(_ count: Int) -> [LiveSnapshot.Thread] {
    guard let interval = lastInterval, interval > .zero else { return [] }
    return threads.live.values.map { threads.all[$0] }
      .filter { $0.recentTick == ticks && $0.recentCPU > .zero }
      .sorted { ($0.recentCPU, $1.tid) > ($1.recentCPU, $0.tid) }
      .prefix(count)
      .map {
        LiveSnapshot.Thread(
          name: $0.name, tid: $0.tid.rawValue, percent: Percent.of($0.recentCPU, interval))
      }
  }
}
