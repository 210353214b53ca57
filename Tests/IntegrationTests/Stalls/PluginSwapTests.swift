// A plug-in is unloaded and another one loaded at the same address: what was learnt of the first
// must not be told of the second.

internal import Testing

@testable internal import ProbeCore

@Suite struct PluginSwapTests {
  @Test(arguments: ["other", "overwrite"])
  func `a stall in other code at the same address is told by its own names`(
    way: String
  ) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let run = try await Watched(
        "plugin_swap", [way, folder.path],
        options: ["--observer", "proc", "--stall-threshold", "100ms"])
      let summary = try run.summary
      let truth = Scratch.text(run.folder["truth"])
      // Else this proves nothing; the loader of glibc takes the hole that the first one left.
      try #require(truth.contains(#""ev":"swapped","same":true"#), "\(truth)")
      let gaps = StallTruth(run.folder["truth"]).gaps.filter { $0.function.hasSuffix("_work") }
      #expect(gaps.map(\.function) == ["alpha_work", "gamma_work"])
      for gap in gaps {
        let found = summary.stalls.map { FoundStall($0, summary) }.first { $0.isMostly(gap) }
        let stall = try #require(found?.stall, "\(gap.function)")
        try #require(!stall.stacks.isEmpty, "\(gap.function)")
        for stack in stall.stacks {
          let names = stack.frames.map { $0.function ?? "?" }
          #expect(names.contains(gap.function) && names.contains("plugin_run"), "\(names)")
          #expect(names.contains("main") && stack.truncated == nil, "\(names)")
        }
      }
    }
  }
}
