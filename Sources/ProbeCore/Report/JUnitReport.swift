// The verdict as JUnit XML, one test case a rule, in the dialect that GitHub, GitLab and Jenkins read.
// GitLab shows the body of a failure and not its message, and takes the class name for the suite.

enum JUnitReport {
  static func render(_ summary: Summary) -> String {
    let rules = summary.verdict.rules
    let names = RuleDetails.names(rules)
    let outcomes = rules.map(outcome)
    func count(_ wanted: Outcome) -> Int { outcomes.count { $0 == wanted } }
    let time = Units.fixed(max(0, summary.run.duration.inSeconds), decimals: 3)
    let counts =
      "tests=\"\(rules.count)\" failures=\"\(count(.failure))\" errors=\"\(count(.error))\""
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites name=\"perfwatch\" \(counts) time=\"\(time)\">\n"
    text +=
      "  <testsuite name=\"perfwatch\" \(counts) skipped=\"\(count(.skipped))\" time=\"\(time)\""
    // Whole seconds without a zone: what the schema of most readers allows.
    text += " timestamp=\"\(escape(String(summary.run.startedAt.prefix(19))))\""
    text += " hostname=\"\(escape(summary.host.name))\">\n"
    for (index, rule) in rules.enumerated() {
      text += "    <testcase classname=\"perfwatch.budgets\" name=\"\(escape(names[index]))\""
      text += " time=\"0.000\""
      guard let element = outcomes[index].element else {
        text += "/>\n"
        continue
      }
      let message = RuleDetails.line(rule)
      let body = ([message] + RuleDetails.lines(rule, summary)).joined(separator: "\n")
      text += ">\n      <\(element) message=\"\(escape(message))\""
      if outcomes[index] != .skipped { text += " type=\"\(rule.result.rawValue)\"" }
      text += ">\(escape(body))</\(element)>\n    </testcase>\n"
    }
    return text + "  </testsuite>\n</testsuites>\n"
  }

  private enum Outcome {
    case passed, failure, error, skipped

    var element: String? {
      switch self {
      case .passed: nil
      case .failure: "failure"
      case .error: "error"
      case .skipped: "skipped"
      }
    }
  }

  private static func outcome(_ rule: Summary.RuleResult) -> Outcome {
    if rule.result == .pass || rule.result == .none { return .passed }
    // A warning breaks nothing; a test that was skipped is seen and breaks nothing, too.
    if rule.level != BudgetLevel.error.rawValue { return .skipped }
    return rule.result == .fail ? .failure : .error
  }

  /// The text for XML 1.0: markup escaped, characters that no XML can hold left out.
  static func escape(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || (0xfffe...0xffff).contains(scalar.value): result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
