// Stalls that others are to blame for, and page faults: what the machine did, told of real programs.

internal import Testing

@testable internal import ProbeCore

@Suite struct SurroundingsTests {
  /// The stalls that a target told of, each with its gap.
  private func stalls(_ run: Watched) throws -> [(stall: Summary.Stall, gap: Gap)] {
    let summary = try run.summary
    let found = summary.stalls.map { FoundStall($0, summary) }
    return StallTruth(run.folder["truth"]).gaps.filter { !$0.function.isEmpty }.compactMap { gap in
      found.first { $0.isMostly(gap) }.map { ($0.stall, gap) }
    }
  }

  @Test(arguments: LoopChoiceTests.observers)
  func `a storm of page faults is called one`(observer: String) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.alone {
      let run = try await Watched("fault_storm", options: CauseTests.options(observer))
      let stalls = try stalls(run)
      #expect(stalls.count == 2)
      for (stall, _) in stalls {
        CauseTests.expectSum(stall)
        let parts = stall.cause.parts
        // On a crowded machine it waited for a CPU most of the time.
        guard parts.cpuUser + parts.cpuSystem > parts.runDelay else { continue }
        #expect(stall.cause.sentence.contains("touching new memory in fault_in"), "\(stall.cause)")
        #expect(stall.cause.sentence.contains("page faults"), "\(stall.cause)")
      }
    }
  }

  @Test(arguments: LoopChoiceTests.observers)
  func `a quota of its control group is told of, about as the group counts it`(observer: String)
    async throws
  {
    try await LoopChoiceTests.need(observer)
    try await Lane.alone {
      var run = try await Watched("quota_burn", options: CauseTests.options(observer))
      // A perfwatch that came late itself, and says so, has not looked at the group meanwhile.
      for _ in 0..<2 {
        if run.finished.status == .code(77) { break }
        if try run.summary.observer.lateProbes == 0 { break }
        run = try await Watched("quota_burn", options: CauseTests.options(observer))
      }
      if run.finished.status == .code(77) { try Test.cancel("no control group can be made here") }
      let stalls = try stalls(run)
      let held = run.truth.all("quota").map { $0.cpu_ms ?? -1 }
      try #require(stalls.count == 2 && held.count == 2)
      for ((stall, _), truth) in zip(stalls, held) {
        CauseTests.expectSum(stall)
        let parts = stall.cause.parts
        // It is watched from half a threshold on, and the group's clock begins a period late.
        let throttled = parts.throttled.inMilliseconds
        #expect(throttled > 0.5 * truth && throttled < 1.2 * truth + 20, "of \(truth): \(stall)")
        guard parts.throttled > parts.runDelay else { continue }
        #expect(
          stall.cause.sentence.contains("held back by the CPU quota of its control group"),
          "\(stall.cause)")
        #expect(stall.blame == "environment" || stall.environmentPercent ?? 0 > 50, "\(stall)")
      }
    }
  }

  /// With its own weight it gets a third of a CPU at least, so that the blame is shared; as a program that
  /// gives way next to nothing.
  @Test(arguments: [10, 0], LoopChoiceTests.observers)
  func `other programs that want the CPUs are to blame, not the one that waits for them`(
    niceness: Int, observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.alone {
      let folder = try Scratch()
      var spinners: [Running] = []
      let cpus = try await Command(["/usr/bin/nproc"]).run(in: folder).text
      for _ in 0..<2 * (Int(cpus.filter(\.isNumber)) ?? 1) {
        spinners.append(
          try Command(["/bin/sh", "-c", "while :; do :; done"]).start(in: folder))
      }
      let run: Watched
      do {
        run = try await Watched("crowded", ["\(niceness)"], options: CauseTests.options(observer))
      } catch {
        spinners.forEach { $0.killGroup() }
        throw error
      }
      for spinner in spinners {
        spinner.killGroup()
        _ = try await spinner.finish()
      }
      let long = try stalls(run).filter { $0.gap.milliseconds >= 130 }
      if niceness > 0 { #expect(long.count == 2) }
      for (stall, _) in long {
        CauseTests.expectSum(stall)
        #expect(stall.blame == (niceness > 0 ? "environment" : stall.blame), "\(stall)")
        #expect(stall.blame != "yours", "\(stall)")
        #expect(
          stall.cause.sentence.contains(
            "ready to run but not scheduled: other processes had the CPUs"), "\(stall.cause)")
      }
    }
  }
}
