// The few shapes a text report is made of: aligned rows, a table, wrapped sentences.
// Sections say what stands in them; where it stands is decided here once.

/// Lays a report out in lines.
struct ReportLayout {
  enum Block {
    case line(StyledLine)
    /// `label  value  note`, aligned with all other rows.
    case row(label: String, value: String, note: String)
    case table(ReportTable)
    /// A sentence, wrapped; following lines stand under its first word.
    case sentence(lead: String, leadRole: TextRole, text: String, role: TextRole)
  }

  let style: TextStyle
  private let width: Int
  private var blocks: [Block] = []

  init(style: TextStyle) {
    self.style = style
    width = max(40, style.width)
  }

  mutating func add(_ block: Block) { blocks.append(block) }
  mutating func blank() { blocks.append(.line(StyledLine())) }
  mutating func row(_ label: String, _ value: String?, _ note: String = "") {
    blocks.append(.row(label: label, value: value ?? Units.notMeasured, note: note))
  }

  /// The report's text; ends with a newline.
  func rendered() -> String {
    var labelWidth = 0
    var valueWidth = 0
    for case .row(let label, let value, _) in blocks {
      labelWidth = max(labelWidth, DisplayText.width(label))
      valueWidth = max(valueWidth, DisplayText.width(value))
    }
    var text = ""
    for block in blocks {
      for line in lines(block, labelWidth: labelWidth, valueWidth: valueWidth) {
        text += line.rendered(width: width, style: style) + "\n"
      }
    }
    return text
  }

  private func lines(_ block: Block, labelWidth: Int, valueWidth: Int) -> [StyledLine] {
    switch block {
    case .line(let line): return [line]
    case .table(let table): return table.lines(width: width, isUnicode: style.unicode)
    case .sentence(let lead, let leadRole, let text, let role):
      let indent = DisplayText.width(lead)
      let wrapped = DisplayText.wrap(text, to: max(20, width - indent), isUnicode: style.unicode)
      return wrapped.enumerated().map { index, part in
        var line = StyledLine(
          index == 0 ? lead : String(repeating: " ", count: indent), index == 0 ? leadRole : .plain)
        line.append(part, role)
        return line
      }
    case .row(let label, let value, let note):
      let start = 2 + labelWidth + 2 + valueWidth + 3
      let notes = DisplayText.wrap(note, to: max(12, width - start), isUnicode: style.unicode)
      let gap = String(repeating: " ", count: 2 + valueWidth - DisplayText.width(value))
      var first = StyledLine("  " + DisplayText.pad(label, to: labelWidth) + gap)
      first.append(value, value == Units.notMeasured ? .dim : .heading)
      first.append("   ")
      first.append(notes.first ?? "", .dim)
      let rest = notes.dropFirst().map { note in
        var line = StyledLine(String(repeating: " ", count: start))
        line.append(note, .dim)
        return line
      }
      return [first] + rest
    }
  }
}

/// A table whose columns of free text give way first, and whose least important columns go next.
struct ReportTable {
  struct Column {
    var title: String
    var isRight = true
    /// Columns with a higher number are left out first; 0 always stays.
    var dropOrder = 0
    /// A column of sentences gives way down to this many columns before others go.
    var shortest: Int?
    var cells: [String]
  }

  var columns: [Column]
  /// A line below the rows, such as what was left out.
  var footer: String?

  /// A cell that was not measured; a column of nothing else is left out.
  static let notMeasured = "-"
  /// Chosen: a thread name has up to 15 bytes, escapes make it longer.
  private static let longestName = 28
  private static let shortestName = 15

  func lines(width: Int, isUnicode: Bool) -> [StyledLine] {
    var columns = columns.filter { column in
      column.cells.contains { !$0.isEmpty && $0 != Self.notMeasured }
    }
    guard !columns.isEmpty else { return [] }
    var sizes = fit(columns, to: width)
    while total(sizes) > width,
      let least = columns.indices.max(by: { columns[$0].dropOrder < columns[$1].dropOrder }),
      columns[least].dropOrder > 0
    {
      columns.remove(at: least)
      sizes = fit(columns, to: width)
    }

    func line(_ role: TextRole, _ cell: (Column) -> String) -> StyledLine {
      var text = ""
      for (column, size) in zip(columns, sizes) {
        let cell = DisplayText.cut(cell(column), to: size, isUnicode: isUnicode)
        text += "  " + DisplayText.pad(cell, to: size, isRight: column.isRight)
      }
      return StyledLine(text, role)
    }
    let rows = columns[0].cells.indices.map { index in line(.plain) { $0.cells[index] } }
    let below = footer.map { [StyledLine("  " + $0, .dim)] } ?? []
    return [line(.dim) { $0.title }] + rows + below
  }

  private func total(_ sizes: [Int]) -> Int { sizes.reduce(2 * sizes.count, +) }

  /// The columns' sizes, those of free text made smaller as far as that helps.
  private func fit(_ columns: [Column], to width: Int) -> [Int] {
    var sizes = columns.enumerated().map { index, column in
      let cells = column.cells.map(DisplayText.width).max() ?? 0
      let title = DisplayText.width(column.title)
      return max(title, index == 0 ? min(Self.longestName, cells) : cells)
    }
    for index in columns.indices.reversed() {
      guard let shortest = index == 0 ? Self.shortestName : columns[index].shortest else {
        continue
      }
      let surplus = max(0, total(sizes) - width)
      sizes[index] = max(min(shortest, sizes[index]), sizes[index] - surplus)
    }
    return sizes
  }
}
