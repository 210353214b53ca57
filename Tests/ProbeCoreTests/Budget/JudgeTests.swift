import Testing

@testable import ProbeCore

@Suite struct JudgeTests {
  /// A loop with one stall of 400 ms +/- 10 ms, of which it waited 100 ms for a CPU; 10 s long, 30 %
  /// CPU in the first half and 70 % in the second.
  static var run: Summary {
    var summary = Samples.plain
    summary.run.duration = .seconds(10)
    summary.cpu.averagePercent = 50
    summary.series.period = .milliseconds(100)
    summary.series.cpuPercent = Array(repeating: 30, count: 50) + Array(repeating: 70, count: 50)
    summary.series.footprint = (0..<100).map { UInt64(1_000_000 + 10_000 * $0) }
    summary.series.threads = [9] + Array(repeating: 4, count: 99)
    summary.memory.footprintPeak = 100 * Samples.mebibyte
    summary.memory.footprintSlopePerSecond = 100_000
    summary.threads.peak = 9
    summary.descriptors = .init(peak: 40, atEnd: 3)
    summary.observer.capabilities.entries[DescriptorsReading.capability] = "yes"
    summary.observer.lateProbes = 0
    summary.loops = [
      .init(
        tid: 42, name: "main", observer: "proc", homes: [], turns: 100, longTurns: 1,
        blockingTime: .milliseconds(350), longestTurn: .milliseconds(400),
        startup: .milliseconds(200), verdictless: nil, undecided: .zero, histogram: nil)
    ]
    var stall = SampleSummary.stall
    stall.id = 7
    stall.duration = .milliseconds(400)
    stall.start = .seconds(4)
    stall.cause.parts = .init()
    stall.cause.parts.cpuUser = .milliseconds(300)
    stall.cause.parts.runDelay = .milliseconds(100)
    summary.stalls = [stall]
    summary.stallTotals = .init(
      count: 1, total: .milliseconds(400), longest: .milliseconds(400))
    return summary
  }

  static func judge(
    _ rules: String..., on summary: Summary = run,
    _ change: (inout BudgetSettings) -> Void = { _ in }
  ) throws -> Summary.Verdict {
    var settings = BudgetSettings()
    settings.rules = try rules.map(RuleParser.rule)
    settings.scope.stallThreshold = .milliseconds(250)
    change(&settings)
    return Judge.verdict(summary, settings)
  }

  /// Rules on `run` with all time counted.
  static let results: [(rule: String, result: VerdictResult)] = [
    ("stall.longest<411ms", .pass), ("stall.longest<389ms", .fail),
    ("stall.longest<405ms", .indeterminate), ("stall.longest<395ms", .indeterminate),
    ("stall.count<=1", .pass), ("stall.count<=0", .fail), ("stall.count==1", .pass),
    ("stall.count!=1", .fail), ("stall.total<411ms", .pass), ("stall.total<=380ms", .fail),
    // 0.4 s in 10 s are 2.4 s a minute, known to 60 ms.
    ("stall.perMinute<2.5s", .pass), ("stall.perMinute<2.3s", .fail),
    ("stall.perMinute<2.42s", .indeterminate),
    ("loop.blockingTime<=350ms", .pass), ("loop.blockingTime<350ms", .fail),
    ("startup.firstIdle<226ms", .pass), ("startup.firstIdle<174ms", .fail),
    ("startup.firstIdle<210ms", .indeterminate),
    ("cpu.average<=50%", .pass), ("cpu.average<50%", .fail),
    // The highest of 100 samples' 95 % is 70; a sample is known to 4 ms of 100 ms.
    ("cpu.p95<74.1%", .pass), ("cpu.p95<65.9%", .fail), ("cpu.p95<71%", .indeterminate),
    ("cpu.sustained<71%/5s", .pass), ("cpu.sustained<69%/5s", .fail),
    ("cpu.sustained<51%/10s", .pass), ("cpu.sustained<49%/10s", .fail),
    ("cpu.sustained<80%", .indeterminate),  // a minute of a run of ten seconds
    ("footprint.peak<110MiB", .pass), ("footprint.peak<90MiB", .fail),
    ("footprint.slope<101kB/s", .pass), ("footprint.slope<99kB/s", .fail),
    ("threads.peak<=9", .pass), ("threads.peak<9", .fail), ("exit.code==0", .pass),
    ("exit.code!=0", .fail), ("wall<10.1s", .pass), ("wall>=10s", .pass), ("wall>10s", .fail),
    ("fds.peak<=40", .pass), ("fds.peak<40", .fail), ("stall.new==0", .indeterminate),
    ("processes.peak<9", .indeterminate), ("pss.end<1G", .indeterminate),
  ]

