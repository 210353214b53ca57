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
    threadAlarm = state.alarmTexts(after: 0).last
    stallCount = state.stalls.totals(of: []).count
    openStall = state.openStalls(at: time).first.map(\.text)
    lateTicks = state.lateOrSkipped
  }
}

extension SessionState {
  /// Whether the target is stopped by job control.
  public var isTargetStopped: Bool { isStopped }

  /// The notices so far, oldest first, as sentences.
  public var noticeTexts: [String] { notices.map { $0.code.message($0.detail) } }

  /// How many stalls have ended so far.
  public var endedStalls: Int { stalls.ended }

  /// The stalls that ended after the first `count` of them, as sentences; at most the last few.
  public func stallTexts(after count: Int) -> [String] {
    stalls.recent.suffix(max(0, stalls.ended - count)).map { stall in
      let level = StallLevel(stall.duration - stall.parts.stopped).rawValue
      let at = Units.text(max(.zero, stall.start - start.start))
      let what = stall.kind == .stall ? "" : " (\(stall.kind.rawValue))"
      let word = level == "stall" ? "stall" : "stall, \(level)"
      return "\(word): \(name(stall.tid)) for \(Units.text(stall.duration)) at \(at)\(what): "
        + stalls.sentence(of: stall, thread: name(stall.tid))
    }
  }

  /// Stalls that go on, longest first, with their level so far.
  public func openStalls(at time: Instant) -> [(id: Int, level: StallLevel, text: String)] {
    stalls.open.sorted { $0.start < $1.start }.map { stall in
      let length = max(.zero, time - stall.start)
      let level = StallLevel(length)
      let place = stalls.stacks.latest(stall.tid, since: stall.start)
        .flatMap(StackTitle.frame).map { ", in \(StackTitle.text($0))" }
      return (
        stall.id, level,
        "stall: \(name(stall.tid)) for \(Units.text(length)) so far (\(level.rawValue))"
          + (place ?? "")
      )
    }
  }

  private func name(_ tid: ThreadID) -> String { "\(threads.name(tid)) (\(tid))" }

  /// The threads that ran most over the last tick.
  func hottestNow(_ count: Int) -> [LiveSnapshot.Thread] {
    guard let interval = lastInterval, interval > .zero else { return [] }
    return threads.all.filter { $0.endedAt == nil }
      .filter { $0.recentTick == ticks && $0.recentCPU > .zero }
      .sorted { ($0.recentCPU, $1.tid) > ($1.recentCPU, $0.tid) }
      .prefix(count)
      .map {
        LiveSnapshot.Thread(
          name: $0.name, tid: $0.tid.rawValue, percent: Percent.of($0.recentCPU, interval))
      }
  }
}
