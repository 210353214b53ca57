// The verdict as GitHub workflow commands: annotations at the line to blame.

enum GitHubReport {
  /// GitHub shows this many of a kind a step.
  private static let shown = 10

  /// Lines for the log of a step; empty when all rules hold.
  static func render(_ summary: Summary, _ context: ReportContext) -> String {
    var counts = (errors: 0, warnings: 0)
    var text = ""
    for rule in summary.verdict.rules where rule.result == .fail || rule.result == .indeterminate {
      let isError = rule.result == .fail && rule.level == BudgetLevel.error.rawValue
      if isError { counts.errors += 1 } else { counts.warnings += 1 }
      guard (isError ? counts.errors : counts.warnings) <= shown else { continue }
      var properties: [String] = []
      if let place = context.place(of: rule, in: summary) {
        properties += ["file=\(property(place.file))", "line=\(place.line)"]
      }
      let what = rule.result == .fail ? "budget" : "budget that could not be judged"
      properties.append("title=\(property("perfwatch: \(what): \(RuleText.title(rule))"))")
      let message =
        ([RuleDetails.line(rule)] + RuleDetails.lines(rule, summary)).joined(separator: "\n")
      text += "::\(isError ? "error" : "warning") \(properties.joined(separator: ","))"
      text += "::\(data(message))\n"
    }
    return text
  }

  private static func data(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    data(SafeText.terminal(text)).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}
