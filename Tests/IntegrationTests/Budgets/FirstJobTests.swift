// Docs/first-ci-job.md, word by word: what a newcomer types, and what is promised for it.

internal import Testing

@testable internal import ProbeCore

@Suite struct FirstJobTests {
  /// The blocks of the page that are typed on any machine, in their order.
  static func commands() -> String {
    let page = Scratch.text(Perfwatch.repository + "/Docs/first-ci-job.md")
    var lines: [Substring] = []
    var isCommand = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isCommand = line == "```sh"
      } else if isCommand {
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  @Test func `the page leads to a job that fails and, mended, one that passes`() async throws {
    // The second has to be seen well enough to pass.
    try await Lane.alone {
      let folder = try Scratch()
      try folder.write("commands", Array(Self.commands().utf8))
      let script =
        "cd '\(folder.path)' && mkdir bin && ln -s '\(Perfwatch.path)' bin/perfwatch"
        + " && PATH=\"$PWD/bin:$PATH\" && . ./commands; rm -r bin"
      var command = Command(["/bin/sh", "-e", "-c", script])
      for name in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "PERFWATCH_CONFIG"]
      {
        command.environment[name] = .some(nil)
      }
      command.environment["XDG_CONFIG_HOME"] = folder.path
      let finished = try await command.run(in: folder)
      #expect(finished.status == .code(0), "\(finished.error)")
      let ends = finished.text.split(separator: "\n").filter { $0.hasPrefix("ended with ") }
      #expect(ends == ["ended with 99", "ended with 0", "ended with 0"], "\(finished.error)")
      #expect(finished.error.contains("\n::error file=ui.c,line="), "\(finished.error)")
      #expect(finished.text.contains("load_index (ui.c:"), "\(finished.text)")
      #expect(finished.text.contains("budget = ui: stall.longest<250ms  ("), "\(finished.text)")
      let schema = ExportTests.schema
      try await ExportTests.validate("junit", folder["junit.xml"], schema, in: folder)
    }
  }
}
