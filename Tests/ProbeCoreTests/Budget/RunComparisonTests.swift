import Testing

@testable import ProbeCore

@Suite struct RunComparisonTests {
  /// A run with that much CPU and a longest stall, in milliseconds.
  static func run(cpu: Double, stall: Int64 = 300) -> Summary {
    var summary = JudgeTests.run
    summary.cpu.total = Nanoseconds(Int64(cpu * 1e9))
    summary.stalls[0].cause.parts.runDelay = .zero
    summary.stalls[0].environmentPercent = 0
    summary.stalls[0].duration = .milliseconds(stall)
    summary.stallTotals = .init(
      count: 1, total: .milliseconds(stall), longest: .milliseconds(stall))
    return summary
  }

  static func compare(
    _ base: [Summary], _ head: [Summary], _ change: (inout ComparisonGates) -> Void = { _ in }
  ) -> RunComparison {
    var gates = ComparisonGates()
    change(&gates)
    return RunComparison(base: base, head: head, gates: gates)
  }

  private func row(_ comparison: RunComparison, _ key: String) throws -> MetricChange {
    try #require(comparison.metrics.first { $0.metric == key })
  }

  @Test func `equal runs are the same`() {
    let runs = [1.0, 1.01, 0.99, 1.02, 0.98].map { Self.run(cpu: $0) }
    let comparison = Self.compare(runs, runs.reversed())
    #expect(comparison.result == .same)
    #expect(comparison.metrics.allSatisfy { $0.result == .same })
  }

  @Test func `eight percent more CPU in five runs each is worse, and less is better`() throws {
    let base = [1.0, 1.01, 0.99, 1.02, 0.98].map { Self.run(cpu: $0) }
    let head = [1.0, 1.01, 0.99, 1.02, 0.98].map { Self.run(cpu: $0 * 1.08) }
    let worse = try row(Self.compare(base, head), "cpu.seconds")
    #expect(worse.result == .worse)
    // 2 of 252 ways to choose 5 of 10.
    #expect(abs((worse.probability ?? 0) - 2.0 / 252) < 1e-9)
    #expect(abs((worse.relative ?? 0) - 0.08) < 1e-9)
    #expect(try row(Self.compare(head, base), "cpu.seconds").result == .better)
    #expect(Self.compare(base, head).result == .worse)
  }

  @Test func `a change needs both gates`() throws {
    func result(_ before: Double, _ after: Double, _ gate: Double = 0.05) throws
      -> MetricChange.Result
    {
      let base = (0..<5).map { Self.run(cpu: before + Double($0) * 1e-6) }
      let head = (0..<5).map { Self.run(cpu: after + Double($0) * 1e-6) }
      return try row(Self.compare(base, head) { $0.relative = gate }, "cpu.seconds").result
    }
    #expect(try result(10, 10.4) == .same)  // 4 %
    #expect(try result(10, 10.6) == .worse)
    #expect(try result(10, 10.6, 0.1) == .same)
    #expect(try result(0.01, 0.02) == .same)  // twice as much, but 10 ms
  }

  @Test func `a change within the noise is indeterminate`() throws {
    let base = [1.0, 1.3, 0.9, 1.2, 0.8].map { Self.run(cpu: $0) }
    let head = [1.1, 1.4, 0.95, 1.3, 0.9].map { Self.run(cpu: $0) }
    let change = try row(Self.compare(base, head), "cpu.seconds")
    #expect(change.result == .indeterminate)
    #expect(change.why?.contains("p = ") == true)
    let few = Self.compare(Array(base.prefix(2)), Array(head.prefix(2)))
    #expect(try row(few, "cpu.seconds").why?.contains("overlap") == true)
  }

