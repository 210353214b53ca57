// The part of a text report that tells of equal stalls as one, by signature.

extension ReportSections {
  static func groups(_ summary: Summary, _ layout: inout ReportLayout) {
    guard !summary.groups.isEmpty else { return }
    let isUnicode = layout.style.unicode
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    func time(_ value: Nanoseconds) -> String { Units.text(value, isUnicode: isUnicode) }
    let shown = summary.groups.prefix(tableRows)
    let hidden = summary.groups.count - shown.count
    layout.blank()
    layout.add(
      .table(
        ReportTable(
          columns: [
            .init(
              title: "equal stalls", isRight: false,
              cells: shown.map { safe($0.title) + ($0.ignored ? " (ignored)" : "") }),
            .init(title: "signature", isRight: false, cells: shown.map { safe($0.signature) }),
            .init(title: "count", cells: shown.map { "\($0.count)" }),
            .init(title: "total", cells: shown.map { time($0.total) }),
            .init(title: "longest", dropOrder: 1, cells: shown.map { time($0.longest) }),
            .init(title: "first", dropOrder: 3, cells: shown.map { time($0.first) }),
            .init(title: "last", dropOrder: 2, cells: shown.map { time($0.last) }),
          ],
          footer: hidden > 0 ? "and \(Counted.text(hidden, "more group"))" : nil)))
  }
}
