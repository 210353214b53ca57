// The report at the end of a run, for people: how it ended, CPU, memory, threads, what watching
// cost. A value that was not measured says so; a section that has nothing to say is not there.

/// Renders a summary as text.
public enum TextReport {
  /// How much of it.
  public enum Extent: Sendable { case whole, verdict }

  /// The report, ending with a newline. Every name of the target's is escaped; without
  /// `style.color` there is no control character but the newline, without `style.unicode` only
  /// ASCII.
  ///
  /// - Parameter allWaits: every row of the wait profiles.
  public static func render(
    _ summary: Summary, style: TextStyle, _ extent: Extent = .whole, allWaits: Bool = false
  ) -> String {
    var layout = ReportLayout(style: style)
    if let repeats = summary.repeats {
      ReportSections.repeated(summary, repeats, extent, &layout)
      return layout.rendered()
    }
    ReportSections.header(summary, &layout)
    if extent == .verdict {
      ReportSections.verdict(summary, &layout)
      return layout.rendered()
    }
    layout.blank()
    ReportSections.figures(summary, &layout)
    ReportSections.threads(summary, &layout)
    ReportSections.parked(summary, &layout)
    ReportSections.processes(summary, &layout)
    ReportSections.stalls(summary, &layout)
    ReportSections.groups(summary, &layout)
    ReportSections.stacks(summary, &layout)
    ReportSections.waits(summary, isWhole: allWaits, &layout)
    ReportSections.observer(summary, &layout)
    ReportSections.warnings(summary, &layout)
    ReportSections.verdict(summary, &layout)
    return layout.rendered()
  }
}

/// The parts of a text report, in the order of reading.
enum ReportSections {
  /// Rows a table shows before it counts the rest.
  static let tableRows = 10

  static func header(_ summary: Summary, _ layout: inout ReportLayout) {
    let style = layout.style
    let target = summary.target
    let origin = target.launched ? "" : ", attached"
    let tail = " (pid \(target.pid)\(origin))"
    let room = max(40, style.width) - DisplayText.width("perfwatch: " + tail)
    let command = CommandText.text(
      target.command, executable: target.executable, isUnicode: style.unicode)
    var line = StyledLine("perfwatch: ", .dim)
    line.append(DisplayText.cut(command, to: max(10, room), isUnicode: style.unicode), .heading)
    line.append(tail, .dim)
    layout.add(.line(line))
    let ending = EndingText.text(summary, isUnicode: style.unicode)
    layout.add(.sentence(lead: "", leadRole: .plain, text: ending.text, role: ending.role))
  }

  static func observer(_ summary: Summary, _ layout: inout ReportLayout) {
    let observer = summary.observer
    let isUnicode = layout.style.unicode
    var parts: [String] = []
    if let cpu = observer.cpu {
      let share = observer.cpuPercent.map { " (\(Units.text(percent: $0)))" } ?? ""
      parts.append("\(Units.text(cpu, isUnicode: isUnicode)) of CPU\(share)")
    } else {
      parts.append("CPU \(Units.notMeasured)")
    }
    if let resident = observer.residentPeak { parts.append(Units.text(bytes: resident)) }
    var text = "perfwatch itself: " + parts.joined(separator: ", ")
    text += "; \(observer.lateProbes) of \(observer.probes) ticks late"
    if observer.stops > 0 {
      let total = Units.text(observer.stopTotal, isUnicode: isUnicode)
      let longest = Units.text(observer.stopLongest, isUnicode: isUnicode)
      text += "; stopped the program \(Counted.text(observer.stops, "time"))"
      text += " for \(total) in all, \(longest) at most"
    }
    if observer.droppedEvents > 0 {
      text += "; \(Counted.text(observer.droppedEvents, "event")) lost"
    }
    layout.blank()
    layout.add(.sentence(lead: "  ", leadRole: .plain, text: text, role: .dim))
  }

  static func warnings(_ summary: Summary, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    if !summary.warnings.isEmpty { layout.blank() }
    for warning in summary.warnings {
      let message = DisplayText.safe(warning.message, isUnicode: isUnicode)
      let advice = DisplayText.safe(warning.advice, isUnicode: isUnicode)
      layout.add(.sentence(lead: "warning: ", leadRole: .warning, text: message, role: .plain))
      layout.add(.sentence(lead: "         ", leadRole: .plain, text: advice, role: .dim))
    }
  }
}
