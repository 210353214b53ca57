// Help, made from the tables: examples first, as most readers look for the line to copy.

internal import ProbeCore

enum HelpText {
  /// The text for a topic; ends with a newline, at most 80 columns, ASCII, no colour.
  static func render(_ topic: HelpTopic) -> String {
    switch topic {
    case .usage: usage
    case .overview: overview
    case .command(let name): command(CommandTable.spec(name))
    case .page(let page): self.page(page)
    }
  }

  private static let width = 80

  private static var usage: String {
    """
    usage: perfwatch run [options] [--] PROGRAM [ARGUMENT...]
           perfwatch attach [options] PID
           perfwatch dump [options] PID
    More: perfwatch --help

    """
  }

  private static var overview: String {
    let watching = [CommandName.run, .attach].flatMap { CommandTable.spec($0).examples.prefix(2) }
    let examples =
      watching + CommandTable.spec(.dump).examples.prefix(1)
      + CommandTable.spec(.report).examples.prefix(1)
    let commands = CommandTable.all.map { ($0.name.rawValue, $0.title) }
    let pages = HelpPage.allCases.map { ($0.rawValue, $0.title) }
    return """
      perfwatch watches a program from outside: CPU, memory, threads, stalls and why.

      Examples:
      \(rows(examples.map { ($0.command, $0.what) }))
      Usage: perfwatch COMMAND [options] ...

      \(rows(commands))
      Topics:
      \(rows(pages))
      `perfwatch help COMMAND` shows its options.

      """
  }

  private static func command(_ spec: CommandSpec) -> String {
    var text = "\(spec.usage)\n\n\(spec.title.prefix(1).uppercased())\(spec.title.dropFirst()).\n"
    text += "\nExamples:\n" + rows(spec.examples.map { ($0.command, $0.what) })
    let options = OptionTable.options(of: spec.name)
    let longest = options.map { form($0).count }.max() ?? 0
    for group in OptionSpec.Group.allCases {
      let members = options.filter { $0.group == group }
      if members.isEmpty { continue }
      text +=
        "\n\(group.rawValue):\n" + rows(members.map { (form($0), $0.fullHelp) }, column: longest)
    }
    if !spec.notes.isEmpty { text += "\n" }
    for note in spec.notes { text += wrap(note, to: width).joined(separator: "\n") + "\n" }
    return text
  }

  private static func page(_ page: HelpPage) -> String {
    "\(page.title.prefix(1).uppercased())\(page.title.dropFirst()):\n\n" + rows(page.rows)
  }

  /// `-d, --duration TIME`; options without a letter are indented like the others.
  private static func form(_ option: OptionSpec) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    return short + "--" + option.long + (option.placeholder.map { " " + $0 } ?? "")
  }

  /// Two columns; a long left side gets a line of its own.
  private static func rows(_ rows: [(String, String)], column: Int? = nil) -> String {
    let column = column ?? rows.map(\.0.count).filter { $0 <= 48 }.max() ?? 0
    let start = 2 + column + 2
    var text = ""
    for (left, right) in rows {
      let lines = wrap(right, to: max(20, width - start))
      let gap = String(repeating: " ", count: start)
      if left.count <= column {
        text += "  " + left + String(repeating: " ", count: column - left.count + 2)
      } else {
        text += "  " + left + "\n" + gap
      }
      text += lines.joined(separator: "\n" + gap) + "\n"
    }
    return text
  }

  private static func wrap(_ text: String, to width: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if last.count + 1 + word.count <= width {
        lines[lines.count - 1] = last + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
