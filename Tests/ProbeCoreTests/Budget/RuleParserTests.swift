import Testing

@testable import ProbeCore

@Suite struct RuleParserTests {
  /// Text, key, comparison, limit in the metric's unit.
  static let rules: [(text: String, metric: String, comparison: Comparison, limit: Double)] = [
    ("stall.longest<250ms", "stall.longest", .below, 0.25),
    ("stall.count<=0", "stall.count", .atMost, 0),
    ("stall.perMinute<100ms", "stall.perMinute", .below, 0.1),
    ("cpu.average<80%", "cpu.average", .below, 80),
    ("cpu.average < 1.5cpu", "cpu.average", .below, 150),
    ("cpu.p95<150%", "cpu.p95", .below, 150),
    ("cpu.seconds<12", "cpu.seconds", .below, 12),
    ("footprint.peak<512MiB", "footprint.peak", .below, 536_870_912),
    ("footprint.slope<1MiB/min", "footprint.slope", .below, 1_048_576.0 / 60),
    ("footprint.slope>-6kB/s", "footprint.slope", .above, -6000),
    ("footprint.slope<=0", "footprint.slope", .atMost, 0),
    ("threads.peak<64", "threads.peak", .below, 64),
    ("startup.firstIdle<2s", "startup.firstIdle", .below, 2),
    ("wakeups.rate<50/s", "wakeups.rate", .below, 50),
    ("exit.code==0", "exit.code", .equal, 0), ("exit.code != 3", "exit.code", .notEqual, 3),
    ("wall>=1m30s", "wall", .atLeast, 90), ("cpu.peak<0", "cpu.peak", .below, 0),
    ("  stall.longest   <=   250 ms  ", "stall.longest", .atMost, 0.25),
  ]

  @Test(arguments: rules)
  func `a rule is a metric, a comparison and a limit in the metric's unit`(
    text: String, metric: String, comparison: Comparison, limit: Double
  ) throws {
    let rule = try RuleParser.rule(text)
    #expect(rule.metric == metric)
    #expect(rule.comparison == comparison)
    #expect(rule.limit == limit)
    #expect(rule.level == .error)
    #expect(rule.name == nil)
    // What is shown reads back as the same rule.
    #expect(try RuleParser.rule(rule.text) == rule)
  }

  @Test func `a name and a level may stand before the metric`() throws {
    let both = try RuleParser.rule("smooth ui: warn: stall.longest<250ms")
    #expect(both.name == "smooth ui")
    #expect(both.level == .warn)
    #expect(both.text == "stall.longest < 250ms")
    #expect(try RuleParser.rule("warn:wall<1s").level == .warn)
    #expect(try RuleParser.rule("error:wall<1s").level == .error)
    let named = try RuleParser.rule("x:wall<1s")
    #expect(named.name == "x")
    #expect(named.level == .error)
  }

  @Test func `a time after the limit is the window of a metric that has one`() throws {
    let rule = try RuleParser.rule("cpu.sustained<80%/10s")
    #expect(rule.window == .seconds(10))
    #expect(rule.limit == 80)
    #expect(rule.text == "cpu.sustained < 80%/10s")
    #expect(try RuleParser.rule("cpu.sustained<80%").window == nil)
  }

  /// Text, and what the message has to hold.
  static let refused: [(text: String, hint: String)] = [
    ("", "no comparison"), ("stall.longest", "no comparison"), ("exit.code=0", "=="),
    ("stall.longst<250ms", "did you mean 'stall.longest'?"),
    ("cpu.avg<80%", "did you mean 'cpu.average'?"), ("rss.peak<1G", "'resident.peak'"),
    ("frobnicate<1", "no metric is named 'frobnicate'; `perfwatch metrics` lists them"),
    ("<3", "no metric"), ("stall.longest<", "no limit"), ("stall.longest<=<3ms", "no limit"),
    ("stall.longest<250msec", "did you mean 'ms'?"), ("cpu.average<80", "needs a unit"),
    ("footprint.peak<5mib", "did you mean 'MiB'?"), ("footprint.slope<1MiB", "/min"),
    ("footprint.slope<1MiB/day", "/day"), ("threads.peak<many", "plain number"),
    ("threads.peak<1e3", "plain number"), ("stall.longest<-1s", "negative"),
    ("a:b:wall<1s", "only a name and a level"), ("warn:a:wall<1s", "only a name and a level"),
    (":wall<1s", "empty word"), ("cpu.sustained<80%/0s", "zero"),
    ("cpu.sustained<80%/x", "no number"),
    ("wall<1s/5s", "not a duration"), ("wall<nan", "no number"), ("wall<\u{1b}[2J", "\\x1b"),
  ]

  @Test(arguments: refused)
  func `what is no rule is refused with a hint`(text: String, hint: String) {
    do {
      _ = try RuleParser.rule(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.message.contains(hint), "\(error.message)")
      #expect(!error.message.contains("\u{1b}"))
    }
  }

  @Test func `no text traps`() {
    var random: UInt64 = 42
    let letters = Array("stall.longet<>=!:%/ms0123456789-\u{1b}é ")
    for _ in 0..<3000 {
      var text = ""
      for _ in 0..<Int(random % 24) {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text.append(letters[Int((random >> 33) % UInt64(letters.count))])
      }
      random = random &* 6_364_136_223_846_793_005 &+ 1
      _ = try? RuleParser.rule(text)  // taken or refused, but not fatal
    }
    #expect(throws: RuleError.self) {
      try RuleParser.rule("wall<" + String(repeating: "9", count: 100_000))
    }
  }

  @Test func `every metric has a rule`() throws {
    let limits: [MetricUnit: String] = [
      .seconds: "1s", .bytes: "1MiB", .bytesPerSecond: "1MiB/s", .percent: "10%", .count: "3",
      .perSecond: "5/s",
    ]
    for metric in MetricCatalog.all {
      let rule = try RuleParser.rule("\(metric.key)<\(limits[metric.unit] ?? "?")")
      #expect(rule.metric == metric.key)
    }
  }
}
