// The report of several runs: a table of what they have in common, and what one of them shows.

extension ReportSections {
  /// What is told of every command, in this order; beside these what the budgets are about.
  private static let usual = [
    "wall", "cpu.seconds", "cpu.average", "footprint.peak", "threads.peak", "tree.cpu.seconds",
    "tree.footprint.peak", "startup.firstIdle", "stall.count", "stall.longest", "stall.total",
  ]

  static func repeated(
    _ summary: Summary, _ repeats: Summary.Repeats, _ extent: TextReport.Extent,
    _ layout: inout ReportLayout
  ) {
    repeatedHeader(summary, repeats, &layout)
    if extent == .whole, repeats.runs.count == 1 {
      layout.blank()
      figures(summary, &layout)
      threads(summary, &layout)
      processes(summary, &layout)
      stalls(summary, &layout)
      stacks(summary, &layout)
      warnings(summary, &layout)
    } else if extent == .whole {
      layout.blank()
      layout.add(.table(table(summary, repeats, isUnicode: layout.style.unicode)))
      if !summary.stalls.isEmpty {
        layout.blank()
        layout.add(.line(StyledLine("run \(repeats.shown) of \(repeats.runs.count):", .heading)))
        stalls(summary, &layout)
        stacks(summary, &layout)
      }
      warnings(summary, &layout)
    }
    verdict(summary, &layout)
  }

  private static func repeatedHeader(
    _ summary: Summary, _ repeats: Summary.Repeats, _ layout: inout ReportLayout
  ) {
    let style = layout.style
    let command = CommandText.text(
      summary.target.command, executable: summary.target.executable, isUnicode: style.unicode)
    let room = max(40, style.width) - DisplayText.width("perfwatch: ")
    var line = StyledLine("perfwatch: ", .dim)
    line.append(DisplayText.cut(command, to: room, isUnicode: style.unicode), .heading)
    layout.add(.line(line))
    let made = repeats.runs.count
    var text =
      made == repeats.planned
      ? Counted.text(made, "run") : "\(made) of \(Counted.text(repeats.planned, "run"))"
    if repeats.warmup > 0 { text += " after \(Counted.text(repeats.warmup, "warm-up run"))" }
    let ending = EndingText.text(summary, isUnicode: style.unicode)
    switch repeats.endedBy {
    case nil: layout.add(.sentence(lead: "", leadRole: .plain, text: text, role: .plain))
    case .failure:
      text += "; the last \(ending.text)"
      layout.add(.sentence(lead: "", leadRole: .plain, text: text, role: .bad))
    case .interrupt:
      text += "; then interrupted"
      layout.add(.sentence(lead: "", leadRole: .plain, text: text, role: .bad))
    }
  }

  private static func table(
    _ summary: Summary, _ repeats: Summary.Repeats, isUnicode: Bool
  ) -> ReportTable {
    let judged = summary.verdict.rules.compactMap(\.metric)
    var keys = usual
    for key in judged where !keys.contains(key) { keys.append(key) }
    let rows = keys.compactMap { key in
      repeats.statistics.first { $0.metric == key && ($0.median != nil || judged.contains(key)) }
    }
    func cell(_ value: Double?, _ row: Summary.Repeats.Statistics) -> String {
      guard let value else { return ReportTable.notMeasured }
      let text = RuleText.number(value, row.unit)
      return isUnicode ? text : text.replacing("\u{b5}", with: "u")
    }
    let known = rows.map { row in row.values.count { $0 != nil } }
    let isPartial = known.contains { $0 < repeats.runs.count }
    return ReportTable(
      columns: [
        .init(title: "metric", isRight: false, cells: rows.map(\.metric)),
        .init(title: "median", cells: rows.map { cell($0.median, $0) }),
        .init(
          title: isUnicode ? "\u{b1}" : "+-", dropOrder: 1,
          cells: rows.map { cell($0.deviation, $0) }),
        .init(title: "min", dropOrder: 2, cells: rows.map { cell($0.min, $0) }),
        .init(title: "max", dropOrder: 2, cells: rows.map { cell($0.max, $0) }),
        .init(
          title: "runs", dropOrder: 3,
          cells: isPartial ? known.map { "\($0)" } : rows.map { _ in "" }),
      ],
      footer: nil)
  }
}
