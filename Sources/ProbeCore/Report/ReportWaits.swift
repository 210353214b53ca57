// The parts of a text report that tell where watched threads waited, and where parked threads were.

extension ReportSections {
  /// Rows of a wait profile unless all are asked for. Chosen.
  private static let waitRows = 5
  /// Stacks of an alarm, and lines of each. Chosen.
  private static let parkedStacks = 3
  private static let parkedLines = 8

  /// - Parameter isWhole: all rows; else those of a hundredth of the time or more, and only where there is
  ///   more to tell than that a loop was at rest.
  static func waits(_ summary: Summary, isWhole: Bool, _ layout: inout ReportLayout) {
    for profile in summary.waits where profile.blocked > .zero {
      let notable = profile.rows.filter {
        $0.time.inSeconds >= (isWhole ? 0 : profile.length.inSeconds / 100)
      }
      let shown = isWhole ? notable[...] : notable.prefix(waitRows)
      guard isWhole || shown.contains(where: { $0.kind != "events" }) else { continue }
      waitTable(profile, Array(shown), &layout)
      if isWhole { waitStacks(Array(shown), &layout) }
    }
  }

  private static func waitTable(
    _ profile: Summary.WaitProfile, _ shown: [Summary.WaitRow], _ layout: inout ReportLayout
  ) {
    let isUnicode = layout.style.unicode
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    func time(_ value: Nanoseconds) -> String { Units.text(value, isUnicode: isUnicode) }
    func cells(_ text: (Summary.WaitRow) -> String) -> [String] { shown.map(text) }
    let rest = profile.rows.count - shown.count
    var below: [String] = []
    if rest > 0 {
      let total =
        profile.rows.reduce(Nanoseconds.zero) { $0 + $1.time }
        - shown.reduce(Nanoseconds.zero) { $0 + $1.time }
      below.append("\(Counted.text(rest, "more wait")): \(time(total))")
    }
    if profile.unseen.inSeconds >= profile.length.inSeconds / 1000 {
      below.append("where no look was: \(time(profile.unseen))")
    }
    let share = Percent.text(profile.blocked, of: profile.length)
    layout.blank()
    layout.add(
      .line(
        StyledLine(
          "  \(safe(profile.name)) (\(profile.tid)) was off the CPU, waiting, for "
            + "\(time(profile.blocked)) of \(time(profile.length)) (\(share))")))
    layout.add(
      .table(
        ReportTable(
          columns: [
            .init(title: "waited in", isRight: false, cells: cells { safe($0.call) }),
            .init(
              title: "for", isRight: false, dropOrder: 1, shortest: 16,
              cells: cells { safe($0.object ?? Self.plain($0)) }),
            .init(title: "time", cells: cells { time($0.time) }),
            .init(
              title: "share", cells: cells { Percent.text($0.time, of: profile.blocked) }),
            .init(
              title: isUnicode ? "\u{b1}" : "+/-", dropOrder: 3,
              cells: cells { $0.error < .microseconds(1) ? "" : time($0.error) }),
            .init(
              title: "longest seen", dropOrder: 2,
              cells: cells { $0.longest > .zero ? time($0.longest) : "" }),
          ], footer: below.isEmpty ? nil : "and " + below.joined(separator: "; "))))
  }

  /// From where it waited most, one stack for each of the longest waits.
  private static func waitStacks(_ rows: [Summary.WaitRow], _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    for row in rows.prefix(waitRows) {
      guard let stack = row.stacks.first else { continue }
      let object = row.object.map { " for \(DisplayText.safe($0, isUnicode: isUnicode))" } ?? ""
      let call = DisplayText.safe(row.call, isUnicode: isUnicode)
      let share = Percent.text(stack.time, of: row.time)
      let more = row.stacks.count > 1 ? ", \(share) of it from" : ", from"
      layout.add(.line(StyledLine("    \(call)\(object)\(more)", .dim)))
      add(StackShape.lines(of: stack.frames, isUnicode: isUnicode), &layout)
    }
  }

  private static func add(_ lines: [ShownFrame], _ layout: inout ReportLayout) {
    for line in lines.prefix(parkedLines) {
      layout.add(.line(StyledLine("      " + line.text, line.isOwn ? .plain : .dim)))
    }
    if lines.count > parkedLines {
      let mark = layout.style.unicode ? "\u{2026}" : "..."
      layout.add(.line(StyledLine("      \(mark) \(lines.count - parkedLines) more", .dim)))
    }
  }

  /// What the kind of a wait says where it has no object.
  private static func plain(_ row: Summary.WaitRow) -> String {
    switch row.kind {
    case "events": "events"
    case "lock": "a lock"
    case "sleep": "a time"
    case "child": "a child process"
    case "join": "a thread to end"
    case "signal": "a signal"
    case "pageFault": "pages"
    case "disk": "a file"
    case "socket", "pipe": "a \(row.kind)"
    default: ""
    }
  }

  /// Alarms with the stacks that most threads had.
  static func parked(_ summary: Summary, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    for alarm in summary.threads.alarms {
      layout.blank()
      layout.add(
        .sentence(
          lead: "thread alarm: ", leadRole: .warning,
          text: DisplayText.safe(alarm.sentence, isUnicode: isUnicode), role: .plain))
      for group in alarm.parked.prefix(parkedStacks) where !group.frames.isEmpty {
        let call = group.call.map { " in \($0)" } ?? ""
        let head = "    \(Counted.text(group.count, "thread"))\(call), innermost function first"
        layout.add(.line(StyledLine(head, .dim)))
        add(StackShape.lines(of: group.frames, isUnicode: isUnicode), &layout)
      }
      let others = alarm.parked.dropFirst(parkedStacks).reduce(0) { $0.saturatedAdding($1.count) }
      if others > 0 {
        let text = "    and \(Counted.text(others, "thread")) with other stacks"
        layout.add(.line(StyledLine(text, .dim)))
      }
    }
  }
}
