// A stall is told of while it lasts, not only when all is over.

internal import Testing

@testable internal import ProbeCore

@Suite struct LiveStallTests {
  @Test(arguments: LoopChoiceTests.observers)
  func `plain lines tell of a stall while it lasts, and of its level as it grows`(
    observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.shared {
      let folder = try Scratch()
      let program = try await Perfwatch.target("long_stall")
      var command = Perfwatch.command([
        "run", "--observer", observer, "--stall-threshold", "100ms", "--", program, "300", "2300",
      ])
      command.environment["TARGET_TRUTH"] = folder["truth"]
      let running = try command.start(in: folder)
      try await eventually("a line about the stall") { running.errorSoFar.contains("so far") }
      // The target tells of the turn only when it is over.
      let truth = StallTruth(folder["truth"])
      #expect(!truth.gaps.contains { $0.function == "long_work" })
      // A note may come before it: that a loaded machine lets stacks be dear.
      let said = running.errorSoFar.split(separator: "\n")
      let line = try #require(said.first { $0.hasPrefix("perfwatch: stall") }, "\(said)")
      #expect(line.contains("long_stall"), "\(line)")
      let finished = try await running.finish()
      #expect(finished.status == .code(0))
      let lines = finished.error.split(separator: "\n")
      #expect(lines.contains { $0.contains("so far (hang)") })
      // When it is over: its length, where it was in the run, and why.
      #expect(lines.contains { $0.hasPrefix("perfwatch: stall, severe: ") && $0.contains(" at ") })
    }
  }

  @Test func `without a stall no line speaks of one`() async throws {
    try await Lane.shared {
      let run = try await Watched("epoll_sleep", options: ["--stall-threshold", "2s"])
      #expect(!run.finished.error.contains("so far"))
      #expect(!run.finished.error.split(separator: "\n").contains { $0.hasPrefix("perfwatch: st") })
    }
  }

  @Test func `quiet means quiet, in a stall as well`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "long_stall", ["300", "700"], options: ["--quiet", "--stall-threshold", "100ms"])
      #expect(run.finished.error.isEmpty)
      #expect(try run.summary.stalls.count == 2)
    }
  }
}
