// The verdict as Markdown: for the summary of a CI step and for comments.

enum MarkdownReport {
  /// Rules and culprits that are shown: a step's summary is refused above 1 MiB. Chosen.
  private static let rowsShown = 100
  private static let culpritsShown = 10

  static func render(_ summary: Summary, _ context: ReportContext) -> String {
    let verdict = summary.verdict
    let command = CommandText.text(
      summary.target.command, executable: summary.target.executable, isUnicode: true)
    let ending = EndingText.text(summary, isUnicode: true).text
    var text = "### \(sign(verdict.result)) perfwatch: \(title(verdict.result))\n\n"
    text += "<code>\(html(command))</code> \(escape(ending))\n\n"
    text += figures(summary) + "\n\n"
    guard !verdict.rules.isEmpty else { return text }
    text += "| | budget | value | margin | |\n| --- | --- | --: | --: | --- |\n"
    for rule in verdict.rules.prefix(rowsShown) {
      let level = rule.level == BudgetLevel.error.rawValue ? "" : " (\(escape(rule.level)))"
      let name = rule.name.map { escape($0) + ": " } ?? ""
      let cells = [
        sign(rule.result), "\(name)<code>\(cell(html(rule.text)))</code>\(level)",
        escape(RuleText.value(rule)), escape(RuleText.margin(rule) ?? ""), escape(rule.why ?? ""),
      ]
      text += "| " + cells.joined(separator: " | ") + " |\n"
    }
    if verdict.rules.count > rowsShown {
      text += "\nand \(verdict.rules.count - rowsShown) more budgets\n"
    }
    return text + culprits(summary, context)
  }

  private static func figures(_ summary: Summary) -> String {
    ["cpu.average", "footprint.peak", "stall.count", "stall.longest"].compactMap { key in
      guard let metric = MetricCatalog.metric(key), let value = metric.value(from: summary) else {
        return nil
      }
      return "\(escape(metric.title)): **\(escape(metric.unit.text(value)))**"
    }.joined(separator: " \u{b7} ")
  }

  private static func culprits(_ summary: Summary, _ context: ReportContext) -> String {
    var text = ""
    var told: [Int] = []
    for rule in summary.verdict.rules {
      guard told.count < culpritsShown, let culprit = Culprit(of: rule, in: summary),
        !told.contains(culprit.stall.id)
      else { continue }
      told.append(culprit.stall.id)
      text += "\n**\(escape(culprit.sentence))**\n\n"
      if let place = context.place(of: rule, in: summary) {
        text += "at <code>\(html(place.file)):\(place.line)</code>\n\n"
      }
      let lines = culprit.lines(isUnicode: true).map { html($0.text) }
      if !lines.isEmpty { text += "<pre>\n\(lines.joined(separator: "\n"))\n</pre>\n" }
    }
    return text
  }

  private static func title(_ result: VerdictResult) -> String {
    switch result {
    case .pass: "all budgets hold"
    case .fail: "a budget failed"
    case .indeterminate: "a budget could not be judged"
    case .none: "no budgets"
    }
  }

  private static func sign(_ result: VerdictResult) -> String {
    switch result {
    case .pass: "\u{2705}"
    case .fail: "\u{274c}"
    case .indeterminate: "\u{2754}"
    case .none: "\u{2139}\u{fe0f}"
    }
  }

  private static func html(_ text: String) -> String {
    SafeText.terminal(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;")
  }

  /// Inside a table a bar ends the cell, also in code.
  private static func cell(_ text: String) -> String { text.replacing("|", with: "&#124;") }

  /// Untrusted text as text: neither markup nor a link, an image or a mention.
  private static func escape(_ text: String) -> String {
    var result = ""
    for character in html(text) {
      if "\\`*_{}[]#!~@".contains(character) { result.append("\\") }
      result.append(character)
    }
    return cell(result)
  }
}
