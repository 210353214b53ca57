// The commands, declared once: parser, help, dump and later man pages and completions read this.

internal import ProbeCore

enum CommandName: String, Sendable, CaseIterable {
  case run, attach, dump, report, check, compare, history, metrics, version, help
}

/// One command, as help shows it.
struct CommandSpec: Sendable {
  struct Example: Sendable {
    var command: String
    var what: String
  }

  var name: CommandName
  var title: String
  var usage: String
  var examples: [Example]
  /// Sentences below the options.
  var notes: [String] = []
  /// What a usage error exits with.
  var usageExitCode: Int32 = 125
}

enum CommandTable {
  static let all: [CommandSpec] = [
    CommandSpec(
      name: .run, title: "launch a program and watch it until it ends",
      usage: "perfwatch run [options] [--] PROGRAM [ARGUMENT...]",
      examples: [
        .init(
          command: "perfwatch run ./server --port 80", what: "all after the program is its own"),
        .init(
          command: "perfwatch run --children -- make -j8", what: "count the whole process tree"),
        .init(
          command: "perfwatch run --summary out.json -- ./test",
          what: "keep the result for a machine"),
        .init(
          command: "perfwatch run --timeout 30s -- ./test", what: "end it after 30 s, exit with 124"
        ),
        .init(
          command: "perfwatch run -n 5 --warmup 1 --cpu-budget 80% -- ./test",
          what: "the median of five runs is judged"),
      ],
      notes: [
        "stdout and stdin are the program's; perfwatch writes to stderr and to the files you name.",
        "The exit status is the program's own; see `perfwatch help exit-codes`.",
        "Of several runs the first that fails is the last, and its status is passed on.",
      ]),
    CommandSpec(
      name: .attach, title: "watch a program that runs already",
      usage: "perfwatch attach [options] PID",
      examples: [
        .init(command: "perfwatch attach 4711", what: "until it ends or you press Ctrl-C"),
        .init(command: "perfwatch attach 4711 -d 30s", what: "for 30 seconds"),
        .init(
          command: "perfwatch attach --name '^redis-server$'", what: "the only process of that name"
        ),
      ],
      notes: [
        "The program is never ended; Ctrl-C ends the watching. Only a stack of a running thread stops it, for "
          + "some 50 microseconds (--no-stacks: never)."
      ]),
    CommandSpec(
      name: .dump, title: "print the stacks of a running process",
      usage: "perfwatch dump [options] PID",
      examples: [
        .init(command: "perfwatch dump 4711", what: "all threads: stacks, and what they wait for"),
        .init(command: "perfwatch dump 4711 --main", what: "only the main thread"),
        .init(
          command: "perfwatch dump 4711 --watch 100ms -n 50 --folded -o out.folded",
          what: "for a flame graph"),
        .init(command: "perfwatch dump --name '^redis-server$' --json", what: "for a machine"),
      ],
      notes: [
        "Blocked threads are not stopped; running ones one at a time, for some microseconds.",
        "A frame is: number, * if it is the program's own code, module, address in the module, "
          + "function + offset, file:line. Equal stacks are shown once.",
      ]),
    CommandSpec(
      name: .report, title: "print the report of a recording",
      usage: "perfwatch report [options] FILE",
      examples: [
        .init(command: "perfwatch report run.pwrec", what: "as it was printed at the end"),
        .init(command: "perfwatch report run.pwrec -f json", what: "the summary on stdout"),
      ],
      usageExitCode: 2),
    CommandSpec(
      name: .check, title: "judge a run that is over by budgets",
      usage: "perfwatch check [options] SUMMARY",
      examples: [
        .init(
          command: "perfwatch check out.json --budget 'stall.longest<250ms'",
          what: "a file of --summary"),
        .init(
          command: "perfwatch check run.pwrec --cpu-budget 80% --export junit=out.xml",
          what: "a recording; the verdict for a CI system"),
      ],
      notes: [
        "Exits with 0 when all budgets hold, 1 when one failed or could not be judged, 2 when the "
          + "file cannot be read."
      ],
      usageExitCode: 2),
    CommandSpec(
      name: .compare, title: "hold runs before and after a change against each other",
      usage: """
        perfwatch compare [options] BASE HEAD
        perfwatch compare [options] --base COMMAND --head COMMAND
        """,
      examples: [
        .init(command: "perfwatch compare base.json head.json", what: "one run each"),
        .init(
          command: "perfwatch compare b1.json,b2.json,b3.json,b4.json,b5.json h1.json,...",
          what: "several each: with five, changes are told from noise"),
        .init(
          command: "perfwatch compare --base ./old --head ./new -n 5",
          what: "run both in turn, five times or more, and compare"),
      ],
      notes: [
        "Exits with 0 when nothing is worse, 1 when something is, 2 when a file cannot be read or a "
          + "command fails.",
        "Commands are run by sh -c in the order base, head, head, base, with no input; what they write "
          + "to stdout is thrown away. More rounds than -n are made only while a change is not told "
          + "from noise.",
      ],
      usageExitCode: 2),
    CommandSpec(
      name: .history, title: "show how a program's numbers went from run to run",
      usage: "perfwatch history [options] FILE",
      examples: [
        .init(
          command: "perfwatch run --history perf.db -- ./test", what: "appends each run to the file"
        ),
        .init(command: "perfwatch history perf.db --branch main", what: "trends and last changes"),
        .init(
          command: "perfwatch run --history perf.db --baseline history:main -- ./test",
          what: "fails when it is worse than the last 20 runs of main"),
      ],
      notes: [
        "Commit and branch are those of GITHUB_SHA, GITHUB_REF_NAME, CI_COMMIT_SHA and "
          + "CI_COMMIT_BRANCH, else of the repository that perfwatch was started in.",
        "A change is a place that Mann-Whitney's U test tells apart, at least 4 runs on each side, p "
          + "times the places tried below 0.01.",
        "Exits with 0, or with 2 when the file cannot be read or holds no such run.",
      ],
      usageExitCode: 2),
    CommandSpec(
      name: .metrics, title: "list what budgets can name",
      usage: "perfwatch metrics [--json]",
      examples: [.init(command: "perfwatch metrics", what: "keys, units, what each needs")]),
    CommandSpec(
      name: .version, title: "print the version",
      usage: "perfwatch version [--json]",
      examples: [
        .init(command: "perfwatch version --json", what: "with commit and build, for bug reports")
      ]),
    CommandSpec(
      name: .help, title: "explain a command or a topic",
      usage: "perfwatch help [COMMAND|TOPIC]",
      examples: [.init(command: "perfwatch help exit-codes", what: "what perfwatch exits with")]),
  ]

