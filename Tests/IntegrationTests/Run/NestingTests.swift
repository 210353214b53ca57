// perfwatch as its own target.

internal import Testing

@testable internal import ProbeCore

@Suite struct NestingTests {
  @Test func `perfwatch can run perfwatch, and every end comes through both`() async throws {
    try await Lane.several(2) {
      let target = try await Perfwatch.target("exit_status")
      for (words, status) in [
        (["/bin/true"], Ending.code(0)), ([target, "code", "41"], .code(41)),
        ([target, "signal", "15"], .signal(15)), (["/no/such/program"], .code(127)),
      ] {
        let folder = try Scratch()
        let inner = ["run", "--summary", folder["inner"], "--"] + words
        let outer =
          ["run", "--children", "--summary", folder["outer"], "--", Perfwatch.path] + inner
        let finished = try await Perfwatch.command(outer).run(in: folder)
        #expect(finished.status == status, "\(words)")
        let summary = try Watched.summary(folder["outer"])
        if status == .code(127) {
          #expect(summary.exit.code == 127)
          #expect(!Scratch.exists(folder["inner"]))
        } else {
          #expect(try Watched.summary(folder["inner"]).exit.code == summary.exit.code)
          #expect(try Watched.summary(folder["inner"]).exit.signal == summary.exit.signal)
        }
      }
    }
  }
}
