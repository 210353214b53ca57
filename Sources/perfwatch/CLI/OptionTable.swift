// Every option, declared once: its forms, what it takes, where it is valid, what it does.
// Parser, help, suggestions, dump and later man pages and completions follow from this table.

internal import ProbeCore

/// Why an option's value was refused, without the option's name.
struct ValueProblem: Error {
  var why: String
}

/// Everything options can set, before it is known to fit together.
struct OptionBag {
  var watch = WatchOptions()
  var pid: ProcessID?
  var name: String?
  var format: String?
  var isJSON = false
  var dump = DumpOptions()
  var configPath: String?
  var metrics: [String] = []
  var printsConfig = false
  var baseCommand: String?
  var headCommand: String?
  var showsOutput = false
  var history = HistoryFilter()
}

/// One option.
struct OptionSpec: Sendable {
  enum Value: Sendable {
    case none
    /// Any text; the placeholder for help, such as `TIME`.
    case text(String)
    case file
    /// One of these words; help lists them.
    case choice(String, [String])
  }

  enum Group: String, Sendable, CaseIterable {
    case watching = "Watching"
    case threads = "Threads"
    case frames = "Frames"
    case stalls = "Stalls"
    case repeats = "Repeats"
    case budgets = "Budgets"
    case history = "History"
    case ending = "Ending"
    case output = "Output"
    case display = "Display"
  }

  var short: Character?
  var long: String
  var value: Value
  var commands: [CommandName]
  var group: Group
  var help: String
  /// Options that cannot stand beside this one, by long name.
  var excludes: [String] = []
  var apply: @Sendable (inout OptionBag, String) throws(ValueProblem) -> Void

  var takesValue: Bool { if case .none = value { false } else { true } }

  var placeholder: String? {
    switch value {
    case .none: nil
    case .text(let name): name
    case .file: "FILE"
    case .choice(let name, _): name
    }
  }

  /// The sentence for help, with the words that may be given.
  var fullHelp: String {
    guard case .choice(_, let words) = value else { return help }
    return "\(help): \(words.joined(separator: ", "))"
  }
}

enum OptionTable {
  static let watchers: [CommandName] = [.run, .attach]
  /// Those that run something or watch it; `compare` only with commands, see `runners`.
  static let runners: [CommandName] = watchers + [.compare]
  private static let writers: [CommandName] = [.run, .attach, .report, .check]

  static let all: [OptionSpec] =
    watching + stalls + repeats + budgets + history + ending + output + display + dump

  /// The options a command knows, in the order of help.
  static func options(of command: CommandName) -> [OptionSpec] {
    all.filter { $0.commands.contains(command) }
  }

  private static let watching: [OptionSpec] = [
    OptionSpec(
      short: "p", long: "pid", value: .text("PID"), commands: [.attach, .dump], group: .watching,
      help: "the process", excludes: ["name"]
    ) { bag, text throws(ValueProblem) in bag.pid = try Values.pid(text) },
    OptionSpec(
      short: nil, long: "name", value: .text("REGEX"), commands: [.attach, .dump], group: .watching,
      help: "the only process whose name matches"
    ) { bag, text throws(ValueProblem) in bag.name = try Values.pattern(text) },
    OptionSpec(
      short: "i", long: "interval", value: .text("TIME"), commands: runners, group: .watching,
      help: "measure this often (default 100ms, at least 10ms)", excludes: ["rate"]
    ) { bag, text throws(ValueProblem) in bag.watch.interval = try Values.interval(text) },
    OptionSpec(
      short: "r", long: "rate", value: .text("HZ"), commands: runners, group: .watching,
      help: "the same as a rate, as in 10 or 5/min"
    ) { bag, text throws(ValueProblem) in bag.watch.interval = try Values.intervalOfRate(text) },
    OptionSpec(
      short: nil, long: "children", value: .none, commands: runners, group: .watching,
      help: "follow and count all descendants"
    ) { bag, _ in bag.watch.followsChildren = true },
    OptionSpec(
      short: nil, long: "pss", value: .none, commands: watchers, group: .watching,
      help: "measure PSS once, at the end; slow with much memory"
    ) { bag, _ in bag.watch.measuresProportional = true },
    OptionSpec(
      short: nil, long: "thread-alarm", value: .text("N"), commands: watchers, group: .watching,
      help:
        "tell of N threads, or N/2 more within a second, and where they are (default 64; 0 never)"
    ) { bag, text throws(ValueProblem) in bag.watch.threadAlarm = try Values.threadAlarm(text) },
  ]

