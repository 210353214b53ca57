// How text output looks: colour, letters, width; and lines made of styled pieces.
// Widths are counted before colour is added, so colour never moves a column.

/// The look of text output.
public struct TextStyle: Sendable, Equatable {
  public var color: Bool
  /// More than ASCII may be written.
  public var unicode: Bool
  /// Columns; less than 40 is taken as 40 by the report.
  public var width: Int

  public init(color: Bool, unicode: Bool, width: Int) {
    self.color = color
    self.unicode = unicode
    self.width = width
  }

  /// For a file: the same on every machine.
  public static let file = TextStyle(color: false, unicode: true, width: 100)
}

/// What a piece of text is; colour follows from it.
enum TextRole {
  case plain, heading, dim, good, warning, bad

  /// The parameters of the SGR control sequence; empty for none.
  var sequence: String {
    switch self {
    case .plain: ""
    case .heading: "1"
    case .dim: "2"
    case .good: "32"
    case .warning: "33"
    case .bad: "31"
    }
  }
}

/// One line of pieces.
struct StyledLine {
  private(set) var pieces: [(text: String, role: TextRole)] = []

  init(_ text: String = "", _ role: TextRole = .plain) {
    if !text.isEmpty { pieces.append((text, role)) }
  }

  mutating func append(_ text: String, _ role: TextRole = .plain) {
    if !text.isEmpty { pieces.append((text, role)) }
  }

  var width: Int { pieces.reduce(0) { $0 + DisplayText.width($1.text) } }

  /// The line in at most `width` columns, blanks at the end removed, coloured if wanted.
  func rendered(width: Int, style: TextStyle) -> String {
    var room = width
    var fitting: [(text: String, role: TextRole)] = []
    for piece in pieces where room > 0 {
      let text = DisplayText.cut(piece.text, to: room, isUnicode: style.unicode)
      room -= DisplayText.width(text)
      fitting.append((text, piece.role))
      if text != piece.text { break }
    }
    while let last = fitting.last, last.text.last == " " || last.text.isEmpty {
      fitting.removeLast()
      let trimmed = String(last.text.reversed().drop { $0 == " " }.reversed())
      if !trimmed.isEmpty { fitting.append((trimmed, last.role)) }
    }
    return fitting.reduce(into: "") { line, piece in
      let sequence = piece.role.sequence
      line +=
        style.color && !sequence.isEmpty && piece.text.contains { $0 != " " }
        ? "\u{1b}[\(sequence)m\(piece.text)\u{1b}[0m" : piece.text
    }
  }
}
