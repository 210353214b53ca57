// Switch records of real programs: used where permitted, silently absent where not.

internal import Testing

@testable internal import ProbeCore

@Suite struct SwitchRecordTests {
  /// Runs the target, holds its stalls against its own account, and gives what was said of the records.
  private static func capability(
    _ change: (inout Command) -> Void = { _ in }
  ) async throws -> String {
    let run = try await Watched(
      "select_slowpipe", options: ["--observer", "proc", "--stall-threshold", "100ms"],
      change: change)
    #expect(run.finished.status == .code(0))
    let summary = try run.summary
    StallJudge(.proc).judge(summary, StallTruth(run.folder["truth"]))
    #expect(summary.observer.stops == 0)
    return try #require(summary.observer.capabilities.entries["switchRecords"])
  }

  @Test func `where perf events are refused stalls are seen by proc as before, and that is said`()
    async throws
  {
    let refuse = try await Perfwatch.target("refuse_perf")
    try await Lane.shared {
      let said = try await Self.capability { $0.words.insert(refuse, at: 0) }
      #expect(said.contains("does not permit"))
      #expect(said.contains("perf_event_open"))
    }
  }

  @Test func `records are used wherever the kernel lets us open them`() async throws {
    guard (try? SwitchTrace(OwnProcess.thread)) != nil else {
      try Test.cancel("perf_event_open is refused here")
    }
    try await Lane.shared {
      let said = try await Self.capability()
      #expect(said.hasPrefix("yes"))
    }
  }

  /// Twenty sleeps of a millisecond in a quarter of a second: each could have been a visit home.
  @Test func `where the records tell places, a stall of short sleeps is measured whole`()
    async throws
  {
    guard let trace = try? SwitchTrace(OwnProcess.thread), trace.tellsPlaces else {
      try Test.cancel("needs kernel.perf_event_paranoid 1 or CAP_PERFMON")
    }
    try await Lane.shared {
      let run = try await Watched(
        "gc_stall", options: ["--observer", "proc", "--stall-threshold", "100ms"])
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      StallJudge(.proc).judge(summary, truth)
      let said = try #require(summary.observer.capabilities.entries["switchRecords"])
      #expect(said.hasPrefix("yes, with the place of each sleep"))
      // From the first rest on, and where no record was missing, each length is exact.
      guard said == "yes, with the place of each sleep" else { return }
      let stall = try #require(summary.stalls.last)
      let gap = try #require(truth.lines.last { $0.fn == "collect" })
      #expect(stall.error <= .milliseconds(1))
      #expect(abs(stall.duration.inMilliseconds - (gap.ms ?? 0)) < 5 + (gap.edge_ms ?? 0))
      #expect(stall.cause.parts.lock > .zero)
    }
  }
}