  private static let ending: [OptionSpec] = [
    OptionSpec(
      short: "d", long: "duration", value: .text("TIME"), commands: watchers, group: .ending,
      help: "watch for TIME, then report"
    ) { bag, text throws(ValueProblem) in bag.watch.duration = try Values.duration(text) },
    OptionSpec(
      short: nil, long: "timeout", value: .text("TIME"), commands: [.run, .compare], group: .ending,
      help: "end the program after TIME by TERM and exit with 124"
    ) { bag, text throws(ValueProblem) in bag.watch.timeout = try Values.duration(text) },
    OptionSpec(
      short: nil, long: "kill-after", value: .text("TIME"), commands: [.run, .compare],
      group: .ending,
      help: "then KILL it after TIME more (default 5s)"
    ) { bag, text throws(ValueProblem) in bag.watch.killAfter = try Values.duration(text) },
  ]

  private static let output: [OptionSpec] = [
    OptionSpec(
      short: nil, long: "summary", value: .file, commands: writers, group: .output,
      help: "write the summary as JSON"
    ) { bag, text throws(ValueProblem) in bag.watch.output.summaryPath = try Values.file(text) },
    OptionSpec(
      short: nil, long: "record", value: .file, commands: watchers, group: .output,
      help: "write the recording, for `perfwatch report`"
    ) { bag, text throws(ValueProblem) in bag.watch.recordPath = try Values.file(text) },
    OptionSpec(
      short: "o", long: "output", value: .file, commands: writers, group: .output,
      help: "write the final report to FILE, not to the terminal"
    ) { bag, text throws(ValueProblem) in bag.watch.output.reportPath = try Values.file(text) },
    OptionSpec(
      short: "f", long: "format", value: .choice("FMT", ReporterCatalog.all.map(\.name)),
      commands: [.report], group: .output, help: "what to print"
    ) { bag, text throws(ValueProblem) in bag.format = try Values.format(text) },
    OptionSpec(
      short: nil, long: "export", value: .text("FMT=FILE"), commands: writers, group: .output,
      help: "write another format, see `help formats`; repeatable"
    ) { bag, text throws(ValueProblem) in bag.watch.output.exports.append(try Values.export(text))
    },
    OptionSpec(
      short: nil, long: "wait-profile", value: .none, commands: [.run, .attach, .report],
      group: .output,
      help: "report all waits of the watched threads, and from where they were called"
    ) { bag, _ in bag.watch.output.showsAllWaits = true },
    OptionSpec(
      short: nil, long: "show-command", value: .none, commands: watchers, group: .output,
      help: "store and show all arguments, not only option names"
    ) { bag, _ in bag.watch.showsCommand = true },
    OptionSpec(
      short: nil, long: "json", value: .none,
      commands: [.version, .dump, .metrics, .compare, .history],
      group: .output,
      help: "print JSON"
    ) { bag, _ in bag.isJSON = true },
  ]

  private static let display: [OptionSpec] = [
    OptionSpec(
      short: "q", long: "quiet", value: .none, commands: watchers, group: .display,
      help: "no progress and no report on the terminal", excludes: ["verbose", "live"]
    ) { bag, _ in bag.watch.output.isQuiet = true },
    OptionSpec(
      short: "v", long: "verbose", value: .none, commands: writers, group: .display,
      help: "say more; repeatable"
    ) { bag, _ in bag.watch.output.verbosity += 1 },
    OptionSpec(
      short: nil, long: "live", value: .none, commands: watchers, group: .display,
      help: "redraw the status even where the program prints, too", excludes: ["progress"]
    ) { bag, _ in bag.watch.isLive = true },
    OptionSpec(
      short: nil, long: "progress", value: .choice("HOW", ProgressChoice.allCases.map(\.rawValue)),
      commands: runners, group: .display, help: "progress"
    ) { bag, text throws(ValueProblem) in bag.watch.progress = try Values.choice(text) },
    OptionSpec(
      short: nil, long: "color", value: .choice("WHEN", ColorChoice.allCases.map(\.rawValue)),
      commands: writers + [.compare, .history], group: .display, help: "colour"
    ) { bag, text throws(ValueProblem) in bag.watch.output.color = try Values.choice(text) },
    OptionSpec(
      short: "h", long: "help", value: .none, commands: CommandName.allCases, group: .display,
      help: "print this help"
    ) { _, _ in },
  ]
}
