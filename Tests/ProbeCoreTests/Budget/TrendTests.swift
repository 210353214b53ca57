import Testing

@testable import ProbeCore

@Suite struct TrendTests {
  /// Numbers that look like chance and are the same each time.
  struct Chance {
    var state: UInt64
    mutating func next() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 33) / Double(UInt32.max >> 1)
    }
    mutating func values(_ count: Int, around level: Double) -> [Double] {
      (0..<count).map { _ in level * (0.9 + 0.2 * next()) }
    }
  }

  @Test func `a level that changes is found where it changes`() throws {
    var chance = Chance(state: 1)
    for place in [6, 10, 14] {
      let values =
        chance.values(place, around: 1) + chance.values(24 - place, around: 1.5)
      let point = try #require(ChangePoint.last(values))
      #expect(point.index == place)
      #expect(abs(point.before - 1) < 0.1 && abs(point.after - 1.5) < 0.15)
    }
  }

  @Test func `of several changes the last one is told, with what was just before`() throws {
    var chance = Chance(state: 2)
    let values =
      chance.values(12, around: 1) + chance.values(12, around: 2) + chance.values(12, around: 4)
    let point = try #require(ChangePoint.last(values))
    #expect(point.index == 24)
    #expect(abs(point.after - 4) < 0.4)
  }

  @Test func `chance alone is seldom taken for a change`() {
    // Values that spread by more than the gate of 5 %, so that only the test keeps them out.
    var chance = Chance(state: 3)
    var found = 0
    for _ in 0..<300 {
      let values = (0..<24).map { _ in 1 + chance.next() }
      if ChangePoint.last(values) != nil { found += 1 }
    }
    // 1 % by the method, three times that is beyond luck.
    #expect(found <= 9, "\(found) of 300")
  }

  @Test func `few runs, small changes and equal values are no change`() {
    #expect(ChangePoint.last([]) == nil)
    #expect(ChangePoint.last([1, 1, 1, 1, 9, 9, 9, 9]) == nil)
    #expect(ChangePoint.last(Array(repeating: 1, count: 50)) == nil)
    let small = (0..<20).map { $0 < 10 ? 1.0 : 1.04 }
    #expect(ChangePoint.last(small) == nil)
    let doubled = (0..<20).map { $0 < 10 ? 0.010 : 0.025 }
    #expect(ChangePoint.last(doubled)?.index == 10)
    #expect(ChangePoint.last(doubled, floor: 0.02) == nil)
  }

  static func history() -> [HistoryRun] {
    (0..<20).map { number in
      HistoryFileTests.run(number) {
        $0.metrics = ["cpu.seconds": number < 12 ? 1 : 1.5]
        if number % 2 == 0 { $0.metrics["threads.peak"] = 4 }
      }
    }
  }

  @Test func `a trend names the commit of a change and keeps what was not measured apart`() throws {
    var runs = Self.history()
    runs.insert(
      HistoryFileTests.run(30) {
        $0.hasFailed = true
        $0.metrics = ["cpu.seconds": 99]
      }, at: 12)
    let trends = HistoryTrends(runs)
    let program = try #require(trends.programs.first)
    #expect(program.runs.count == 20 && program.failedRuns == 1)
    #expect(program.metrics.map(\.metric) == ["cpu.seconds", "threads.peak"])
    let change = try #require(program.metrics[0].change)
    #expect(change.commit == "c12" && change.run == 12 && change.result == .worse)
    #expect(change.relative == 0.5)
    #expect(program.metrics[1].values.count { $0 == nil } == 10)
    #expect(program.metrics[1].last == nil && program.metrics[1].change == nil)
    #expect(HistoryTrends(runs, metrics: ["wall"]).programs[0].metrics[0].median == nil)
  }

  @Test func `the text is the golden one`() throws {
    var runs = Self.history()
    runs += (0..<2).map { number in
      HistoryFileTests.run(number, branch: "side\u{1b}[2J") {
        $0.program = "other"
        $0.hasFailed = number == 0
      }
    }
    runs[3].origin.branch = "side"
    let trends = HistoryTrends(runs)
    let styles = [
      TextStyle(color: false, unicode: true, width: 100),
      TextStyle(color: false, unicode: false, width: 60),
    ]
    let text = styles.map { HistoryText.render(trends, style: $0) }.joined(separator: "====\n")
    #expect(!text.contains("\u{1b}"))
    try Golden.expect(text, equals: "history.txt")
    let json = try JSONReader.read(OrderedJSONEncoder().encode(trends))
    #expect(json["schema"]?.text == "perfwatch.history/1")
  }

  @Test func `what a history keeps of a summary measures the same`() throws {
    var summary = JudgeTests.run
    summary.target.command = ["/opt/bin/app", "--x"]
    let kept = summary.forHistory
    let entry = HistoryRun(summary, origin: RunOrigin(), verdict: .pass)
    #expect(entry.program == "app" && !entry.hasFailed)
    #expect(entry == HistoryRun(kept, origin: RunOrigin(), verdict: .pass))
    #expect(entry.metrics["pss.end"] == nil && entry.metrics["wall"] != nil)
    #expect(kept.stalls.map(\.signature) == summary.stalls.map(\.signature))
    #expect(Baseline.rules([kept], relative: 0.1) == Baseline.rules([summary], relative: 0.1))
    summary.exit.code = 3
    #expect(HistoryRun(summary, origin: RunOrigin(), verdict: .pass).hasFailed)
  }

  @Test func `the JSON fits its schema, and the schema notices what does not`() throws {
    var runs = Self.history()
    runs[1].origin = RunOrigin()
    runs[2].metrics["cpu.seconds"] = nil
    let trends = HistoryTrends(runs)
    #expect(trends.programs.contains { $0.metrics.contains { $0.change != nil } })
    let encoder = OrderedJSONEncoder(isIndented: false)
    let line = try encoder.encode(trends) + Array("\n".utf8)
    let empty = try encoder.encode(HistoryTrends([], metrics: ["wall"])) + Array("\n".utf8)
    let schema = "history.schema.json"
    #expect(try SummarySchemaTests.python("check", line + empty, schema: schema) == [])
    // Damages every value by itself: the last run and the figures that change will do.
    var small = trends
    small.programs = small.programs.suffix(1).map { program in
      var program = program
      program.runs = program.runs.suffix(1).map { run in
        var run = run
        run.labels["runner"] = "large"
        return run
      }
      program.metrics = program.metrics.filter { $0.change != nil }.prefix(1).map { trend in
        var trend = trend
        trend.values = trend.values.suffix(2)
        return trend
      }
      return program
    }
    #expect(small.programs[0].metrics.count == 1)
    #expect(
      try SummarySchemaTests.python("strict", encoder.encode(small), schema: schema) == [])
  }
}
