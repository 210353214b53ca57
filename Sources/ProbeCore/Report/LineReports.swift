// The verdict in lines: TAP for test harnesses, and plain text for grep.

/// Test Anything Protocol, version 13.
enum TAPReport {
  static func render(_ summary: Summary) -> String {
    let rules = summary.verdict.rules
    guard !rules.isEmpty else { return "TAP version 13\n1..0 # SKIP no budgets\n" }
    let names = RuleDetails.names(rules)
    var text = "TAP version 13\n1..\(rules.count)\n"
    for (index, rule) in rules.enumerated() {
      let isFine = rule.result == .pass || rule.result == .none
      let name = names[index].replacing("\\", with: "\\\\").replacing("#", with: "\\#")
      // What is marked so fails no harness.
      let isHarmless = !isFine && rule.level != BudgetLevel.error.rawValue
      text +=
        "\(isFine ? "ok" : "not ok") \(index + 1) - \(name)\(isHarmless ? " # TODO warning" : "")\n"
      text += "  ---\n"
      text += "  result: \(rule.result.rawValue)\n"
      text += "  got: \(quoted(RuleText.value(rule)))\n"
      text += "  limit: \(quoted(RuleText.number(rule.limit, rule.unit)))\n"
      if let margin = RuleText.margin(rule) { text += "  margin: \(quoted(margin))\n" }
      if let why = rule.why { text += "  why: \(quoted(why))\n" }
      let details = RuleDetails.lines(rule, summary)
      if !details.isEmpty {
        text += "  stall:\n" + details.map { "    - \(quoted($0))\n" }.joined()
      }
      text += "  ...\n"
    }
    return text
  }

  /// A YAML text in double quotes, which are JSON's.
  private static func quoted(_ text: String) -> String {
    let safe = SafeText.terminal(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(safe)\""
  }
}

/// One line a rule.
enum PlainReport {
  static func render(_ summary: Summary) -> String {
    var text = "verdict \(summary.verdict.result.rawValue)\n"
    for rule in summary.verdict.rules {
      text += "\(rule.result.rawValue) \(rule.level) \(RuleDetails.line(rule))\n"
      for line in RuleDetails.lines(rule, summary) { text += "  \(line)\n" }
    }
    return text
  }
}