  @Test func `one run each is judged by gates and own errors`() throws {
    let comparison = Self.compare(
      [Self.run(cpu: 1, stall: 300)], [Self.run(cpu: 1, stall: 360)])
    #expect(try row(comparison, "stall.longest").result == .worse)
    #expect(comparison.method.contains("one run each"))
    // The stall is known to 10 ms.
    var vague = Self.run(cpu: 1, stall: 360)
    vague.stalls[0].error = .milliseconds(70)
    #expect(
      try row(Self.compare([Self.run(cpu: 1)], [vague]), "stall.longest").result == .indeterminate)
  }

  @Test func `what one side has not measured is indeterminate`() throws {
    var blind = Self.run(cpu: 1)
    blind.cpu.total = nil
    let comparison = Self.compare([Self.run(cpu: 1)], [blind])
    #expect(try row(comparison, "cpu.seconds").why == "not measured in the head")
    #expect(comparison.result == .indeterminate)
    #expect(Self.compare([blind], [blind]).metrics.allSatisfy { $0.metric != "cpu.seconds" })
  }

  @Test func `signatures that are new or worse make it worse, gone ones do not`() {
    func with(_ groups: [(String, Int64)]) -> Summary {
      var summary = Self.run(cpu: 1)
      summary.groups = groups.map {
        .init(
          signature: $0.0, title: $0.0, count: 1, total: .milliseconds($0.1),
          longest: .milliseconds($0.1), level: "stall", blame: nil, stallIds: [],
          heaviestStack: nil,
          first: .zero, last: .zero, parts: .init(), ignored: false
        )
      }
      return summary
    }
    func changes(_ base: [(String, Int64)], _ head: [(String, Int64)]) -> RunComparison {
      Self.compare([with(base)], [with(head)])
    }
    #expect(changes([("a", 300)], [("a", 310)]).signatures.isEmpty)
    let new = changes([("a", 300)], [("a", 300), ("b", 300)])
    #expect(new.signatures.map(\.kind) == [.new])
    #expect(new.result == .worse)
    #expect(changes([("a", 300)], [("a", 400)]).signatures.map(\.kind) == [.worse])
    let gone = changes([("a", 300), ("b", 9)], [("a", 300)])
    #expect(gone.signatures.map(\.kind) == [.gone])
    #expect(gone.result == .better)
    let none = Self.compare([Self.run(cpu: 1)], [Self.run(cpu: 1)])
    #expect(none.signaturesMissing != nil)
  }

  @Test func `the probability is that of the exact test, ties counted half`() {
    // By hand: of the 20 ways to divide 1...6, 2 are as far apart.
    #expect(abs(MannWhitney.probability([1, 2, 3], [4, 5, 6]) - 0.1) < 1e-12)
    #expect(abs(MannWhitney.probability([4, 5, 6], [1, 2, 3]) - 0.1) < 1e-12)
    #expect(MannWhitney.probability([1, 1], [1, 1]) == 1)
    #expect(MannWhitney.probability([], [1]) == 1)
    // Ranks 1 and 3 have the sum 4, one off the middle; so have or pass 4 of the 6 ways.
    #expect(abs(MannWhitney.probability([1, 3], [2, 4]) - 4.0 / 6) < 1e-12)
    // z is 4.9908; math.erfc(z / math.sqrt(2)) of Python says 6.013e-07.
    let far = MannWhitney.probability((0..<30).map(Double.init), (15..<45).map(Double.init))
    #expect(abs(far - 6.0e-7) < 2e-7, "\(far)")
  }

  @Test func `a baseline becomes rules with room for the gate or the floor`() throws {
    let rules = Baseline.rules(
      [Self.run(cpu: 10), Self.run(cpu: 12), Self.run(cpu: 11)], relative: 0.1)
    let cpu = try #require(rules.first { $0.metric == "cpu.seconds" })
    #expect(abs(cpu.limit - 12.1) < 1e-9)
    #expect(cpu.name == "baseline" && cpu.comparison == .atMost)
    let count = try #require(rules.first { $0.metric == "stall.count" })
    #expect(count.limit == 1.1)
    #expect(!rules.contains { $0.metric == "wall" })
  }

  @Test func `the JSON fits its schema, and the schema notices what does not`() throws {
    let base = [1.0, 1.01, 0.99, 1.02, 0.98].map { Self.run(cpu: $0) }
    var head = base.map { _ in Self.run(cpu: 1.1, stall: 900) }
    for index in head.indices { head[index].threads.peak = nil }
    let encoder = OrderedJSONEncoder(isIndented: false)
    var all = [
      Self.compare(base, head), Self.compare([base[0]], [head[0]]),
      Self.compare(base, base) { $0.metrics = ["pss.end"] },
    ]
    all[0].signatures = SignatureChange.samples
    all[1].signaturesMissing = "not all runs have grouped their stalls"
    #expect(Set(all[0].metrics.map(\.result)).isSuperset(of: [.worse, .same]))
    var lines: [UInt8] = []
    for one in all { lines += try encoder.encode(one) + Array("\n".utf8) }
    let schema = "comparison.schema.json"
    #expect(try SummarySchemaTests.python("check", lines, schema: schema) == [])
    #expect(
      try SummarySchemaTests.python("strict", encoder.encode(all[0]), schema: schema) == [])
  }
}

extension SignatureChange {
  fileprivate static let samples = [
    SignatureChange(
      signature: "long_work>main", title: "in long_work", kind: .worse, base: .milliseconds(300),
      head: .milliseconds(900))
  ]
}
