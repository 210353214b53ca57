// Stalls at the ends: attached to in the middle, still going on when the target is killed, a storm.

internal import Testing

@testable internal import ProbeCore

@Suite struct StallEndTests {
  static let observers = LoopChoiceTests.observers

  @Test(arguments: ["cpu", "lock"], observers)
  func `a stall that is still going on when the target is killed is reported`(
    how: String, observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    // Alone: a thread that is killed lives on until it gets a CPU to die on.
    try await Lane.alone {
      let run = try await Watched(
        "stuck_killed", [how], options: ["--observer", observer, "--stall-threshold", "100ms"])
      #expect(run.finished.status == .signal(9))
      let summary = try run.summary
      #expect(summary.exit.signal == 9)
      let truth = StallTruth(run.folder["truth"])
      #expect(truth.gaps.count { $0.function == "hang" } == 1)
      StallJudge(named: observer).judge(summary, truth)
      let stall = try #require(summary.stalls.last)
      #expect(summary.stalls.count == 1)
      #expect(stall.kind == "exit")
      #expect(stall.level == "hang")
    }
  }

  @Test func `a stall that outlasts the watching is reported with its length so far`()
    async throws
  {
    try await Lane.alone {
      let target = try await Target("long_stall", ["1000", "3000"])
      let (_, summary) = try await target.attach([
        "--stall-threshold", "100ms", "--observer", "proc", "--duration", "2s",
      ])
      try await target.end()
      // It began within the two seconds and was not over by then.
      let stall = try #require(summary.stalls.first)
      #expect(summary.stalls.count == 1)
      #expect(stall.kind == "stall")
      let begun = try #require(StallTruth(target.folder["truth"]).all("stalling").first?.t)
      let found = FoundStall(stall, summary)
      let end = (Double(summary.run.startMonotonic) + Double(summary.run.duration.rawValue)) / 1e9
      #expect(abs(found.start - begun) * 1e3 <= 10 + stall.error.inMilliseconds)
      #expect(abs(found.end - end) <= 0.2)
    }
  }

  @Test(arguments: observers)
  func `after attaching in the middle of a loop every stall is found`(
    observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.shared {
      let target = try await Target("long_stall", ["3000", "400"])
      async let ended = target.running.finish()
      let (_, summary) = try await target.attach([
        "--stall-threshold", "100ms", "--observer", observer,
      ])
      _ = try await ended
      let truth = StallTruth(target.folder["truth"])
      StallJudge(named: observer).judge(summary, truth)
      #expect(summary.stalls.count == 2)
      // The start-up was before our time.
      #expect(summary.loops.first?.startup == nil)
    }
  }

  @Test(arguments: observers)
  func `after attaching in the middle of a stall nothing is made up, and the next one is found`(
    observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.alone {
      let target = try await Target("long_stall", ["300", "2500"], ready: "stalling")
      async let ended = target.running.finish()
      let (_, summary) = try await target.attach([
        "--stall-threshold", "100ms", "--observer", observer,
      ])
      _ = try await ended
      let truth = StallTruth(target.folder["truth"])
      let found = summary.stalls.map { FoundStall($0, summary) }
      let first = try #require(truth.gaps.first { $0.function == "long_work" })
      let second = try #require(truth.gaps.first { $0.function == "later_work" })
      let attached = Double(summary.run.startMonotonic) / 1e9
      try #require(attached < first.end - 0.1, "perfwatch came too late to test anything")
      #expect(
        found.count { $0.isMostly(second) } == 1,
        "\(second): \(found), \(summary.loops), \(summary.observer.lateProbes) ticks late")
      // What is said of the first one is at most what was seen of it.
      for stall in found where !stall.isMostly(second) {
        #expect(stall.start >= attached - 0.001, "\(stall)")
        #expect(stall.end <= first.end + 0.02, "\(stall)")
      }
    }
  }

  @Test(arguments: observers)
  func `a storm of 2000 stalls is counted, bounded and small`(observer: String) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.shared {
      let run = try await Watched(
        "stall_storm", ["4", "500"],
        options: [
          "--observer", observer, "--stall-threshold", "10ms", "--watch-thread", "storm-*",
        ])
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      let storms = StallTruth(run.folder["truth"]).all("storm")
      let told = storms.reduce(0) { $0 + ($1.stalls ?? 0) }
      let most = storms.reduce(0) { $0 + ($1.most ?? 0) }
      // More where the machine took the CPU from a turn that was to be calm; on a quiet one all are equal.
      #expect(told >= 2000 && most >= told)
      #expect(summary.loops.count == 4)
      #expect(summary.stalls.count == 100)
      // A hundred in full, each with its stacks of a few kB; the rest are counts.
      #expect(Scratch.bytes(run.folder["summary.json"]).count < 1_000_000)
      let count = summary.stalls.count + summary.stallsOmitted
      if observer == "kernel" {
        #expect(count >= told && count <= most)
      } else {
        // 12 ms are less than the threshold and two probe periods: what it sees is real.
        #expect(count <= most)
      }
      let metric = try #require(summary.metrics.entries.first { $0.key == "stall.count" })
      #expect(metric.metric.value == Double(count))
      #expect(summary.observer.droppedEvents == 0)
    }
  }
}