  @Test(arguments: results)
  func `a rule holds, fails, or cannot be judged`(rule: String, result: VerdictResult) throws {
    let verdict = try Self.judge(rule) { $0.scope.countsEnvironment = true }
    #expect(verdict.rules[0].result == result, "\(verdict.rules[0])")
    #expect(verdict.result == result)
    if result == .indeterminate { #expect(verdict.rules[0].why != nil) }
  }

  @Test func `waiting for a CPU that others had is not counted against stalls`() throws {
    let verdict = try Self.judge("stall.longest<350ms", "stall.total<350ms", "stall.count<=0")
    #expect(verdict.rules.map(\.result) == [.pass, .pass, .fail])
    #expect(verdict.rules[0].actual == 0.3)
    #expect(verdict.rules[0].why?.contains("100 ms of waiting for a CPU") == true)
    var busy = Self.run
    busy.stalls[0].cause.parts.cpuUser = .milliseconds(150)
    busy.stalls[0].cause.parts.runDelay = .milliseconds(250)
    busy.stalls[0].environmentPercent = 62.5
    #expect(try Self.judge("stall.count<=0", on: busy).result == .pass)
    #expect(
      try Self.judge("stall.count<=0", on: busy) { $0.scope.countsEnvironment = true }.result
        == .fail)
    // Nobody was blamed: all time without a CPU.
    busy.stalls[0].environmentPercent = nil
    #expect(try Self.judge("stall.count<=0", on: busy).result == .pass)
    // Its own threads had the CPUs.
    busy.stalls[0].environmentPercent = 0
    #expect(try Self.judge("stall.count<=0", on: busy).result == .fail)
  }

  @Test func `a stall that is to be ignored counts for nothing`() throws {
    var known = Self.run
    known.stalls[0].ignored = true
    known.stallTotals = .init(count: 0, total: .zero, longest: .zero)
    let rule = try Self.judge("stall.longest<250ms", on: known).rules[0]
    #expect(rule.actual == 0 && rule.stall == nil)
  }

  @Test func `the grace leaves out what came before its end`() throws {
    func after(_ time: Int64, _ rule: String) throws -> Summary.RuleResult {
      try Self.judge(rule) { $0.scope.grace = .milliseconds(time) }.rules[0]
    }
    #expect(try after(3900, "stall.count<=0").result == .fail)
    #expect(try after(4001, "stall.count<=0").result == .pass)
    #expect(try after(4001, "stall.longest<250ms").actual == 0)
    #expect(try after(5000, "cpu.average<90%").actual == 70)
    #expect(try after(100, "threads.peak<5").result == .pass)
    #expect(try after(20_000, "cpu.average<90%").result == .indeterminate)
    #expect(try after(20_000, "footprint.peak<1G").result == .indeterminate)
  }

  @Test func `the margin is what is left, below zero what is over`() throws {
    let verdict = try Self.judge(
      "wall<12s", "wall<9s", "wall>12s", "wall==3s", "stall.longest<100ms")
    #expect(verdict.rules.map(\.margin) == [2, -1, -2, nil, verdict.rules[4].margin])
    #expect(abs((verdict.rules[4].margin ?? 0) + 0.2) < 1e-9)
    #expect(verdict.rules[4].stall == 7)
    #expect(verdict.rules[0].stall == nil)
  }

  /// What makes a good value worth nothing, and the clause that says so.
  static let doubts: [(damage: @Sendable (inout Summary) -> Void, why: String)] = [
    ({ $0.loops[0].turns = 2 }, "turned only 2 times"),
    ({ $0.loops[0].undecided = .milliseconds(600) }, "could not be told"),
    ({ $0.observer.lateProbes = 40 }, "came late"),
    ({ $0.observer.droppedEvents = 1 }, "1 events were lost"),
    ({ $0.run.complete = false }, "end of the run is missing"),
  ]

  @Test(arguments: doubts.indices)
  func `with little evidence a pass is no pass, but what failed has failed`(index: Int) throws {
    var summary = Self.run
    Self.doubts[index].damage(&summary)
    let good = try Self.judge("stall.longest<500ms", on: summary)
    #expect(good.result == .indeterminate)
    #expect(good.rules[0].why?.contains(Self.doubts[index].why) == true, "\(good.rules[0])")
    #expect(try Self.judge("stall.longest<200ms", on: summary).result == .fail)
  }

