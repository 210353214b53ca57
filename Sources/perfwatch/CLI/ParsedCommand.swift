// What a command line asks for, as values. The parser makes these; the commands read nothing else.

internal import ProbeCore

/// One understood command line.
enum ParsedCommand: Sendable, Equatable {
  case run(RunRequest)
  case attach(AttachRequest)
  case dump(ParsedDump)
  case report(ReportRequest)
  case check(CheckRequest)
  case compare(CompareRequest)
  case history(HistoryRequest)
  /// `perfwatch check --print-config`.
  case printConfig
  case metrics(isJSON: Bool)
  case version(isJSON: Bool)
  case help(HelpTopic)
  /// `--dump-cli json`: the tables as JSON, for tests, man pages and completions.
  case dumpTables
}

/// `perfwatch run`.
struct RunRequest: Sendable, Equatable {
  /// The program and its arguments as text, for display. What is executed are the raw words from
  /// `firstWord` on: text cannot carry bytes that are not UTF-8.
  var command: [String]
  /// Index of the program among the parsed words (the first one, after perfwatch's own name, is 0).
  var firstWord: Int
  var options: WatchOptions
}

/// `perfwatch attach`.
struct AttachRequest: Sendable, Equatable {
  enum Target: Sendable, Equatable {
    case pid(ProcessID)
    /// A regular expression, known to be one; see `NamePattern`.
    case name(String)
  }

  var target: Target
  var options: WatchOptions
}

/// `perfwatch dump`.
struct ParsedDump: Sendable, Equatable {
  var target: AttachRequest.Target
  var options: DumpOptions
}

/// `perfwatch report`.
struct ReportRequest: Sendable, Equatable {
  var file: String
  /// A name in `ReporterCatalog`: what goes to stdout or `output`.
  var format = "text"
  var output: OutputOptions
}

/// `perfwatch check`.
struct CheckRequest: Sendable, Equatable {
  /// A summary or a recording.
  var file: String
  var budget: BudgetSettings
  var baseline: BaselineOptions
  var output: OutputOptions
}

/// `perfwatch compare`.
struct CompareRequest: Sendable, Equatable {
  /// A file, or several with commas between; with `isOfCommands` a shell command.
  var base: String
  var head: String
  /// Run two commands in turn and compare these runs.
  var isOfCommands = false
  /// How to watch commands.
  var options = WatchOptions()
  var showsOutput = false
  var gates: ComparisonGates
  var indeterminate: IndeterminatePolicy
  var isJSON: Bool
  var color: ColorChoice
}

/// Budgets made from earlier runs.
struct BaselineOptions: Sendable, Equatable {
  /// A file, or several with commas between, or `history:BRANCH`.
  var path: String?
  /// How much more than the baseline is allowed, as a part of it.
  var regression = ComparisonGates().relative
}

/// How often a command runs (`run`, `compare`).
struct RepeatOptions: Sendable, Equatable {
  /// Runs that count; nil for what the command does without being asked.
  var runs: Int?
  /// Runs before those; nil likewise.
  var warmup: Int?
  /// `compare`: no more rounds than this.
  var maxRounds: Int?

  /// Whether `run` has more to do than one run.
  var isRepeated: Bool { (runs ?? 1) > 1 || (warmup ?? 0) > 0 }
}

/// Options of `run` and `attach`.
struct WatchOptions: Sendable, Equatable {
  /// Stop watching after this long.
  var duration: Nanoseconds?
  /// The metrics tick.
  var interval = Nanoseconds.milliseconds(100)
  /// End the launched target after this long (`run`).
  var timeout: Nanoseconds?
  /// From TERM to KILL (`run`).
  var killAfter = Nanoseconds.seconds(5)
  var followsChildren = false
  /// Read PSS at the end.
  var measuresProportional = false
  /// Store and show the whole command line.
  var showsCommand = false
  /// nil for none.
  var threadAlarm: Int? = 64
  var stalls = StallSettings()
  var watchesStalls = true
  var budget = BudgetSettings()
  var baseline = BaselineOptions()
  var repeats = RepeatOptions()
  var recordPath: String?
  var isLive = false
  var progress = ProgressChoice.auto
  var output = OutputOptions()

  /// The bounds of `interval`. Chosen: below, watching costs more than 1 % of a core; above, no
  /// peak is seen.
  static let shortestInterval = Nanoseconds.milliseconds(10)
  static let longestInterval = Nanoseconds.seconds(3600)
}

/// Options about where results go and how they look.
struct OutputOptions: Sendable, Equatable {
  struct Export: Sendable, Equatable {
    /// A name in `ReporterCatalog`.
    var format: String
    var path: String
  }

  /// The final text goes here instead of to stderr (`report`: stdout); `-` is stdout.
  var reportPath: String?
  var summaryPath: String?
  /// Where the summary of a run goes if no budget failed.
  var baselinePath: String?
  /// The history that the run is appended to.
  var historyPath: String?
  var labels: [RunLabel] = []
  var exports: [Export] = []
  var isQuiet = false
  /// How often `-v` was given.
  var verbosity = 0
  var color = ColorChoice.auto
  /// The whole wait profile in the text.
  var showsAllWaits = false
  /// Signatures of stalls that do not count, and files with more of them.
  var ignoredStalls: [String] = []
  var ignoreFiles: [String] = []
}

/// What `help` can be asked about.
enum HelpTopic: Sendable, Equatable {
  /// `perfwatch --help`.
  case overview
  /// Three lines, for a bare `perfwatch`.
  case usage
  case command(CommandName)
  case page(HelpPage)
}

/// A command line that was not understood.
struct UsageError: Error, Sendable, Equatable {
  /// One line, without the program's name: what, on what, why, what to do. Safe for a terminal.
  var message: String
  /// 125 where a wrapper's own failure must not look like the target's, else 2.
  var exitCode: Int32
  /// Help to print instead of a message: nothing at all was asked for.
  var help: HelpTopic?
}