  static func spec(_ name: CommandName) -> CommandSpec {
    // Every case has a row above; a test walks all cases.
    all.first { $0.name == name } ?? all[0]
  }
}

/// Help that belongs to no single command.
enum HelpPage: String, Sendable, CaseIterable {
  case exitCodes = "exit-codes"
  case units
  case formats
  case environment

  var title: String {
    switch self {
    case .exitCodes: "what perfwatch exits with"
    case .units: "how to write times, sizes and rates"
    case .formats: "what --export can write"
    case .environment: "environment variables that are read"
    }
  }

  /// Two columns.
  var rows: [(term: String, what: String)] {
    switch self {
    case .exitCodes:
      [
        ("0", "run: the program ended with 0; attach, dump: all went well"),
        ("n", "run: the program ended with n; its own status always goes first"),
        ("128+n", "run: signal n killed the program; perfwatch ends by the same signal"),
        ("98", "the program is fine, but a budget could not be judged"),
        ("99", "the program is fine, but a budget failed"),
        ("124", "run: --timeout ended the program"),
        (
          "125", "perfwatch itself failed: usage, permission, output; dump: no thread could be seen"
        ),
        ("126", "run: the program was found but cannot be executed"),
        ("127", "run: the program was not found"),
        ("1", "check: a budget failed or could not be judged; compare: worse"),
        ("2", "report, check, compare, history: usage, or a file that cannot be read"),
      ]
    case .units: Quantity.allCases.map { ($0.rawValue, $0.accepted) }
    case .formats: ReporterCatalog.all.map { ($0.name, $0.title) }
    case .environment:
      [
        ("NO_COLOR", "not empty: no colour"),
        ("CLICOLOR_FORCE", "not 0: colour even where there is no terminal"),
        ("CLICOLOR", "0: no colour"),
        ("TERM", "dumb: no colour, nothing redrawn"),
        ("CI, GITHUB_ACTIONS", "set: progress in plain lines"),
        ("GITHUB_SHA, GITHUB_REF_NAME", "commit and branch in a history"),
        ("CI_COMMIT_SHA, CI_COMMIT_BRANCH", "the same"),
        ("LC_ALL, LC_CTYPE, LANG", "UTF-8 or not: letters beyond ASCII or none"),
      ]
    }
  }
}
