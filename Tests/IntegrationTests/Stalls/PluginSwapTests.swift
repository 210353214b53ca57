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
        options: ["--observer", "proc", "--stall-threshold", "200ms"])
      let truth = Scratch.text(run.folder["truth"])
      // Else this proves nothing; the loader of glibc takes the hole that the first one left.
      try #require(truth.contains(#""ev":"swapped","same":true"#), "\(truth)")
      let stalls = try run.summary.stalls.filter { $0.duration > .milliseconds(350) }
      try #require(stalls.count == 2)
      for (stall, name) in zip(stalls, ["alpha_work", "gamma_work"]) {
        try #require(!stall.stacks.isEmpty)
        for stack in stall.stacks {
          let names = stack.frames.map { $0.function ?? "?" }
          #expect(names.contains(name) && names.contains("plugin_run"), "\(names)")
          #expect(names.contains("main") && stack.truncated == nil, "\(names)")
        }
      }
    }
  }
}
