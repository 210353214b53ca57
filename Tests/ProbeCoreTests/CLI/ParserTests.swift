import Testing

@testable import ProbeCore
@testable import perfwatch

@Suite struct ParserTests {
  static func run(_ words: String...) throws -> RunRequest {
    guard case .run(let request) = try Parser.parse(["run"] + words) else {
      throw Unexpected(words: words)
    }
    return request
  }

  static func attach(_ words: String...) throws -> AttachRequest {
    guard case .attach(let request) = try Parser.parse(["attach"] + words) else {
      throw Unexpected(words: words)
    }
    return request
  }

  struct Unexpected: Error { var words: [String] }

  static func message(_ words: [String]) -> String? {
    do {
      _ = try Parser.parse(words)
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: where options end

  @Test func `options of run end at the first other word`() throws {
    let request = try Self.run("--children", "ls", "-d", "--help", "--")
    #expect(request.command == ["ls", "-d", "--help", "--"])
    #expect(request.firstWord == 2)  // run --children ls
    #expect(request.options.followsChildren)
    #expect(request.options.duration == nil)
  }

  @Test func `a double dash ends the options of run and is not passed on`() throws {
    let request = try Self.run("-q", "--", "--odd", "--", "x")
    #expect(request.command == ["--odd", "--", "x"])
    #expect(request.firstWord == 3)
  }

  @Test func `a lone dash is a word`() throws {
    #expect(try Self.run("-").command == ["-"])
  }

  @Test func `options of attach may follow the pid`() throws {
    let request = try Self.attach("4711", "-d", "30s", "--children")
    #expect(request.target == .pid(ProcessID(4711)))
    #expect(request.options.duration == .seconds(30))
    #expect(request.options.followsChildren)
  }

  @Test func `nothing is given without being asked for`() throws {
    #expect(try Self.run("true").options == WatchOptions())
    #expect(try Self.attach("1").options == WatchOptions())
  }

  // MARK: every option in every form

  /// Spellings, and what they set. Each must give the same.
  static let forms: [(forms: [[String]], check: @Sendable (WatchOptions) -> Bool)] = [
    (
      [["-d", "30s"], ["-d30s"], ["--duration", "30s"], ["--duration=30s"]],
      { $0.duration == .seconds(30) }
    ),
    (
      [
        ["-i", "50ms"], ["-i50ms"], ["--interval", "50ms"], ["--interval=50ms"], ["-r20"],
        ["-r", "20Hz"],
        ["--rate=20"], ["--rate", "1200/min"],
      ], { $0.interval == .milliseconds(50) }
    ),
    ([["--timeout", "1m30s"], ["--timeout=90"]], { $0.timeout == .seconds(90) }),
    ([["--kill-after", "250ms"], ["--kill-after=0.25"]], { $0.killAfter == .milliseconds(250) }),
    ([["--children"]], { $0.followsChildren }),
    ([["--pss"]], { $0.measuresProportional }),
    ([["--thread-alarm", "12"], ["--thread-alarm=12"]], { $0.threadAlarm == 12 }),
    ([["--thread-alarm", "0"]], { $0.threadAlarm == nil }),
    ([["--wait-profile"]], { $0.output.showsAllWaits }),
    ([["--show-command"]], { $0.showsCommand }),
    ([["--summary", "a.json"], ["--summary=a.json"]], { $0.output.summaryPath == "a.json" }),
    ([["--record", "a.rec"], ["--record=a.rec"]], { $0.recordPath == "a.rec" }),
    ([["-o", "a"], ["-oa"], ["--output", "a"], ["--output=a"]], { $0.output.reportPath == "a" }),
    ([["--output=" + "a=b"], ["-oa=b"]], { $0.output.reportPath == "a=b" }),
    (
      [["--export", "json=x", "--export=text=y"]],
      { $0.output.exports == [.init(format: "json", path: "x"), .init(format: "text", path: "y")] }
    ),
    ([["-q"], ["--quiet"]], { $0.output.isQuiet }),
    ([["-v", "-v"], ["-vv"], ["--verbose", "-v"]], { $0.output.verbosity == 2 }),
    ([["--live"]], { $0.isLive }),
    ([["--progress", "plain"], ["--progress=plain"]], { $0.progress == .plain }),
    ([["--color", "never"], ["--color=never"]], { $0.output.color == .never }),
    (
      [["-vd5"], ["-vd", "5"], ["-v", "-d5"]],
      { $0.output.verbosity == 1 && $0.duration == .seconds(5) }
    ),
    ([["-d1", "-d2"]], { $0.duration == .seconds(2) }),
    (
      [["--stall-threshold", "100ms"], ["--stall-threshold=0.1s"]],
      { $0.stalls.threshold == .milliseconds(100) }
    ),
    ([["--observer", "proc"], ["--observer=proc"]], { $0.stalls.observer == .proc }),
    ([["--observer", "auto"], []], { $0.stalls.observer == nil }),
    (
      [["--watch-thread", "io-*", "--watch-thread=42"]],
      { $0.stalls.selection == .named(["io-*", "42"]) }
    ),
    ([["--watch", "loops"], ["--watch=loops"]], { $0.stalls.selection == .loops }),
    ([["--watch=main"], []], { $0.stalls.selection == .main }),
    ([["--no-stalls"]], { !$0.watchesStalls }),
    (
      [["--ignore-stall", "a-1", "--ignore-stall=b-*"]],
      { $0.output.ignoredStalls == ["a-1", "b-*"] }
    ),
    (
      [["--ignore-stalls-file", "x"], ["--ignore-stalls-file=x"]],
      { $0.output.ignoreFiles == ["x"] }
    ),
    ([["--no-stacks"]], { !$0.stalls.takesStacks }),
    ([["--no-causes"]], { !$0.stalls.takesCauses && $0.stalls.takesStacks }),
    (
      [
        ["-b", "wall<1s", "-bx:cpu.average<80%"],
        ["--budget=wall<1s", "--budget", "x:cpu.average<80%"],
      ],
      { $0.budget.rules.map(\.metric) == ["wall", "cpu.average"] }
    ),
    (
      [["--stall-budget", "250ms"], ["--stall-budget=0.25s"]],
      { $0.budget.rules.map(\.limit) == [0.25] && $0.budget.rules[0].metric == "stall.longest" }
    ),
    (
      [["--cpu-budget", "80%"], ["--cpu-budget=0.8cpu"]],
      { $0.budget.rules.map(\.limit) == [80] && $0.budget.rules[0].metric == "cpu.average" }
    ),
    ([["--grace", "2s"], ["--grace=2"]], { $0.budget.scope.grace == .seconds(2) }),
    ([["--count-environment"]], { $0.budget.scope.countsEnvironment }),
    (
      [["--indeterminate", "fail"], ["--indeterminate=fail"]], { $0.budget.indeterminate == .fail }
    ),
    (
      [["-n", "5"], ["-n5"], ["--runs", "5"], ["--runs=5"]],
      { $0.repeats == RepeatOptions(runs: 5) }
    ),
    ([["--warmup", "0"], ["--warmup=0"]], { $0.repeats == RepeatOptions(warmup: 0) }),
    ([["--judge", "worst"], ["--judge=worst"]], { $0.budget.judge == .worst }),
    ([["--budget-exit-code", "7"], ["--budget-exit-code=7"]], { $0.budget.exitCode == 7 }),
    ([["--abort-on-fail"]], { $0.budget.abortsOnFail }),
    ([["--baseline", "a.json"], ["--baseline=a.json"]], { $0.baseline.path == "a.json" }),
    (
      [["--max-regression", "10%"], ["--max-regression=10%"]],
      { abs($0.baseline.regression - 0.1) < 1e-9 }
    ),
    ([["--save-baseline", "a"], ["--save-baseline=a"]], { $0.output.baselinePath == "a" }),
    ([["--history", "h"], ["--history=h"]], { $0.output.historyPath == "h" }),
    (
      [["--history", "h", "--label", "a=b"], ["--history=h", "--label=a=b"]],
      { $0.output.labels == [RunLabel(key: "a", value: "b")] }
    ),
    ([["--config", "a.json"], ["--config=a.json"]], { $0 == WatchOptions() }),
    (
      [["--in-app", "libx*", "--in-app=/opt/*"]],
      { $0.stalls.inAppPatterns == ["libx*", "/opt/*"] && $0.stalls.takesStacks }
    ),
  ]

  @Test(arguments: forms.indices)
  func `every form of an option means the same`(index: Int) throws {
    let (forms, check) = Self.forms[index]
    for words in forms {
      guard case .run(let request) = try Parser.parse(["run"] + words + ["prog"]) else {
        throw Unexpected(words: words)
      }
      #expect(check(request.options), "\(words)")
      #expect(request.command == ["prog"], "\(words)")
    }
  }

  @Test func `every option of the table that run knows is covered above`() {
    let spelled = Set(
      Self.forms.flatMap(\.forms).joined().filter { $0.hasPrefix("--") }.map {
        String($0.dropFirst(2).prefix { $0 != "=" })
      })
    let known = OptionTable.options(of: .run).map(\.long)
    #expect(Set(known).subtracting(spelled) == ["help"])
  }

  @Test(arguments: [
    ["-p", "12"], ["-p12"], ["--pid", "12"], ["--pid=12"], ["12"], ["--", "12"], ["-q", "12"],
  ])
  func `a process is named by number`(words: [String]) throws {
    guard case .attach(let request) = try Parser.parse(["attach"] + words) else {
      throw Unexpected(words: words)
    }
    #expect(request.target == .pid(ProcessID(12)))
  }

  @Test func `a process is named by an expression`() throws {
    #expect(try Self.attach("--name", "^redis").target == .name("^redis"))
    let pattern = try #require(NamePattern("^redis-(server|cli)$"))
    #expect(pattern.matches("redis-server"))
    #expect(!pattern.matches("a redis-server"))
    #expect(NamePattern("(") == nil)
  }

  @Test func `a report has a file, a format and outputs`() throws {
    let parsed = try Parser.parse(["report", "x.rec", "-f", "json", "-o-", "--color=always"])
    var output = OutputOptions()
    output.reportPath = "-"
    output.color = .always
    #expect(parsed == .report(ReportRequest(file: "x.rec", format: "json", output: output)))
    #expect(
      try Parser.parse(["report", "--", "-x"])
        == .report(ReportRequest(file: "-x", output: .init())))
  }

  @Test(
    arguments: [
      (["--help"], .help(.overview)), (["-h"], .help(.overview)), (["help"], .help(.overview)),
      (["help", "run"], .help(.command(.run))), (["run", "--help"], .help(.command(.run))),
      (["run", "-h"], .help(.command(.run))), (["attach", "1", "-qh"], .help(.command(.attach))),
      (["run", "--duration=5s", "--help", "--bogus"], .help(.command(.run))),
      (["help", "exit-codes"], .help(.page(.exitCodes))),
      (["help", "--help"], .help(.command(.help))),
      (["version"], .version(isJSON: false)), (["version", "--json"], .version(isJSON: true)),
      (["--version"], .version(isJSON: false)), (["-V"], .version(isJSON: false)),
      (["-V", "--json"], .version(isJSON: true)), (["--dump-cli", "json"], .dumpTables),
    ] as [([String], ParsedCommand)])
  func `help and version have their usual forms`(words: [String], expected: ParsedCommand) throws {
    #expect(try Parser.parse(words) == expected)
  }

  // MARK: errors

  static let duration =
    "(accepted: ns us ms s m h d, as in 250ms, 1.5s or 1m30s; a bare number is seconds)"

  @Test(
    arguments: [
      ("run", "no program to run"),
      ("run -q --", "no program to run"),
      ("run --durtion 5 x", "unknown option '--durtion'; did you mean '--duration'?"),
      ("run --dur 5 x", "unknown option '--dur'; did you mean '--duration'?"),
      ("run --bogus x", "unknown option '--bogus'"),
      ("run -z x", "unknown option '-z'"),
      ("run -qz x", "unknown option '-z'"),
      ("run --name x", "unknown option '--name' for run (it belongs to: attach, dump)"),
      (
        "attach --timeout 5 1",
        "unknown option '--timeout' for attach (it belongs to: run, compare)"
      ),
      ("run -duration 5 x", "'-duration' is not an option; did you mean --duration?"),
      ("run -output x y", "'-output' is not an option; did you mean --output?"),
      ("run -d", "-d needs a value: TIME"),
      ("run --timeout -- true", "--timeout needs a value: TIME; the next word is '--'"),
      ("attach -d --pid 4", "-d needs a value: TIME; the next word is '--pid'"),
      ("run --summary", "--summary needs a value: FILE"),
      ("run --children=yes x", "--children takes no value"),
      ("run -d=5 x", "-d takes its value without '=', as in -d5"),
      ("run -d x", "-d: 'x' is not a duration: it has no number where one belongs " + duration),
      ("run -d 0 x", "-d: '0' is zero"),
      ("run -i 9ms x", "-i: '9ms' is too often; at most every 10ms (100Hz)"),
      ("run -i 2h x", "-i: '2h' is too seldom; at least every hour"),
      ("run -r 101 x", "-r: '101' is too often; at most every 10ms (100Hz)"),
      ("run -r 0 x", "-r: '0' is zero"),
      ("run -r 0.5/h x", "-r: '0.5/h' is too seldom; at least every hour"),
      ("run -r 5 -i 1s x", "--interval and --rate exclude each other; give one of them"),
      ("run -q -v x", "--quiet and --verbose exclude each other; give one of them"),
      ("run -q --live x", "--quiet and --live exclude each other; give one of them"),
      (
        "run --live --progress=plain x",
        "--live and --progress exclude each other; give one of them"
      ),
      (
        "run --color=ever x",
        "--color: 'ever' is not one of: auto, always, never, did you mean 'never'?"
      ),
      ("run --progress=bar x", "--progress: 'bar' is not one of: auto, tty, plain, none"),
      (
        "run --export svg=x y",
        "--export: 'svg' is not one of: text, json, junit, github, markdown, gitlab, tap, plain, "
          + "folded-waits, folded-threads"
      ),
      (
        "run --export json y",
        "--export: 'json' has no '='; write FORMAT=FILE, as in text=report.txt"
      ),
      ("run --export json= y", "--export: the file name is empty"),
      ("run --output= y", "--output: the file name is empty"),
      ("run --summary x --record x y", "two outputs go to 'x'; name different files"),
      ("run -o - y", "stdout belongs to the program; name a file instead of '-'"),
      ("attach --record - 1", "a recording cannot go to stdout; name a file instead of '-'"),
      ("attach", "no process to attach to; give a PID or --name REGEX"),
      ("attach 0", "'0' is not a process id (a number from 1 up)"),
      ("attach -1", "unknown option '-1'"),
      ("attach -p -1", "-p: '-1' is not a process id (a number from 1 up)"),
      ("attach 99999999999", "'99999999999' is not a process id (a number from 1 up)"),
      (
        "attach redis",
        "'redis' is not a process id (a number from 1 up); by name: perfwatch attach --name redis"
      ),
      ("attach 1 2", "unexpected argument '2'"),
      ("attach -p 1 2", "unexpected argument '2'"),
      ("attach -p 1 --name x", "--pid and --name exclude each other; give one of them"),
      ("attach --name (", "--name: '(' is not a regular expression"),
      ("report", "no recording to report"),
      ("report a b", "unexpected argument 'b'"),
      (
        "report a -f xml",
        "-f: 'xml' is not one of: text, json, junit, github, markdown, gitlab, tap, plain, "
          + "folded-waits, folded-threads"
      ),
      (
        "report a --children",
        "unknown option '--children' for report (it belongs to: run, attach, compare)"
      ),
      ("version x", "unexpected argument 'x'"),
    ])
  func `an error says what and where to read on`(line: String, expected: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let command = words[0]
    let error = try #require(throws: UsageError.self) { try Parser.parse(words) }
    #expect(error.message == expected + "; see `perfwatch help \(command)`")
    #expect(error.exitCode == (command == "report" ? 2 : 125))
    #expect(error.help == nil)
  }

  @Test(
    arguments: [
      ("rnu ls", "unknown command 'rnu'; did you mean 'run'?"),
      ("./app", "unknown command './app'; to watch a program: `perfwatch run ./app`"),
      (
        "-d 5 run",
        "'-d' stands before the command; options go after it, as in `perfwatch run -d ...`"
      ),
      ("help exit-code", "no help on 'exit-code'; did you mean 'exit-codes'?"),
      ("help xyzzy", "no help on 'xyzzy'"),
      ("--dump-cli", "--dump-cli takes one word: json"),
    ])
  func `an unknown command or topic leads to the overview`(line: String, expected: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let error = try #require(throws: UsageError.self) { try Parser.parse(words) }
    #expect(error == UsageError(message: expected + "; see `perfwatch --help`", exitCode: 125))
  }

  @Test func `no words at all ask for the short help and 125`() throws {
    let error = try #require(throws: UsageError.self) { try Parser.parse([]) }
    #expect(error.help == .usage)
    #expect(error.exitCode == 125)
  }

  @Test func `a message is one line and holds no control character`() {
    for words in [
      ["run", "--x\u{1b}[2J\n", "y"], ["a\nb"], ["attach", "\u{1b}"], ["run", "-d\r", "x"],
      ["-\u{1b}"],
      ["run", "-\u{1b}", "x"], ["run", "--color=\n", "x"], ["help", "\u{7}"], ["attach", "x\ny"],
      ["run", "-d=\n", "x"], ["run", "--\u{1b}=1"],
    ] {
      let message = Self.message(words)
      #expect(message != nil)
      #expect(message?.unicodeScalars.contains { $0.value < 0x20 } == false, "\(words)")
    }
  }
}
