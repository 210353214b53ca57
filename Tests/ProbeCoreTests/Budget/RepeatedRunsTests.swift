import Testing

@testable import ProbeCore

@Suite struct RepeatedRunsTests {
  /// Runs with these longest stalls, in milliseconds, each known to 10 ms.
  private static func runs(_ stalls: [Int64]) -> [Summary] {
    stalls.map { RunComparisonTests.run(cpu: 1, stall: $0) }
  }

  private static func summary(
    _ runs: [Summary], _ rules: String..., planned: Int? = nil,
    endedBy: Summary.Repeats.End? = nil, judge: RunJudge = .median
  ) throws -> Summary {
    var settings = BudgetSettings()
    settings.rules = try rules.map(RuleParser.rule)
    settings.judge = judge
    let summary = RepeatedRuns.summary(
      runs, planned: planned ?? runs.count, warmup: 0, endedBy: endedBy, settings)
    return try #require(summary)
  }

  @Test func `the median and the deviation are those of the values`() {
    #expect(RunStatistics.median([]) == nil)
    #expect(RunStatistics.median([3, 1, 2]) == 2)
    #expect(RunStatistics.median([4, 1, 2, 3]) == 2.5)
    // Distances from 2: 1, 0, 1, 98.
    #expect(RunStatistics.deviation([1, 2, 3, 100, 2]) == 1)
    #expect(RunStatistics.nearest([nil, 5, 1, 5], to: 4) == 1)
    #expect(RunStatistics.nearest([nil], to: 4) == nil)
  }

  /// Rule, the stalls of the runs, and its results by the median and by the worst.
  @Test(
    arguments: [
      ("stall.longest<250ms", [300, 200, 200], .pass, .fail),
      ("stall.longest<250ms", [300, 300, 200], .fail, .fail),
      ("stall.longest<250ms", [200, 200, 200], .pass, .pass),
      // 245 ms are known to 10 ms.
      ("stall.longest<250ms", [245, 245, 100], .indeterminate, .indeterminate),
      ("stall.longest<250ms", [245, 300, 300], .fail, .fail),
      ("stall.longest<250ms", [245, 100, 100], .pass, .indeterminate),
      ("stall.longest>250ms", [300, 200, 300], .pass, .fail),
      ("stall.count==1", [300, 300, 300], .pass, .pass),
      // The mean of 100 and 400 is the median, and its error theirs.
      ("stall.longest<255ms", [100, 400], .indeterminate, .fail),
      ("stall.longest<270ms", [100, 400], .pass, .fail),
    ] as [(String, [Int64], VerdictResult, VerdictResult)])
  func `a rule is judged on the median, or on the worst`(
    rule: String, stalls: [Int64], median: VerdictResult, worst: VerdictResult
  ) throws {
    let runs = Self.runs(stalls)
    #expect(try Self.summary(runs, rule).verdict.result == median)
    #expect(try Self.summary(runs, rule, judge: .worst).verdict.result == worst)
  }

  @Test func `a run that was not measured may lie anywhere`() throws {
    var blind = RunComparisonTests.run(cpu: 1)
    blind.cpu.total = nil
    let (low, high) = (RunComparisonTests.run(cpu: 1), RunComparisonTests.run(cpu: 3))
    func result(_ runs: [Summary], _ planned: Int? = nil) throws -> VerdictResult {
      try Self.summary(runs, "cpu.seconds<2s", planned: planned).verdict.result
    }
    #expect(try result([low, low, blind]) == .pass)
    #expect(try result([high, high, blind]) == .fail)
    #expect(try result([low, high, blind]) == .indeterminate)
    #expect(try result([blind, blind, low]) == .indeterminate)
    #expect(try result([blind]) == .indeterminate)
    // So may a run that was not made.
    #expect(try result([low, low, low], 5) == .pass)
    #expect(try result([low, low], 5) == .indeterminate)
    let worst = try Self.summary([low], "cpu.seconds<2s", planned: 2, judge: .worst)
    #expect(worst.verdict.result == .indeterminate)
  }

  @Test func `a lost end makes a value a lower bound`() throws {
    var cut = RunComparisonTests.run(cpu: 1)
    cut.run.complete = false
    var cutAbove = RunComparisonTests.run(cpu: 3)
    cutAbove.run.complete = false
    let low = RunComparisonTests.run(cpu: 1)
    #expect(try Self.summary([cut, cut, low], "cpu.seconds<2s").verdict.result == .indeterminate)
    #expect(try Self.summary([cutAbove, cutAbove, low], "cpu.seconds<2s").verdict.result == .fail)
  }

  @Test func `metrics are medians, and the run that is shown has the stall of the failed rule`()
    throws
  {
    let summary = try Self.summary(
      Self.runs([400, 300, 100]), "wall<1h", "stall.longest<250ms")
    let repeats = try #require(summary.repeats)
    #expect(summary.metrics["stall.longest"]?.value == 0.3)
    #expect(repeats.shown == 2)
    #expect(summary.stalls[0].duration == .milliseconds(300))
    #expect(summary.verdict.rules[1].stall == 7)
    #expect(summary.verdict.rules[1].why?.contains("median of 3") == true)
    let row = try #require(repeats.statistics.first { $0.metric == "stall.longest" })
    #expect(row.values == [0.4, 0.3, 0.1])
    #expect((row.min, row.max) == (0.1, 0.4))
    #expect(abs((row.deviation ?? 0) - 0.1) < 1e-9)
    let worst = try Self.summary(
      Self.runs([400, 300, 100]), "stall.longest<250ms", judge: .worst)
    #expect(worst.repeats?.shown == 1)
    #expect(worst.verdict.rules[0].actual == 0.4)
  }

  @Test func `the run that failed is shown, whatever the rules say`() throws {
    var runs = Self.runs([300, 300, 100])
    runs[2].exit.code = 7
    let summary = try Self.summary(
      runs, "stall.longest<250ms", planned: 5, endedBy: .failure)
    #expect(summary.exit.code == 7)
    #expect(summary.repeats?.shown == 3)
    // The stall that broke the rule is one of another run.
    #expect(summary.verdict.rules[0].stall == nil)
  }

  @Test func `a file of several runs is judged again by all of them`() throws {
    let file = try Self.summary(Self.runs([300, 200, 200]))
    var settings = BudgetSettings()
    settings.rules = [try RuleParser.rule("stall.longest<250ms")]
    #expect(Judge.judged(file, settings).verdict.result == .pass)
    settings.judge = .worst
    #expect(Judge.judged(file, settings).verdict.result == .fail)
    settings.judge = nil
    let strict = try Self.summary(Self.runs([300, 200, 200]), judge: .worst)
    #expect(Judge.judged(strict, settings).verdict.result == .fail)
    #expect(Judge.judged(Self.runs([300])[0], settings).verdict.result == .fail)
    #expect(file.allRuns.count == 3)
    #expect(Self.runs([1])[0].allRuns.count == 1)
  }

  @Test func `the report has a table of all and the verdict`() throws {
    let summary = try Self.summary(
      Self.runs([400, 300, 100]), "stall.longest<250ms", planned: 5, endedBy: .interrupt)
    let text = TextReport.render(
      summary, style: TextStyle(color: false, unicode: false, width: 80))
    #expect(text.contains("3 of 5 runs; then interrupted"))
    #expect(text.contains("stall.longest       300 ms  100 ms   100 ms   400 ms"), "\(text)")
    #expect(text.contains("run 2 of 3:"))
    // Two of five are over, and two are missing.
    #expect(text.contains("verdict: indeterminate"))
    #expect(text.utf8.allSatisfy { $0 < 0x80 })
  }
}
