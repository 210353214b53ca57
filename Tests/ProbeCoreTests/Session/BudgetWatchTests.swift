import Testing

@testable import ProbeCore

@Suite struct BudgetWatchTests {
  private static func stall(_ length: Nanoseconds, waiting: Nanoseconds = .zero) -> StallReading {
    var parts = Summary.CauseParts()
    parts.runDelay = waiting
    parts.cpuUser = length - waiting
    return StallReading(
      id: 1, tid: ThreadID(100), kind: .stall, start: Script.at(1000), duration: length,
      error: .zero, observer: .kernel, certainty: .exact, parts: parts)
  }

  /// A loop that is judged, and what is told of a stall in it.
  private static func events(_ told: [ProbeEvent]) -> [ProbeEvent] {
    var loop = LoopReading(tid: ThreadID(100), observer: .kernel)
    loop.turns = 100
    return [
      .loop(loop),
      .stallBegan(StallBegan(id: 1, tid: ThreadID(100), start: Script.at(1000), kind: .stall)),
    ] + told
  }

  /// Whether the run is to end, after a look at the state.
  private static func isLost(
    _ told: [ProbeEvent], _ change: (inout BudgetSettings) -> Void = { _ in }
  ) throws -> Bool {
    let control = try WatchControl()
    var budget = BudgetSettings()
    budget.rules = [try RuleParser.rule("stall.longest<1s")]
    budget.abortsOnFail = true
    change(&budget)
    let watch = BudgetWatch.wrap(nil, budget, control)
    _ = watch?.update(Script.state(events(told)), at: Script.at(3000))
    return control.read { $0.isBudgetLost }
  }

  @Test func `a stall that goes on breaks a budget before it has ended`() throws {
    #expect(try Self.isLost([.stallGoesOn(Self.stall(.ms(1500)), nil)]))
    #expect(try !Self.isLost([.stallGoesOn(Self.stall(.ms(900)), nil)]))
    #expect(try !Self.isLost([]))
    #expect(try Self.isLost([.stall(Self.stall(.ms(1500)))]))
  }

  @Test func `it does not break one for what the machine does`() throws {
    let starved = Self.stall(.ms(1500), waiting: .ms(800))
    #expect(try !Self.isLost([.stallGoesOn(starved, nil)]))
    #expect(try Self.isLost([.stallGoesOn(starved, nil)]) { $0.scope.countsEnvironment = true })
    // Its own threads had the CPUs.
    var own = StallSurroundings(
      stall: 1, length: .ms(1400), processCPU: .ms(2800), threadCPU: .ms(600))
    own.machineCPU = .ms(2800)
    #expect(try Self.isLost([.stallGoesOn(starved, own)]))
  }

  @Test func `one that is taken back breaks nothing`() throws {
    #expect(try !Self.isLost([.stallGoesOn(Self.stall(.ms(1500)), nil), .stallRetracted(1)]))
  }

  @Test func `nobody looks unless the run is to end early`() throws {
    let control = try WatchControl()
    #expect(BudgetWatch.wrap(nil, BudgetSettings(), control) == nil)
    #expect(BudgetWatch.wrap(nil, nil, control) == nil)
  }
}
