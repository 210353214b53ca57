// The option table as JSON: tests, and whatever makes man pages and completions, read this.

internal import ProbeCore

/// `perfwatch --dump-cli json`.
struct TableDump: Encodable {
  struct Command: Encodable {
    var name: String
    var title: String
    var usage: String
    var usageExitCode: Int32
    var options: [Option]
  }

  struct Option: Encodable {
    var long: String
    var short: String?
    var value: String?
    var kind: String
    var choices: [String]
    var group: String
    var help: String
    var excludes: [String]
  }

  var commands: [Command]
  var topics: [String]

  init() {
    commands = CommandTable.all.map { spec in
      Command(
        name: spec.name.rawValue, title: spec.title, usage: spec.usage,
        usageExitCode: spec.usageExitCode,
        options: OptionTable.options(of: spec.name).map(Option.init))
    }
    topics = HelpPage.allCases.map(\.rawValue)
  }

  /// The dump as UTF-8 text with a newline at its end.
  static func json() throws -> [UInt8] { try OrderedJSONEncoder().encode(TableDump()) }
}

extension TableDump.Option {
  init(_ spec: OptionSpec) {
    var choices: [String] = []
    switch spec.value {
    case .none: kind = "flag"
    case .text: kind = "text"
    case .file: kind = "file"
    case .choice(_, let words):
      kind = "choice"
      choices = words
    }
    self.choices = choices
    long = spec.long
    short = spec.short.map(String.init)
    value = spec.placeholder
    group = spec.group.rawValue
    help = spec.help
    excludes = spec.excludes
  }
}
