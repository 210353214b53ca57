import Testing

@testable import ProbeCore
@testable import perfwatch

@Suite struct ConfigFileTests {
  private func file(_ text: String) throws(ConfigFile.Problem) -> ConfigFile {
    try ConfigFile(path: "perfwatch.json", Array(text.utf8))
  }

  private func message(_ text: String) -> String {
    do throws(ConfigFile.Problem) {
      let file = try file(text)
      _ = try file.bag(of: .run, but: [])
      return "taken"
    } catch {
      return error.message
    }
  }

  private func run(_ config: String, _ words: String...) throws -> WatchOptions {
    let words = ["run"] + words + ["prog"]
    let given = try Parser.read(words).given.map(\.long)
    let bag = try file(config).bag(of: .run, but: given)
    guard case .run(let request) = try Parser.read(words, base: bag).command else {
      throw ParserTests.Unexpected(words: words)
    }
    return request.options
  }

  static let sample = """
    {
      // what CI holds us to
      "$schema": "https://example.org/schema.json",
      budget: ["ui: stall.longest<250ms", 'cpu.average<80%', "stall.count<=2",],
      grace: "2s", "count-environment": true, "stall-threshold": "100ms",
      "budget-exit-code": 3, indeterminate: "fail", "abort-on-fail": false,
    }
    """

  @Test func `a file sets options by their long names`() throws {
    let options = try run(Self.sample)
    #expect(options.budget.rules.map(\.metric) == ["stall.longest", "cpu.average", "stall.count"])
    #expect(options.budget.rules[0].name == "ui")
    #expect(options.budget.scope.grace == .seconds(2))
    #expect(options.budget.scope.countsEnvironment)
    #expect(options.budget.exitCode == 3)
    #expect(options.budget.indeterminate == .fail)
    #expect(!options.budget.abortsOnFail)
    #expect(options.stalls.threshold == .milliseconds(100))
  }

  @Test func `the command line beats the file`() throws {
    let options = try run(
      Self.sample, "--grace", "1s", "-b", "ui:stall.longest<1s", "--cpu-budget", "5%",
      "--stall-threshold=50ms")
    #expect(options.budget.scope.grace == .seconds(1))
    #expect(options.stalls.threshold == .milliseconds(50))
    // Rules of the same name or, without one, the same metric.
    #expect(options.budget.rules.map(\.metric) == ["stall.count", "stall.longest", "cpu.average"])
    #expect(options.budget.rules.map(\.limit) == [2, 1, 5])
    // What stands against each other is decided for the command line.
    #expect(
      try run("{\"watch-thread\": [\"a\"]}", "--watch", "loops").stalls.selection == .loops)
    #expect(
      try run("{\"watch\": \"loops\"}", "--watch-thread", "b").stalls.selection == .named(["b"]))
  }

  @Test(
    arguments: [
      ("[]", "line 1: an object is expected"),
      ("{\n\"grase\": \"2s\"}", "line 2: grase: no such option; did you mean 'grace'?"),
      ("{\n\n  grace: 2}", "line 3: grace: text is expected, and it is a number"),
      ("{grace: \"2\"}", "needs a unit"), ("{grace: \"x\"}", "perfwatch.json: line 1: grace: 'x'"),
      (
        "{budget: [\n\"wal<1s\"]}", "line 2: budget: no metric is named 'wal', did you mean 'wall'?"
      ),
      ("{budget: [3]}", "text is expected"),
      ("{summary: \"x\"}", "only be given on the command line"),
      ("{\"abort-on-fail\": \"yes\"}", "true or false"), ("{grace: [\"1s\"]}", "only one value"),
      ("{grace: '1s',\n'grace': '2s'}", "line 2: grace: it is set in line 1 already"),
      ("{", "line 1: the file ends"), ("{\"budget-exit-code\": 0}", "from 1 to 255"),
    ])
  func `an error says file, line and key`(text: String, hint: String) {
    #expect(message(text).contains(hint), "\(message(text))")
    #expect(message(text).hasPrefix("perfwatch.json: "))
  }

  @Test func `options of other commands are let pass`() throws {
    let bag = try file("{interval: \"50ms\", grace: \"1s\"}").bag(of: .check, but: [])
    #expect(bag.watch.budget.scope.grace == .seconds(1))
    #expect(bag.watch.interval == WatchOptions().interval)
  }

  @Test func `where each value comes from is told`() throws {
    let text = ConfigFile.origins(
      try file(Self.sample), given: [("grace", "1s"), ("budget", "wall<1s")])
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines[0] == "# configuration: perfwatch.json")
    #expect(lines.contains("grace = 1s  (command line)"))
    #expect(lines.contains("stall-threshold = 100ms  (perfwatch.json:5)"))
    #expect(lines.contains("budget = cpu.average<80%  (perfwatch.json:4)"))
    #expect(lines.contains("budget = wall<1s  (command line)"))
    #expect(lines.contains("interval  (default)"))
    #expect(!lines.contains { $0.hasPrefix("grace = 2s") })
  }

  @Test func `every name is an option, and no file is named by a file`() {
    for name in ConfigFile.names {
      let option = OptionTable.all.first { $0.long == name }
      #expect(option != nil, "\(name)")
      if case .file = option?.value { Issue.record("\(name) names a file") }
    }
  }
}
