// One summary out of several: which run is shown, the numbers for all, the verdict on all.

/// Runs of the same command that were made in a row.
public enum RepeatedRuns {
  /// The summary of all runs.
  ///
  /// A run that failed is the one that is shown; else the one that the first rule that does not hold is
  /// about, so that its stall and stack are there; else the one with the middle wall time.
  ///
  /// - Parameters:
  ///   - runs: at least one; ordinary summaries, in their order.
  ///   - planned: how many were asked for.
  ///   - warmup: how many were made before.
  ///   - endedBy: why there are fewer than planned.
  public static func summary(
    _ runs: [Summary], planned: Int, warmup: Int, endedBy: Summary.Repeats.End?,
    _ settings: BudgetSettings
  ) -> Summary? {
    guard !runs.isEmpty else { return nil }
    let how = settings.judge ?? .median
    let judged = settings.rules.map {
      Judge.repeated($0, runs, missing: max(0, planned - runs.count), settings, how)
    }
    let statistics = RunStatistics.all(runs)
    let shown = shown(runs, judged, statistics, endedBy)
    var summary = runs[shown]
    summary.metrics = Metrics(
      statistics.map { ($0.metric, Summary.Metric(value: $0.median, unit: $0.unit)) })
    summary.verdict = Judge.verdict(
      judged.map { one in
        var row = one.row
        // The number of a stall means one of the run that is shown.
        if one.run != shown { row.stall = nil }
        return row
      })
    summary.repeats = Summary.Repeats(
      planned: planned, warmup: warmup, judge: how.rawValue, shown: shown + 1, endedBy: endedBy,
      statistics: statistics, runs: runs)
    return summary
  }

  private static func shown(
    _ runs: [Summary], _ judged: [Judge.Repeated], _ statistics: [Summary.Repeats.Statistics],
    _ endedBy: Summary.Repeats.End?
  ) -> Int {
    if endedBy == .failure { return runs.count - 1 }
    for result in [VerdictResult.fail, .indeterminate] {
      let broken = judged.filter { $0.row.result == result }
      let first = broken.first { $0.row.stall != nil && $0.run != nil } ?? broken.first
      if let run = first?.run { return run }
    }
    let wall = statistics.first { $0.metric == "wall" }
    return RunStatistics.nearest(wall?.values ?? [], to: wall?.median) ?? 0
  }
}

extension Judge {
  /// The summary with its verdict by these settings; of several runs, by all of them.
  public static func judged(_ summary: Summary, _ settings: BudgetSettings) -> Summary {
    if let repeats = summary.repeats {
      var settings = settings
      settings.judge = settings.judge ?? RunJudge(rawValue: repeats.judge)
      let judged = RepeatedRuns.summary(
        repeats.runs, planned: repeats.planned, warmup: repeats.warmup, endedBy: repeats.endedBy,
        settings)
      if var judged {
        judged.exit.perfwatch = summary.exit.perfwatch
        return judged
      }
    }
    var summary = summary
    summary.verdict = verdict(summary, settings)
    return summary
  }
}
