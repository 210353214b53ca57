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
}
