// Budgets on several runs: a rule is judged on the median of the runs, or on the worst of them.
// What one run could not tell may lie anywhere; where that changes nothing, the verdict stands.

extension Judge {
  /// The verdict of one rule on several runs, and the run that it is mostly about.
  struct Repeated: Equatable {
    var row: Summary.RuleResult
    /// Index of the run; nil where none stands out.
    var run: Int?
  }

  /// - Parameter missing: runs that were planned and not made.
  static func repeated(
    _ rule: BudgetRule, _ runs: [Summary], missing: Int, _ settings: BudgetSettings, _ how: RunJudge
  ) -> Repeated {
    let rows = runs.map { result(of: rule, $0, settings) }
    switch how {
    case .median: return median(rule, runs, rows, missing, settings)
    case .worst: return worst(rule, rows, missing, of: runs.count)
    }
  }

  private static func worst(
    _ rule: BudgetRule, _ rows: [Summary.RuleResult], _ missing: Int, of count: Int
  ) -> Repeated {
    func rank(_ row: Summary.RuleResult) -> (Int, Double) {
      let order: [VerdictResult] = [.fail, .indeterminate, .pass, .none]
      return (order.firstIndex(of: row.result) ?? order.count, row.margin ?? -.infinity)
    }
    // There is at least one run.
    let index = rows.indices.min { rank(rows[$0]) < rank(rows[$1]) } ?? 0
    var row = rows[index]
    var reasons = row.why.map { [$0] } ?? []
    if missing > 0, row.result == .pass {
      row.result = .indeterminate
      reasons.append("\(Counted.text(missing, "run")) not made")
    }
    if count > 1 { reasons.insert("run \(index + 1), the worst of \(count)", at: 0) }
    row.why = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    return Repeated(row: row, run: index)
  }

  private static func median(
    _ rule: BudgetRule, _ runs: [Summary], _ rows: [Summary.RuleResult], _ missing: Int,
    _ settings: BudgetSettings
  ) -> Repeated {
    // The parser only lets keys of the catalogue through, and there is at least one run.
    guard let metric = MetricCatalog.metric(rule.metric), var row = rows.first else {
      return Repeated(row: result(of: rule, runs[0], settings), run: nil)
    }
    var scope = settings.scope
    scope.window = rule.window ?? metric.window
    let all = runs.map { (metric.measure($0, scope), losses($0)) }
    let values = all.map(\.0.value)
    let known = all.map(\.0).filter { $0.value != nil }
    guard let value = RunStatistics.median(known.compactMap(\.value)) else {
      return Repeated(row: row, run: nil)
    }
    let ranges =
      all.map { bounds($0.0, $0.1, metric) }
      + Array(repeating: (-Double.infinity, Double.infinity), count: missing)
    let ends = (
      RunStatistics.median(ranges.map { $0.0 }) ?? value,
      RunStatistics.median(ranges.map { $0.1 }) ?? value
    )
    row.actual = value
    row.error = error(known, value)
    row.margin = margin(rule, value)
    row.result = compare(rule, ends)
    var reasons: [String] = []
    if row.result == .indeterminate {
      let doubts = all.compactMap { $0.0.doubt ?? $0.1 }
      let unknown = runs.count - known.count
      if let doubt = doubts.first {
        reasons.append("\(doubt) (\(doubts.count) of \(Counted.text(runs.count, "run")))")
      } else if unknown > 0 {
        reasons.append("it was not measured in \(unknown) of \(Counted.text(runs.count, "run"))")
      } else if missing > 0 {
        reasons.append("\(Counted.text(missing, "run")) not made")
      } else {
        reasons.append(
          "the median is known to \u{b1}\(metric.unit.text(row.error ?? 0)), and the limit lies "
            + "within")
      }
    }
    if let note = known.compactMap(\.note).first { reasons.append(note) }
    if runs.count > 1 { reasons.insert("median of \(known.count)", at: 0) }
    row.why = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    let nearest = RunStatistics.nearest(values, to: value)
    row.stall = row.result == .pass ? nil : nearest.flatMap { all[$0].0.stall }
    return Repeated(row: row, run: nearest)
  }

  /// Between which values the true one of a run lies.
  private static func bounds(
    _ measured: Measurement, _ loss: String?, _ metric: Metric
  ) -> (Double, Double) {
    guard let value = measured.value else { return (-.infinity, .infinity) }
    if measured.doubt ?? loss != nil {
      // What has been seen cannot be unseen: a doubt is about what may have been missed.
      return (metric.grows ? value - measured.error : -.infinity, .infinity)
    }
    return (value - measured.error, value + measured.error)
  }

  /// How far the median may be off by the values' own errors.
  private static func error(_ known: [Measurement], _ median: Double) -> Double {
    let low = RunStatistics.median(known.map { ($0.value ?? 0) - $0.error }) ?? median
    let high = RunStatistics.median(known.map { ($0.value ?? 0) + $0.error }) ?? median
    return max(high - median, median - low, 0)
  }

  private static func compare(_ rule: BudgetRule, _ ends: (Double, Double)) -> VerdictResult {
    let holds = (
      rule.comparison.holds(ends.0, rule.limit), rule.comparison.holds(ends.1, rule.limit)
    )
    switch rule.comparison {
    case .equal, .notEqual:
      // Both ends can lie beside the limit and the value on it.
      if ends.0 < ends.1, ends.0 <= rule.limit, rule.limit <= ends.1 { return .indeterminate }
    case .below, .atMost, .above, .atLeast: break
    }
    if holds.0 != holds.1 { return .indeterminate }
    return holds.0 ? .pass : .fail
  }
}
