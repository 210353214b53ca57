// The verdict at the end of a report: each rule with value, limit and margin, and for one that a
// stall broke, where to look.

extension ReportSections {
  /// Frames of a culprit's stack that are shown. Chosen: the whole stack stands above.
  private static let framesShown = 8

  static func verdict(_ summary: Summary, _ layout: inout ReportLayout) {
    guard summary.verdict.result != .none else { return }
    let isUnicode = layout.style.unicode
    layout.blank()
    var head = StyledLine("verdict: ")
    head.append(summary.verdict.result.rawValue, summary.verdict.result.role)
    if summary.verdict.rules.allSatisfy({ $0.level != BudgetLevel.error.rawValue }) {
      head.append(" (no budget of the error level: nothing could fail)", .warning)
    }
    layout.add(.line(head))
    var told: Set<Int> = []
    for rule in summary.verdict.rules {
      layout.add(
        .sentence(
          lead: "  \(rule.result.mark(isUnicode: isUnicode)) ", leadRole: rule.result.role,
          text: DisplayText.safe(RuleText.text(rule, isUnicode: isUnicode), isUnicode: isUnicode),
          role: .plain))
      guard let culprit = Culprit(of: rule, in: summary), told.insert(culprit.stall.id).inserted
      else { continue }
      layout.add(
        .sentence(
          lead: "      ", leadRole: .plain,
          text: DisplayText.safe(culprit.sentence, isUnicode: isUnicode), role: .plain))
      for line in culprit.lines(isUnicode: isUnicode).prefix(framesShown) {
        layout.add(.line(StyledLine("        " + line.text, line.isOwn ? .plain : .dim)))
      }
    }
  }
}

/// A rule's result in one line; every output says it alike.
enum RuleText {
  /// `ui: stall.longest < 250ms: 412 ms (162 ms over; warn); why`.
  static func text(_ rule: Summary.RuleResult, isUnicode: Bool) -> String {
    var text = title(rule) + ": " + value(rule)
    var marks: [String] = []
    if let margin = margin(rule) { marks.append(margin) }
    if rule.level != BudgetLevel.error.rawValue { marks.append(rule.level) }
    if !marks.isEmpty { text += " (" + marks.joined(separator: "; ") + ")" }
    if let why = rule.why { text += "; \(why)" }
    return isUnicode ? text : text.replacing("\u{b1}", with: "+-").replacing("\u{b5}", with: "u")
  }

  /// The rule with its name, if it has one.
  static func title(_ rule: Summary.RuleResult) -> String {
    rule.name.map { "\($0): \(rule.text)" } ?? rule.text
  }

  static func value(_ rule: Summary.RuleResult) -> String {
    rule.actual.map { number($0, rule.unit) } ?? Units.notMeasured
  }

  /// `162 ms over`, `38.0 ms left`; nil where there is no margin.
  static func margin(_ rule: Summary.RuleResult) -> String? {
    guard let margin = rule.margin else { return nil }
    if margin == 0 { return "at the limit" }
    let distance = MetricUnit(rawValue: rule.unit)?.text(distance: abs(margin))
    let isUpper = rule.text.contains("<")
    let beyond = isUpper ? "over" : "short"
    return (distance ?? number(abs(margin), rule.unit)) + (margin > 0 ? " left" : " \(beyond)")
  }

  static func number(_ value: Double, _ unit: String) -> String {
    MetricUnit(rawValue: unit)?.text(value) ?? Units.fixed(value, decimals: 2) + " " + unit
  }
}

/// The stall that broke a rule, and the place to look at.
struct Culprit {
  let stall: Summary.Stall
  /// The stack that stands for most of its time.
  let stack: Summary.Stack?
  /// The function to blame on it.
  let frame: Summary.Frame?

  /// nil when no stall broke the rule, or it was not kept.
  init?(of rule: Summary.RuleResult, in summary: Summary) {
    guard let id = rule.stall, let stall = summary.stalls.first(where: { $0.id == id }) else {
      return nil
    }
    self.stall = stall
    let groups = StackGroup.groups(of: stall.stacks, isUnicode: true)
    stack = groups.first?.heaviest
    frame = stack.flatMap { StackTitle.frame(of: $0.frames) }
  }

  /// Its stack as it is shown, innermost function first.
  func lines(isUnicode: Bool) -> [ShownFrame] {
    stack.map { StackShape.lines(of: $0.frames, isUnicode: isUnicode) } ?? []
  }

  /// The innermost frame of the program's own that has a file and a line; an annotation goes there.
  var place: (file: String, line: Int)? {
    let frames = stack?.frames ?? []
    for frame in frames where frame.inApp {
      if let file = frame.file, let line = frame.line, line > 0 { return (file, line) }
    }
    return nil
  }

  /// `main stalled for 412 ms at 1.25 s: 410 ms computing, in busy_parse (app.c:42)`.
  var sentence: String {
    let place = frame.map { ", in " + StackTitle.text($0) } ?? ""
    return "\(stall.thread) stalled for \(Units.text(stall.duration)) at "
      + "\(Units.text(stall.start)): \(stall.cause.sentence)\(place)"
  }
}

extension VerdictResult {
  var role: TextRole {
    switch self {
    case .pass: .good
    case .fail: .bad
    case .indeterminate: .warning
    case .none: .plain
    }
  }

  func mark(isUnicode: Bool) -> String {
    switch self {
    case .pass: isUnicode ? "\u{2713}" : "ok  "
    case .fail: isUnicode ? "\u{2717}" : "FAIL"
    case .indeterminate, .none: isUnicode ? "?" : "?   "
    }
  }
}
