// Trends for people.

public enum HistoryText {
  /// Chosen: about as wide as the other columns together in 80.
  private static let sparkWidth = 32

  /// A part for each program; ends with a newline.
  public static func render(_ trends: HistoryTrends, style: TextStyle) -> String {
    var layout = ReportLayout(style: style)
    for program in trends.programs {
      header(program, &layout)
      if program.runs.isEmpty {
        layout.blank()
        continue
      }
      layout.add(.table(table(program, style)))
      layout.blank()
    }
    layout.add(.sentence(lead: "", leadRole: .plain, text: trends.method, role: .dim))
    return layout.rendered()
  }

  private static func header(_ program: ProgramTrend, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    var line = StyledLine(DisplayText.safe(program.program, isUnicode: isUnicode), .heading)
    line.append(": \(Counted.text(program.runs.count, "run"))")
    let branches = program.branches.map { DisplayText.safe($0, isUnicode: isUnicode) }
    if branches.count == 1 { line.append(" on \(branches[0])") }
    if branches.count > 1 { line.append(" on \(branches.count) branches") }
    if let first = program.runs.first, let last = program.runs.last {
      let (from, to) = (day(first.startedAt), day(last.startedAt))
      line.append(from == to ? ", \(from)" : ", \(from) to \(to)")
    }
    layout.add(.line(line))
    if branches.count > 1 {
      layout.add(
        .sentence(
          lead: "", leadRole: .plain, text: "one of them: --branch \(branches.last ?? "")",
          role: .dim))
    }
    if program.failedRuns > 0 {
      layout.add(
        .sentence(
          lead: "", leadRole: .plain,
          text: "left out: \(Counted.text(program.failedRuns, "run")) that failed or has no end",
          role: .warning))
    }
  }

  private static func table(_ program: ProgramTrend, _ style: TextStyle) -> ReportTable {
    let rows = program.metrics
    func number(_ value: Double?, _ unit: String) -> String {
      guard let value else { return ReportTable.notMeasured }
      let text = RuleText.number(value, unit)
      return style.unicode ? text : text.replacing("\u{b5}", with: "u")
    }
    return ReportTable(
      columns: [
        .init(title: "metric", isRight: false, cells: rows.map(\.metric)),
        .init(title: "last", cells: rows.map { number($0.last, $0.unit) }),
        .init(title: "median", dropOrder: 2, cells: rows.map { number($0.median, $0.unit) }),
        .init(
          title: "trend", isRight: false, dropOrder: 1,
          cells: rows.map {
            Sparkline.render($0.values, width: sparkWidth, isUnicode: style.unicode)
          }),
        .init(
          title: "last change", isRight: false, shortest: 20,
          cells: rows.map { row in
            guard let change = row.change else { return ReportTable.notMeasured }
            return "\(amount(change, row.unit)) since \(place(change, style.unicode))"
          }),
      ], footer: nil)
  }

  /// `+9.8 %`, or the values themselves where there was nothing before.
  private static func amount(_ change: MetricTrend.Change, _ unit: String) -> String {
    guard let relative = change.relative, relative.isFinite, abs(relative) < 10 else {
      return "\(RuleText.number(change.before, unit)) -> \(RuleText.number(change.after, unit))"
    }
    return (relative > 0 ? "+" : "") + Units.fixed(relative * 100, decimals: 1) + " %"
  }

  private static func place(_ change: MetricTrend.Change, _ isUnicode: Bool) -> String {
    let date = day(change.startedAt)
    guard let commit = change.commit else { return date }
    return "\(DisplayText.safe(String(commit.prefix(10)), isUnicode: isUnicode)) (\(date))"
  }

  /// The day of an ISO date.
  private static func day(_ date: String) -> String { SafeText.terminal(String(date.prefix(10))) }
}
