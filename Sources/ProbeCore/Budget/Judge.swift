// The verdict: a pure function of a summary and the rules.
// Three results, as a value that could not be measured well enough neither holds nor breaks a rule.

/// Judges summaries by budgets.
public enum Judge {
  /// The result of every rule, and of all of the error level together.
  ///
  /// Without rules there is no verdict (`none`); with warnings alone it is `pass`.
  public static func verdict(
    _ summary: Summary, _ settings: BudgetSettings
  ) -> Summary.Verdict {
    verdict(settings.rules.map { result(of: $0, summary, settings) })
  }

  /// The verdict of rules that are judged one by one; `none` without any.
  static func verdict(_ results: [Summary.RuleResult]) -> Summary.Verdict {
    guard !results.isEmpty else { return Summary.Verdict(result: .none, rules: []) }
    let binding = results.filter { $0.level == BudgetLevel.error.rawValue }.map(\.result)
    let whole: VerdictResult =
      binding.contains(.fail) ? .fail : binding.contains(.indeterminate) ? .indeterminate : .pass
    return Summary.Verdict(result: whole, rules: results)
  }

  /// Whether a rule of the error level is broken for good, whatever is still to come of the run.
  public static func isLost(_ summary: Summary, _ settings: BudgetSettings) -> Bool {
    settings.rules.contains { rule in
      guard rule.level == .error, rule.comparison.isUpper,
        let metric = MetricCatalog.metric(rule.metric), metric.grows, !metric.isKnownLate
      else { return false }
      return result(of: rule, summary, settings).result == .fail
    }
  }

  static func result(
    of rule: BudgetRule, _ summary: Summary, _ settings: BudgetSettings
  ) -> Summary.RuleResult {
    var row = Summary.RuleResult(
      text: rule.text, level: rule.level.rawValue, result: .indeterminate, actual: nil,
      limit: rule.limit, unit: "", why: nil, name: rule.name, metric: rule.metric)
    // The parser only lets keys of the catalogue through.
    guard let metric = MetricCatalog.metric(rule.metric) else { return row }
    var scope = settings.scope
    scope.window = rule.window ?? metric.window
    let measured = metric.measure(summary, scope)
    row.unit = metric.unit.rawValue
    row.actual = measured.value
    row.error = measured.value == nil ? nil : measured.error
    guard let value = measured.value else {
      let needs = metric.needs.isEmpty ? "" : "it needs \(metric.needs)"
      row.why = measured.doubt ?? (needs.isEmpty ? "it was not measured" : needs)
      return row
    }
    row.margin = margin(rule, value)
    row.result = compare(rule, value, measured.error)
    var reasons: [String] = []
    if row.result == .indeterminate {
      reasons.append(
        "the value is known to \u{b1}\(metric.unit.text(measured.error)), and the limit lies within"
      )
    }
    // What has been seen cannot be unseen: a doubt is about what may have been missed.
    let isSure = row.result == .fail && metric.grows && rule.comparison.isUpper
    if let doubt = measured.doubt ?? losses(summary), !isSure {
      row.result = .indeterminate
      reasons.append(doubt)
    }
    if row.result != .pass { row.stall = measured.stall }
    if let note = measured.note { reasons.append(note) }
    row.why = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    return row
  }

  private static func compare(
    _ rule: BudgetRule, _ value: Double, _ error: Double
  ) -> VerdictResult {
    let (low, high) = (value - error, value + error)
    let isSplit: Bool
    switch rule.comparison {
    case .equal, .notEqual: isSplit = error > 0 && low <= rule.limit && rule.limit <= high
    case .below, .atMost, .above, .atLeast:
      isSplit = rule.comparison.holds(low, rule.limit) != rule.comparison.holds(high, rule.limit)
    }
    if isSplit { return .indeterminate }
    return rule.comparison.holds(value, rule.limit) ? .pass : .fail
  }

  /// How far the value is on the good side of the limit; below zero on the other.
  static func margin(_ rule: BudgetRule, _ value: Double) -> Double? {
    switch rule.comparison {
    case .below, .atMost: rule.limit - value
    case .above, .atLeast: value - rule.limit
    case .equal, .notEqual: nil
    }
  }

  /// Why all numbers may be too small.
  static func losses(_ summary: Summary) -> String? {
    if !summary.run.complete { return "the end of the run is missing" }
    if summary.observer.droppedEvents > 0 {
      return "\(summary.observer.droppedEvents) events were lost"
    }
    return nil
  }
}
