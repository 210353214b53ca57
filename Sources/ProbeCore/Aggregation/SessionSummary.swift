// The summary made from the state: pure arithmetic on what was folded.

extension SessionState {
  /// The result so far. Verdict and exit code are still to be set (`Budget/`).
  public func summary() -> Summary {
    let rows = stalls.stallRows(start: start.start, names: threads.name)
    let (stallRows, groups) = StallGroups.grouped(rows)
    var summary = Summary(
      perfwatch: start.build, target: target, host: start.host, run: run,
      exit: exitPart, metrics: Metrics(), cpu: cpu, memory: memory.summary,
      threads: Summary.Threads(
        peak: threadsPeak, atEnd: threadsNow, created: threadsPeak == nil ? nil : threads.created,
        alarms: alarms.rows(start: start.start, names: threads.name, frames: stalls.stacks.frames)),
      descriptors: descriptors ?? Summary.Descriptors(peak: nil, atEnd: nil),
      tree: treePart, loops: stalls.loopRows(names: threads.name),
      waits: waits.rows(names: threads.name, frames: stalls.stacks.frames),
      stalls: stallRows, stallsOmitted: stalls.omitted, stallTotals: stalls.totals(of: stallRows),
      groups: groups,
      series: series.series(threads: hottest(8)), observer: observerPart, warnings: [],
      verdict: Summary.Verdict(result: .none, rules: []))
    summary.warnings = (notices + derivedNotices(summary)).map {
      Summary.Notice(
        code: $0.code.rawValue, message: $0.code.message($0.detail), advice: $0.code.advice)
    }
    summary.metrics = MetricCatalog.values(of: summary)
    return summary
  }

  private var target: Summary.Target {
    var target = start.target
    target.executable = executable
    return target
  }

  private var run: Summary.Run {
    Summary.Run(
      startedAt: CivilTime.iso8601(start.startedAt), startMonotonic: start.start.nanoseconds,
      duration: duration, complete: end != nil, endedBy: end?.reason)
  }

  private var exitPart: Summary.Exit {
    switch exit?.status {
    case .code(let code): Summary.Exit(code: code, signal: nil, perfwatch: nil)
    case .signal(let signal): Summary.Exit(code: nil, signal: signal, perfwatch: nil)
    case nil: Summary.Exit(code: nil, signal: nil, perfwatch: nil)
    }
  }

  private var cpu: Summary.CPU {
    let total = totalCPU
    let split = total.flatMap { userAndSystem($0) }
    let average = total.flatMap { duration > .zero ? Percent.of($0, duration) : nil }
    return Summary.CPU(
      user: split?.user, system: split?.system, total: total, averagePercent: average,
      // A run shorter than one window has no peak but its average.
      peakPercent: peak.percent, byThread: threadRows(total: total))
  }

  /// stat counts user and system time in clock ticks that the kernel has scaled to the exact total;
  /// so their ratio splits the exact total.
  private func userAndSystem(_ total: Nanoseconds) -> (user: Nanoseconds, system: Nanoseconds)? {
    guard let times else { return nil }
    func grown(_ now: UInt64, since before: UInt64?) -> UInt64 { now - min(now, before ?? 0) }
    let userTicks = grown(times.user, since: firstTimes?.user)
    let sum = userTicks.saturatedAdding(grown(times.system, since: firstTimes?.system))
    guard sum > 0 else { return nil }
    let share = Double(userTicks) / Double(sum)
    let exact = (Double(total.rawValue) * share).rounded()
    let user = Nanoseconds(Int64(exactly: exact) ?? total.rawValue)
    return (min(user, total), total - min(user, total))
  }

  private func threadRows(total: Nanoseconds?) -> [Summary.ThreadCPU] {
    var rows = threads.all.map { account -> Summary.ThreadCPU in
      let alive = (account.endedAt ?? start.start + duration) - account.startedAt
      return Summary.ThreadCPU(
        tid: account.tid.rawValue, name: account.name, cpu: account.used,
        averagePercent: alive > .zero ? Percent.of(account.used, alive) : nil,
        runDelay: account.delayed, voluntarySwitches: account.voluntarySwitches,
        involuntarySwitches: account.involuntarySwitches,
        startedAt: max(.zero, account.startedAt - start.start),
        endedAt: account.endedAt.map { $0 - start.start })
    }
    rows.sort { ($0.cpu, $1.tid ?? 0) > ($1.cpu, $0.tid ?? 0) }
    // What the process clock knows and no account does: threads that came and went between two looks.
    // Thread counters are read a moment after the process clock, so a little less is no loss.
    let missing = (total ?? .zero) - threads.accounted + threads.foldedCPU
    if missing > .milliseconds(1) {
      rows.append(
        Summary.ThreadCPU(
          tid: nil, name: "(exited)", cpu: missing, averagePercent: nil, runDelay: nil,
          voluntarySwitches: nil, involuntarySwitches: nil, startedAt: nil, endedAt: nil))
    }
    return rows
  }

