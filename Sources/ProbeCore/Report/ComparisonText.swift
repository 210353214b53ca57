// A comparison for people.

public enum ComparisonText {
  /// A table of the metrics, then the signatures; ends with a newline.
  public static func render(_ comparison: RunComparison, style: TextStyle) -> String {
    var layout = ReportLayout(style: style)
    let isUnicode = style.unicode
    func number(_ value: Double?, _ unit: String) -> String {
      value.map { plain(RuleText.number($0, unit), isUnicode) } ?? ReportTable.notMeasured
    }
    let runs = { (count: Int) in Counted.text(count, "run") }
    layout.add(
      .line(
        StyledLine(
          "base: \(runs(comparison.baseRuns)), head: \(runs(comparison.headRuns))", .heading)))
    layout.add(
      .sentence(lead: "", leadRole: .plain, text: comparison.method, role: .dim))
    layout.blank()
    let rows = comparison.metrics
    layout.add(
      .table(
        ReportTable(
          columns: [
            .init(title: "metric", isRight: false, cells: rows.map(\.metric)),
            .init(title: "base", cells: rows.map { number($0.base, $0.unit) }),
            .init(title: "head", cells: rows.map { number($0.head, $0.unit) }),
            .init(title: "change", cells: rows.map { share($0.relative) }),
            .init(
              title: "p", dropOrder: 1,
              cells: rows.map {
                $0.probability.map { Units.fixed($0, decimals: 3) } ?? ReportTable.notMeasured
              }),
            .init(title: "result", isRight: false, cells: rows.map(\.result.rawValue)),
            .init(
              title: "why", isRight: false, dropOrder: 2, shortest: 16,
              cells: rows.map { DisplayText.safe($0.why ?? "", isUnicode: isUnicode) }),
          ], footer: nil)))
    layout.blank()
    for change in comparison.signatures {
      let times =
        "\(Units.text(change.base, isUnicode: isUnicode)) -> "
        + Units.text(change.head, isUnicode: isUnicode)
      let title = DisplayText.safe(change.title, isUnicode: isUnicode)
      layout.add(
        .sentence(
          lead: "\(change.kind.rawValue) stall: ", leadRole: change.kind == .gone ? .good : .bad,
          text: "\(title): \(times) a run", role: .plain))
    }
    if let why = comparison.signaturesMissing {
      layout.add(
        .sentence(
          lead: "", leadRole: .plain, text: "stall signatures were not compared: \(why)", role: .dim
        ))
    }
    var last = StyledLine("result: ")
    last.append(comparison.result.rawValue, comparison.result.role)
    layout.add(.line(last))
    return layout.rendered()
  }

  private static func share(_ relative: Double?) -> String {
    guard let relative, relative.isFinite else { return ReportTable.notMeasured }
    let percent = relative * 100
    return (percent > 0 ? "+" : "") + Units.fixed(percent, decimals: 1) + " %"
  }

  private static func plain(_ text: String, _ isUnicode: Bool) -> String {
    isUnicode ? text : text.replacing("\u{b5}", with: "u")
  }
}

extension MetricChange.Result {
  var role: TextRole {
    switch self {
    case .same: .plain
    case .better: .good
    case .worse: .bad
    case .indeterminate: .warning
    }
  }
}
