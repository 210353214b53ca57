// The action and the template below ci/, run as the two services run them.

internal import Testing

@testable internal import ProbeCore

@Suite struct CITemplateTests {
  /// One run below a folder of its own.
  static func run(
    _ service: String, _ values: [String], in folder: Scratch
  ) async throws -> Finished {
    let file = Perfwatch.repository + (service == "github" ? "/ci/action.yml" : "/ci/gitlab.yml")
    let tool = Perfwatch.tests + "/Targets/tools/run_ci.py"
    var command = Command(
      [
        "/bin/sh", "-c", "cd \"$0\"; exec \"$@\"", folder.path, "/usr/bin/python3", tool, service,
        file,
      ]
        + values)
    for name in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
      command.environment[name] = .some(nil)
    }
    command.environment["TARGET_TRUTH"] = folder["truth"]
    return try await command.run(in: folder)
  }

  /// The command of a loop with a stall of 1.5 s, and where perfwatch is. Long enough for what little is known of
  /// a length on a busy machine.
  static func stalling(_ name: String) async throws -> [String] {
    let target = try await Perfwatch.target("long_stall")
    return [
      "\(name)=\(Perfwatch.path)",
      (name == "PERFWATCH" ? "PERFWATCH_RUN" : "run") + "=\(target) 300 1500",
    ]
  }

  @Test func `the action fails on a budget, says where, and tells the steps after it`() async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      let values = try await Self.stalling("perfwatch")
      let rules = "budget=stall.longest<250ms\n\n  ui: warn: threads.peak<=64\n"
      let failed = try await Self.run(
        "github", values + [rules, "options=--count-environment -q", "junit=j.xml"], in: folder)
      #expect(failed.status == .code(99), "\(failed.text)\(failed.error)")
      #expect(failed.error.contains("::error "), "\(failed.error)")
      #expect(failed.error.contains("in long_work"), "\(failed.error)")
      #expect(Scratch.text(folder["github-summary"]).contains("long_work"))
      let told = Scratch.text(folder["github-output"]).split(separator: "\n").map(String.init)
      #expect(
        told == [
          "verdict=fail", "exit-code=99", "summary=\(folder["perfwatch-summary.json"])",
        ])
      let summary = try Watched.summary(folder["perfwatch-summary.json"])
      #expect(summary.verdict.rules.map(\.level) == ["error", "warn"])
      // The shell that the action begins with is not what was watched.
      #expect(summary.target.executable?.hasSuffix("/long_stall") == true)
      try await ExportTests.validate("junit", folder["j.xml"], ExportTests.schema, in: folder)
    }
  }

  @Test func `the action passes on what holds and on the command's own code`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let perfwatch = "perfwatch=\(Perfwatch.path)"
      let passed = try await Self.run(
        "github", [perfwatch, "run=/bin/true", "budget=wall<1h"], in: folder)
      #expect(passed.status == .code(0), "\(passed.text)\(passed.error)")
      #expect(Scratch.text(folder["github-output"]).contains("verdict=pass\nexit-code=0\n"))
      let code = try await Self.run(
        "github", [perfwatch, "run=exit 7", "budget=wall<1h"], in: folder)
      #expect(code.status == .code(7))
      let unjudged = try await Self.run(
        "github", [perfwatch, "run=/bin/true", "stall-budget=250ms", "summary=sub.json"], in: folder
      )
      #expect(unjudged.status == .code(98))
      #expect(
        Scratch.text(folder["github-output"]).contains("verdict=indeterminate\nexit-code=98\n"))
      // A summary that was there before says nothing of a run that could not begin.
      let wrong = try await Self.run(
        "github", [perfwatch, "run=/bin/true", "budget=wal<1h"], in: folder)
      #expect(wrong.status == .code(125))
      #expect(wrong.error.contains("did you mean 'wall'?"))
      #expect(Scratch.text(folder["github-output"]).contains("verdict=none\nexit-code=125\n"))
      let absent = try await Self.run(
        "github", ["perfwatch=no-such-perfwatch", "run=/bin/true"], in: folder)
      #expect(absent.status == .code(125))
      #expect(absent.text.hasPrefix("::error title=perfwatch::'no-such-perfwatch' is not there"))
    }
  }

  @Test func `the template fails on a budget and leaves its reports`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let values = try await Self.stalling("PERFWATCH")
      let failed = try await Self.run(
        "gitlab",
        values + [
          "PERFWATCH_BUDGET=stall.longest<250ms\na b: warn: threads.peak<=64",
          "PERFWATCH_OPTIONS=--count-environment --in-app 'long_*'",
        ], in: folder)
      #expect(failed.status == .code(99), "\(failed.text)\(failed.error)")
      let junit = folder["perfwatch-junit.xml"]
      try await ExportTests.validate("junit", junit, ExportTests.schema, in: folder)
      try await ExportTests.validate("gitlab", folder["perfwatch-quality.json"], in: folder)
      #expect(Scratch.text(junit).contains("long_work"))
      let summary = try Watched.summary(folder["perfwatch-summary.json"])
      #expect(summary.verdict.rules.count == 2)
      #expect(summary.target.executable?.hasSuffix("/long_stall") == true)
      let passed = try await Self.run(
        "gitlab",
        ["PERFWATCH=\(Perfwatch.path)", "PERFWATCH_RUN=/bin/true", "PERFWATCH_BUDGET=wall<1h"],
        in: folder)
      #expect(passed.status == .code(0), "\(passed.text)\(passed.error)")
      let list = try await Self.run(
        "gitlab", ["PERFWATCH=\(Perfwatch.path)", "PERFWATCH_RUN=A=1 true && exit 7"], in: folder)
      #expect(list.status == .code(7), "\(list.text)\(list.error)")
      let absent = try await Self.run("gitlab", ["PERFWATCH=no-such-perfwatch"], in: folder)
      #expect(absent.status == .code(125))
      #expect(absent.error.contains("'no-such-perfwatch' is not there"))
    }
  }
}
