// Exported verdicts, read by what reads them elsewhere.

internal import Testing

@testable internal import ProbeCore

@Suite struct ExportTests {
  static let schema = Perfwatch.tests + "/ProbeCoreTests/Fixtures/junit.xsd"

  static func validate(
    _ format: String, _ path: String, _ schema: String? = nil, in folder: Scratch
  ) async throws {
    let tool = Perfwatch.tests + "/Targets/tools/validate_export.py"
    let words = ["/usr/bin/python3", tool, format, path] + [schema].compactMap { $0 }
    let finished = try await Command(words).run(in: folder)
    #expect(finished.status == .code(0), "\(format): \(finished.text)\(finished.error)")
  }

  /// Rules of every result and level, with a name that tries to break out of each format.
  static let rules = [
    "stall.longest<250ms", "cpu.average<100cpu", "cpu.sustained<80%/1h", "warn:stall.count<=0",
    "warn:cpu.sustained<80%/1h", "a&\"'|`]]%0A#,\u{1b}[2J:stall.total<1ms",
    "stall.longest<250ms",
  ].flatMap { ["-b", $0] }

  static let formats = ["junit", "gitlab", "tap", "github", "markdown", "plain"]

  @Test func `every export of a failed run passes its validator`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let exports = Self.formats.flatMap { ["--export", "\($0)=\(folder[$0])"] }
      let run = try await BudgetTests.stalling(600, Self.rules + exports) {
        $0.environment["GITHUB_ACTIONS"] = .some(nil)
        $0.environment["GITHUB_WORKSPACE"] = Perfwatch.repository
      }
      #expect(run.finished.status == .code(99))
      try await Self.validate("junit", folder["junit"], Self.schema, in: folder)
      for format in ["gitlab", "tap", "github"] {
        try await Self.validate(format, folder[format], in: folder)
      }
      for format in Self.formats {
        let text = Scratch.text(folder[format])
        #expect(text.contains("long_work"), "\(format): \(text)")
        #expect(!text.contains("\u{1b}"), "\(format)")
      }
      let place = "Tests/Targets/src/long_stall.c"
      #expect(Scratch.text(folder["github"]).contains("::error file=\(place),line="))
      #expect(Scratch.text(folder["gitlab"]).contains("\"path\": \"\(place)\""))
      #expect(Scratch.text(folder["plain"]).hasPrefix("verdict fail\nfail error stall.longest"))
      #expect(!run.finished.error.contains("::error"))
    }
  }

  @Test func `exports of a run without budgets are valid and empty`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let exports = Self.formats.flatMap { ["--export", "\($0)=\(folder[$0])"] }
      let run = try await Watched("/bin/true", options: exports)
      #expect(run.finished.status == .code(0))
      try await Self.validate("junit", folder["junit"], Self.schema, in: folder)
      for format in ["gitlab", "github"] {
        try await Self.validate(format, folder[format], in: folder)
      }
    }
  }

  @Test func `under GitHub Actions annotations and a step summary come by themselves`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("step", Array("before\n".utf8))
      let run = try await BudgetTests.stalling(600, ["--stall-budget", "250ms"]) {
        $0.environment["GITHUB_ACTIONS"] = "true"
        $0.environment["GITHUB_WORKSPACE"] = Perfwatch.repository
        $0.environment["GITHUB_STEP_SUMMARY"] = folder["step"]
      }
      #expect(run.finished.status == .code(99))
      #expect(run.finished.error.contains("\n::error file=Tests/Targets/src/long_stall.c,line="))
      #expect(run.finished.output.isEmpty)
      let step = Scratch.text(folder["step"])
      #expect(step.hasPrefix("before\n### "))
      #expect(step.contains("a budget failed"))
      #expect(step.contains("<pre>"))
      // A summary that cannot be written is said and changes nothing.
      let blocked = try await Watched("/bin/true", options: ["-b", "wall<1h"]) {
        $0.environment["GITHUB_ACTIONS"] = "true"
        $0.environment["GITHUB_STEP_SUMMARY"] = "/no/such/file"
      }
      #expect(blocked.finished.status == .code(0))
      #expect(blocked.finished.error.contains("/no/such/file"))
    }
  }
}