  @Test func `without a judged loop stalls cannot be judged`() throws {
    var summary = Self.run
    summary.stallTotals = .init(count: nil, total: nil, longest: nil)
    summary.loops[0].verdictless = "it never waited"
    let verdict = try Self.judge("stall.count<=0", on: summary)
    #expect(verdict.result == .indeterminate)
    #expect(verdict.rules[0].actual == nil)
    #expect(verdict.rules[0].why?.contains("it never waited") == true)
    summary.loops = []
    #expect(
      try Self.judge("stall.count<=0", on: summary).rules[0].why?.contains("no event loop") == true)
  }

  @Test func `the verdict is the worst of the rules that count`() throws {
    #expect(try Self.judge("wall<20s", "wall<1s", "pss.end<1").result == .fail)
    #expect(try Self.judge("wall<20s", "pss.end<1").result == .indeterminate)
    #expect(try Self.judge("wall<20s", "warn:wall<1s", "warn:pss.end<1").result == .pass)
    #expect(Judge.verdict(Self.run, BudgetSettings()).result == .none)
  }

  /// The verdict on `stall.new==0` of a run whose one stall is `slow-1`.
  private func new(
    _ known: [String?], _ change: (inout Summary) -> Void = { _ in }
  ) throws -> Summary.RuleResult {
    var run = Self.run
    run.stalls[0].signature = "slow-1"
    change(&run)
    var base = Self.run
    base.stalls = known.map { signature in
      var stall = Self.run.stalls[0]
      stall.signature = signature
      return stall
    }
    return try Self.judge("stall.new==0", on: run) { $0.scope.knownStalls = KnownStalls([base]) }
      .rules[0]
  }

  @Test func `a stall that the baseline does not have is new`() throws {
    #expect(try new(["slow-1"]).result == .pass)
    let fresh = try new(["other-2"])
    #expect(fresh.result == .fail)
    #expect(fresh.actual == 1 && fresh.stall == 7)
    #expect(try new([]).result == .fail)
    // Twice the same is one kind.
    #expect(try new([]) { $0.stalls.append($0.stalls[0]) }.actual == 1)
    #expect(try new([]) { $0.stalls[0].ignored = true }.result == .pass)
  }

  @Test func `whether a stall is new cannot be told without a baseline that tells`() throws {
    let without = try Self.judge("stall.new==0").rules[0]
    #expect(without.result == .indeterminate && without.why?.contains("no baseline") == true)
    #expect(try new([nil]).why?.contains("no signature") == true)
    var unjudged = Self.run
    unjudged.stalls = []
    unjudged.stallTotals = .init(count: nil, total: nil, longest: nil)
    let blind = try Self.judge("stall.new==0") { $0.scope.knownStalls = KnownStalls([unjudged]) }
    #expect(blind.rules[0].why?.contains("not judged in the baseline") == true)
    // About as long as a stall, it may be none; and others have the blame for a part of it.
    #expect(try new([]) { $0.stalls[0].error = .milliseconds(60) }.result == .indeterminate)
    #expect(try new([]) { $0.stalls[0].environmentPercent = 90 }.result == .pass)
  }

  @Test func `descriptors that nobody could count are not judged, and it says why`() throws {
    var run = Self.run
    run.descriptors = nil
    run.observer.capabilities.entries[DescriptorsReading.capability] = "/proc/1/fd: not permitted"
    let rule = try Self.judge("fds.peak<9", on: run).rules[0]
    #expect(rule.result == .indeterminate && rule.why == "/proc/1/fd: not permitted")
    // Counted in part: more than enough is enough, less proves nothing.
    run.descriptors = .init(peak: 40, atEnd: 40)
    #expect(try Self.judge("fds.peak<9", on: run).result == .fail)
    #expect(try Self.judge("fds.peak<90", on: run).result == .indeterminate)
  }

  @Test func `only what cannot come back is lost before the end`() throws {
    func isLost(_ rule: String) throws -> Bool {
      var settings = BudgetSettings()
      settings.rules = [try RuleParser.rule(rule)]
      return Judge.isLost(Self.run, settings)
    }
    #expect(try isLost("stall.longest<100ms"))
    #expect(try isLost("footprint.peak<1MiB"))
    #expect(try !isLost("stall.longest<500ms"))
    #expect(try !isLost("cpu.average<1%"))
    #expect(try !isLost("wall>20s"))
    #expect(try !isLost("warn:stall.longest<100ms"))
    // Its name may still change.
    var settings = BudgetSettings()
    settings.rules = [try RuleParser.rule("stall.new<=0")]
    settings.scope.knownStalls = KnownStalls([])
    settings.scope.knownStalls?.doubt = nil
    #expect(Judge.verdict(Self.run, settings).result == .fail)
    #expect(!Judge.isLost(Self.run, settings))
  }

  @Test func `stalls that were not kept one by one make a count unsure, not wrong`() throws {
    var summary = Self.run
    summary.stallsOmitted = 5
    summary.stallTotals.count = 6
    let counted = try Self.judge("stall.count<=3", on: summary) {
      $0.scope.countsEnvironment = true
    }
    #expect(counted.result == .fail)
    let unsure = try Self.judge("stall.count<=3", on: summary)
    #expect(unsure.result == .indeterminate)
    #expect(unsure.rules[0].actual == 6)
  }
}
