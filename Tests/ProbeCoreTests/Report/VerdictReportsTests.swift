import Testing

@testable import ProbeCore

@Suite struct VerdictReportsTests {
  /// A run with a stall in the program's own code, judged by rules of every result.
  static var judged: Summary {
    var summary = JudgeTests.run
    let own = Summary.Frame(
      function: "busy_parse", module: "/src/app/bin/app", offset: "0x1", file: "/src/app/a.c",
      line: 42, found: .cfi, inApp: true)
    let system = Summary.Frame(
      function: "memcpy", module: "/lib/libc.so.6", offset: "0x2", found: .register)
    summary.stalls[0].signature = nil
    summary.stalls[0].stacks = [
      .init(
        at: .zero, weight: .milliseconds(400), stopTime: .zero, truncated: nil,
        frames: [system, own])
    ]
    var settings = BudgetSettings()
    // The parser is tested elsewhere.
    settings.rules = [
      "ui:stall.longest<250ms", "cpu.average<80%", "cpu.sustained<80%", "warn:stall.count<=0",
    ].compactMap { try? RuleParser.rule($0) }
    summary.verdict = Judge.verdict(summary, settings)
    return summary
  }

  static let context = ReportContext(repository: "/src/app")

  private func text(_ format: String, _ summary: Summary = judged) throws -> String {
    let reporter = try #require(ReporterCatalog.named(format))
    return String(decoding: try reporter.render(summary, Self.context), as: UTF8.self)
  }

  @Test func `the report shows value, limit, margin and where the stall was`() throws {
    let text = TextReport.render(Self.judged, style: .init(color: false, unicode: true, width: 100))
    #expect(text.contains("verdict: fail"))
    #expect(text.contains("\u{2717} ui: stall.longest < 250ms: 300 ms (50.0 ms over)"), "\(text)")
    #expect(text.contains("\u{2713} cpu.average < 80%: 50.0 % (30.0 % left)"))
    #expect(text.contains("? cpu.sustained < 80%: not measured"))
    #expect(text.contains("busy_parse (a.c:42)"))
  }

  @Test func `GitHub gets an annotation at the line to blame`() throws {
    let lines = try text("github").split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines[0].hasPrefix(
        "::error file=a.c,line=42,title=perfwatch%3A budget%3A ui%3A stall.longest < 250ms::"),
      "\(lines[0])")
    #expect(lines[0].contains("%0A"))
    #expect(lines[1].hasPrefix("::warning title="))
    #expect(lines[2].hasPrefix("::warning file=a.c,line=42,title="))
  }

  @Test func `JUnit has a failure, an error and a skipped test for what is not well`() throws {
    let text = try text("junit")
    #expect(text.contains("tests=\"4\" failures=\"1\" errors=\"1\""))
    #expect(text.contains("skipped=\"1\""))
    #expect(
      text.contains("<testcase classname=\"perfwatch.budgets\" name=\"cpu.average &lt; 80%\""))
    #expect(text.contains("busy_parse (a.c:42)</failure>"), "\(text)")
  }

  @Test func `TAP counts what is not well, and a warning is to do`() throws {
    let lines = try text("tap").split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(
      lines == [
        "TAP version 13", "1..4", "not ok 1 - ui: stall.longest < 250ms",
        "ok 2 - cpu.average < 80%", "not ok 3 - cpu.sustained < 80%",
        "not ok 4 - stall.count <= 0 # TODO warning",
      ])
  }

  @Test func `GitLab knows an issue again although its length changed`() throws {
    func fingerprints(_ summary: Summary) throws -> [String] {
      let node = try JSONReader.read(Array(text("gitlab", summary).utf8))
      return node.elements?.compactMap { $0["fingerprint"]?.text } ?? []
    }
    var longer = Self.judged
    longer.stalls[0].duration = .milliseconds(900)
    longer.verdict.rules[0].actual = 0.8
    let first = try fingerprints(Self.judged)
    #expect(first.count == 3)
    #expect(Set(first).count == 3)
    #expect(try fingerprints(longer) == first)
    longer.stalls[0].stacks[0].frames[1].function = "other"
    #expect(try fingerprints(longer) != first)
  }

  @Test func `Markdown keeps untrusted text out of its markup`() throws {
    var summary = Self.judged
    summary.verdict.rules[0].name = "<b>|`x`*@me![](http://x)\n# h"
    summary.stalls[0].stacks[0].frames[1].function = "f<script>|</pre>"
    let text = try text("markdown", summary)
    #expect(!text.contains("<b>") && !text.contains("<script>") && !text.contains("\n# h"))
    #expect(text.contains("\\@me\\!\\[\\]"))
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("| ") }.count == 6)
  }

  @Test(
    arguments: [
      ("/src/app/x/a.c", "x/a.c"), ("/src/app/x/../a.c", "a.c"), ("/src/app/./a.c", "a.c"),
      ("x/a.c", "x/a.c"), ("./a.c", "a.c"), ("/src/apple/a.c", nil), ("/usr/a.c", nil),
      ("../a.c", nil), ("/src/app", nil), ("", nil), ("/src/app/../../etc/passwd", nil),
    ] as [(String, String?)])
  func `a file's path is told as it is in the repository`(file: String, expected: String?) {
    #expect(Self.context.relative(file) == expected)
  }

  @Test func `without a repository absolute paths are nobody's`() {
    #expect(ReportContext().relative("/src/a.c") == nil)
    #expect(ReportContext(repository: "/").relative("/src/a.c") == nil)
    #expect(ReportContext().relative("src/a.c") == "src/a.c")
  }

  @Test func `what XML cannot hold is left out`() {
    #expect(
      JUnitReport.escape("a\u{0}\u{b}\u{ffff}<&>\"\n\u{1f600}")
        == "a???&lt;&amp;&gt;&quot;\n\u{1f600}")
  }
}
