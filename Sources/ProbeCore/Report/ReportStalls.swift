// The part of a text report that tells of loops and stalls; nothing where none were watched.

extension ReportSections {
  static func stalls(_ summary: Summary, _ layout: inout ReportLayout) {
    guard !summary.loops.isEmpty || !summary.stalls.isEmpty || summary.stallsOmitted > 0 else {
      return
    }
    let isUnicode = layout.style.unicode
    layout.blank()
    for loop in summary.loops { loopRow(loop, &layout) }
    // As the longest turn, the metrics and budgets have it: time in which the target was stopped does not count.
    let lengths = summary.stalls.map { max(.zero, $0.duration - $0.cause.parts.stopped) }
    let stopped = summary.stalls.reduce(Nanoseconds.zero) { $0 + $1.cause.parts.stopped }
    let without =
      stopped > .zero ? ", without \(Units.text(stopped, isUnicode: isUnicode)) stopped" : ""
    if let longest = lengths.max() {
      let total = Units.text(lengths.reduce(.zero, +), isUnicode: isUnicode)
      layout.row(
        "stalls", "\(summary.stalls.count + summary.stallsOmitted)",
        "longest \(Units.text(longest, isUnicode: isUnicode)), \(total) in all\(without)")
      layout.blank()
      layout.add(.table(stallTable(summary, isUnicode: isUnicode)))
    } else {
      layout.row("stalls", "\(summary.stallsOmitted)", "")
    }
  }

  private static func loopRow(_ loop: Summary.Loop, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    let name = "\(DisplayText.safe(loop.name, isUnicode: isUnicode)) (\(loop.tid))"
    if let why = loop.verdictless {
      let reason = DisplayText.safe(why, isUnicode: isUnicode)
      return layout.row("loop", nil, "\(name): stalls were not judged: \(reason)")
    }
    var parts: [String] = []
    if let turns = loop.turns { parts.append(Counted.text(turns, "turn")) }
    if let long = loop.longTurns, long > 0 { parts.append("\(long) long") }
    if let blocking = loop.blockingTime {
      parts.append("blocking time \(Units.text(blocking, isUnicode: isUnicode))")
    }
    if let startup = loop.startup {
      parts.append("start-up \(Units.text(startup, isUnicode: isUnicode))")
    }
    parts.append("seen by \(DisplayText.safe(loop.observer, isUnicode: isUnicode))")
    layout.row(
      "loop", loop.longestTurn.map { Units.text($0, isUnicode: isUnicode) },
      "longest turn of \(name); " + parts.joined(separator: ", "))
  }

  private static func stallTable(_ summary: Summary, isUnicode: Bool) -> ReportTable {
    let heaviest = summary.stalls.sorted { ($1.duration, $0.start) < ($0.duration, $1.start) }
    let shown = heaviest.prefix(tableRows).sorted { ($0.start, $0.id) < ($1.start, $1.id) }
    let hidden = summary.stalls.count - shown.count + summary.stallsOmitted
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    return ReportTable(
      columns: [
        .init(
          title: "stalled thread", isRight: false,
          cells: shown.map { "\(safe($0.thread)) (\($0.tid))" }),
        .init(title: "at", cells: shown.map { Units.text($0.start, isUnicode: isUnicode) }),
        .init(title: "length", cells: shown.map { Units.text($0.duration, isUnicode: isUnicode) }),
        .init(title: "level", isRight: false, cells: shown.map { safe($0.level) }),
        .init(
          title: "in", isRight: false, dropOrder: 1, shortest: 16,
          cells: shown.map { place(of: $0, isUnicode: isUnicode) }),
        .init(
          title: "cause", isRight: false, dropOrder: 2, shortest: 16,
          cells: shown.map { safe($0.cause.sentence) }),
      ],
      footer: hidden > 0 ? "and \(Counted.text(hidden, "shorter stall"))" : nil)
  }
}
