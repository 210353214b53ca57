// A summary as a history keeps it: its numbers, and as much of it as later runs are judged by.

extension HistoryRun {
  /// The run of a summary.
  ///
  /// - Parameter verdict: of the whole, where the summary is one of several runs.
  public init(_ summary: Summary, origin: RunOrigin, verdict: VerdictResult) {
    self.init(
      identity:
        "\(summary.run.startedAt) \(summary.host.name) \(summary.run.startMonotonic) "
        + "\(summary.target.pid)",
      startedAt: summary.run.startedAt, origin: origin, program: summary.programName,
      hasFailed: summary.hasNoWholeRun, verdict: verdict, metrics: [:])
    var scope = MetricScope.whole
    scope.countsEnvironment = false
    for metric in MetricCatalog.all {
      // As compare and baselines measure it. What was not measured is left out.
      scope.window = metric.window
      if let value = metric.measure(summary, scope).value { metrics[metric.key] = value }
    }
  }
}

extension Summary {
  /// The last part of the program's path; what runs in a history are told apart by.
  public var programName: String {
    Self.programName(target.command.isEmpty ? [target.executable ?? ""] : target.command)
  }

  /// That of a command line.
  public static func programName(_ command: [String]) -> String {
    let path = command.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The program failed, or the watching was over before it was.
  var hasNoWholeRun: Bool {
    if !run.complete || exit.signal != nil || (exit.code ?? 0) != 0 { return true }
    switch run.endedBy {
    case .exit, .duration, nil: return false
    // An attached program goes on; what was seen is what was wanted.
    case .interrupt, .detach: return target.launched
    case .timeout, .budget: return true
    }
  }

  /// The summary without what no metric and no baseline is made of: stacks, threads, waits.
  public var forHistory: Summary {
    var summary = self
    summary.repeats = nil
    summary.waits = []
    summary.warnings = []
    summary.threads.alarms = []
    summary.tree?.processes = []
    summary.series.perThreadCPU = []
    for index in summary.stalls.indices {
      summary.stalls[index].stacks = []
      summary.stalls[index].blocker = nil
    }
    for index in summary.groups.indices { summary.groups[index].heaviestStack = nil }
    return summary
  }
}