  private var treePart: Summary.Tree? {
    tree.map { tree in
      let cpu = tree.cpu
      return Summary.Tree(
        cpu: cpu, averagePercent: duration > .zero ? Percent.of(cpu, duration) : nil,
        peakPercent: treePeak.percent, footprintPeak: tree.footprintPeak,
        processesPeak: tree.processesPeak, processesSeen: tree.seen,
        observer: capabilities.entries["tree"] ?? "proc",
        processes: tree.processes(start: start.start))
    }
  }

  private var observerPart: Summary.Observer {
    Summary.Observer(
      cpu: observer?.cpu,
      cpuPercent: observer.flatMap { duration > .zero ? Percent.of($0.cpu, duration) : nil },
      residentPeak: observer?.residentPeak, probes: ticks, lateProbes: lateOrSkipped,
      stops: observer?.captures.stops ?? 0, stopTotal: observer?.captures.stopTotal ?? .zero,
      stopLongest: observer?.captures.stopLongest ?? .zero,
      capturesWithoutStop: observer?.captures.withoutStop ?? 0,
      droppedEvents: observer?.droppedEvents ?? 0, capabilities: capabilities)
  }

  /// The busiest threads' accounts, busiest first.
  func hottest(_ count: Int) -> [(account: Int, tid: Int32, name: String)] {
    threads.all.indices.sorted { threads.all[$0].used > threads.all[$1].used }.prefix(count)
      .filter { threads.all[$0].used > .zero }
      .map { (threads.all[$0].number, threads.all[$0].tid.rawValue, threads.all[$0].name) }
  }

  /// Warnings that follow from the numbers themselves.
  private func derivedNotices(_ summary: Summary) -> [(code: NoticeCode, detail: String)] {
    var result: [(code: NoticeCode, detail: String)] = []
    let late = summary.observer.lateProbes
    if late > ticks / 20, late >= 3 {
      result.append((.lateTicks, "\(late) of \(ticks.saturatedAdding(skippedTicks)) ticks"))
    }
    if summary.observer.droppedEvents > 0 {
      result.append((.droppedEvents, "\(summary.observer.droppedEvents) events were dropped"))
    }
    if end != nil, ticks > 0, duration < PeakRate.window {
      let milliseconds = (duration.inMilliseconds * 10).rounded() / 10
      result.append((.shortRun, "\(milliseconds) ms"))
    }
    if tree == nil, let children = childrenCPU, let own = summary.cpu.total,
      children > own, children >= Self.notedChildren
    {
      let share = (children.inSeconds / (children.inSeconds + own.inSeconds) * 100).rounded()
      result.append(
        (.workInChildren, "\(Int(share)) % of the CPU of the target and its finished children"))
    }
    let unnamed = summary.stalls.count { stall in
      stall.stacks.contains { $0.frames.contains { $0.function == nil && $0.module == "[anon]" } }
    }
    if unnamed > 0 {
      result.append((.unnamedCode, "in \(unnamed) of \(summary.stalls.count) stalls"))
    }
    if summary.run.complete == false {
      result.append((.recordingCut, "its last event is not the end of the run"))
    }
    return result
  }

  /// Less CPU of children than that is not worth a word. Chosen: a compiler's driver has some 20 ms burnt for
  /// a file; shown are whole clock ticks of 10 ms, rounded down, so that they prove what they say.
  private static let notedChildren = Nanoseconds.milliseconds(20)

  /// CPU of children that the target waited for, since watching began.
  private var childrenCPU: Nanoseconds? {
    guard let times else { return nil }
    let tick = 1_000_000_000 / Int64(max(1, start.clockTicksPerSecond))
    let before = (firstTimes?.childUser ?? 0).saturatedAdding(firstTimes?.childSystem ?? 0)
    let now = times.childUser.saturatedAdding(times.childSystem)
    let grown = Int64(clamping: now - min(now, before))
    return Nanoseconds(grown.saturatedMultiplying(by: tick))
  }
}
