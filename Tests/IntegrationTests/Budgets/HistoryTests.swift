// Runs that are kept, shown and judged by, from the command line to the exit code.

internal import Testing

@testable internal import ProbeCore

@Suite struct HistoryTests {
  /// `perfwatch run --history`, with the CI system's variables.
  static func record(
    _ program: [String] = ["/bin/true"], _ options: [String] = [], branch: String? = "main",
    commit: String = "abc", to path: String, in folder: Scratch
  ) async throws -> Finished {
    var command = Perfwatch.command(
      ["run", "-q", "--history", path] + options + (program.isEmpty ? [] : ["--"] + program))
    command.environment = variables(commit, branch)
    return try await command.run(in: folder)
  }

  private static func variables(_ commit: String?, _ branch: String?) -> [String: String?] {
    [
      "GITHUB_SHA": commit, "GITHUB_REF_NAME": branch, "GITHUB_ACTIONS": nil,
      "CI_COMMIT_SHA": nil, "CI_COMMIT_BRANCH": nil,
    ]
  }

  @Test func `runs are kept with their origin and shown, failed ones apart`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let path = folder["h.db"]
      for number in 0..<3 {
        let run = try await Self.record(
          [], ["--label", "n=\(number)", "-n", "2", "--", "/bin/true"], commit: "c\(number)",
          to: path, in: folder)
        #expect(run.status == .code(0), "\(run.error)")
      }
      let failed = try await Self.record(["/bin/false"], to: path, in: folder)
      #expect(failed.status == .code(1))
      #expect(folder.names.filter { $0.hasPrefix("h.db") } == ["h.db"])
      let text = try await Perfwatch.command(["history", path]).run(in: folder)
      #expect(text.status == .code(0) && text.error.isEmpty, "\(text.error)")
      #expect(text.text.contains("true: 6 runs on main"), "\(text.text)")
      #expect(text.text.contains("left out: 1 run"), "\(text.text)")
      #expect(text.text.contains("cpu.seconds"))
      // No loop was there to judge.
      #expect(!text.text.contains("stall.longest"), "\(text.text)")
      let all = try await Perfwatch.command(["history", path, "--json"]).run(in: folder)
      try folder.write("json", all.output)
      try await ExportTests.validate(
        "json", folder["json"], Perfwatch.repository + "/Docs/history.schema.json", in: folder)
      let words = ["history", path, "--label", "n=1", "--program", "true", "--json"]
      let json = try JSONReader.read(try await Perfwatch.command(words).run(in: folder).output)
      let runs = json["programs"]?.elements?.first?["runs"]?.elements ?? []
      #expect(runs.map { $0["commit"]?.text } == ["c1", "c1"])
      #expect(runs.first?["labels"]?["n"]?.text == "1")
    }
  }

  @Test func `the last runs of a branch are a baseline`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let path = folder["h.db"]
      let heavy = ["/bin/sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]
      let light = ["/bin/sh", "-c", ":"]
      let lone = try await Self.record(
        light, ["--baseline", "history:main"], to: path, in: folder)
      #expect(lone.status == .code(125), "\(lone.error)")
      for _ in 0..<3 {
        #expect(try await Self.record(light, to: path, in: folder).status == .code(0))
      }
      let options = ["--baseline", "history:main", "--max-regression", "10%"]
      let worse = try await Self.record(heavy, options, branch: "side", to: path, in: folder)
      #expect(worse.status == .code(99), "\(worse.error)")
      let summary = folder["out.json"]
      let like = try await Self.record(
        light, options + ["--indeterminate", "pass", "--summary", summary], branch: "side",
        to: path, in: folder)
      #expect(like.status == .code(0), "\(like.error)")
      let check = ["check", summary, "--history", path, "--indeterminate", "pass"]
      let judged = try await Perfwatch.command(check + options).run(in: folder)
      #expect(judged.status == .code(0), "\(judged.error) \(judged.text)")
      #expect(judged.text.contains("baseline: cpu.seconds <="), "\(judged.text)")
      // The run that was checked is the one that was appended before.
      let json = try JSONReader.read(
        try await Perfwatch.command(["history", path, "--json"]).run(in: folder).output)
      #expect(json["programs"]?.elements?.first?["runs"]?.elements?.count == 5)
      for (branch, hint) in [("none", "on branch 'none'"), ("main", "no good run of true")] {
        let missing = try await Self.record(
          ["/bin/true"], ["--baseline", "history:\(branch)"], to: path, in: folder)
        #expect(missing.status == .code(125))
        #expect(missing.error.contains(hint), "\(missing.error)")
        #expect(missing.error.split(separator: "\n").count == 1, "\(missing.error)")
      }
    }
  }

  @Test func `many at once all get in`() async throws {
    try await Lane.alone {
      let folder = try Scratch()
      let path = folder["h.db"]
      let codes = try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<12 {
          group.addTask {
            let run = try await Self.record(commit: "c\(number)", to: path, in: folder)
            return run.status == .code(0) ? "" : run.error
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes.filter { !$0.isEmpty } == [])
      let text = try await Perfwatch.command(["history", path]).run(in: folder)
      #expect(text.text.contains("true: 12 runs"), "\(text.text)")
    }
  }

  @Test func `a history that cannot be used is one line, before the program starts`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("noise", Array(repeating: UInt8(ascii: "x"), count: 3000))
      try folder.write("empty", [])
      for (path, hint) in [
        (folder["noise"], "no history"), (folder.path, "a folder"), ("/no/such/h", "No such file"),
      ] {
        let run = try await Self.record(
          ["/bin/sh", "-c", "echo started"], to: path, in: folder)
        #expect(run.status == .code(125) && run.output.isEmpty)
        #expect(run.error.contains(hint), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1, "\(run.error)")
        let shown = try await Perfwatch.command(["history", path]).run(in: folder)
        #expect(shown.status == .code(2) && shown.output.isEmpty)
        #expect(shown.error.contains(hint), "\(shown.error)")
      }
      for (name, hint) in [("absent", "No such file"), ("empty", "no runs yet")] {
        let shown = try await Perfwatch.command(["history", folder[name]]).run(in: folder)
        #expect(shown.status == .code(2))
        #expect(shown.error.contains(hint), "\(shown.error)")
      }
    }
  }

  @Test(.enabled(if: Process.isRoot, "another user needs root to become"))
  func `who may only read the file or its folder is told so, and can read`() async throws {
    let nobody = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    try await Lane.shared {
      let folder = try Scratch()
      let place = folder["place"]
      let path = place + "/h.db"
      func shell(_ text: String) async throws {
        let done = try await Command(["/bin/sh", "-c", text]).run(in: folder)
        #expect(done.status == .code(0), "\(done.error)")
      }
      // A copy that nobody's working directory keeps others from.
      let words = nobody + [folder["perfwatch"]]
      try await shell("mkdir \(place) && cp \(Perfwatch.path) \(folder["perfwatch"])")
      #expect(try await Self.record(to: path, in: folder).status == .code(0))
      try await shell("chmod 0444 \(path); chmod 0555 \(place)")
      for (name, hint) in [("h.db", "may only be read"), ("new.db", "may not be written to")] {
        let file = place + "/" + name
        let written = try await Command(
          words + ["run", "-q", "--history", file, "/bin/echo", "started"]
        ).run(in: folder)
        #expect(written.status == .code(125) && written.output.isEmpty, "\(name)")
        #expect(written.error.contains(hint), "\(written.error)")
        #expect(written.error.split(separator: "\n").count == 1, "\(written.error)")
      }
      let read = try await Command(words + ["history", path]).run(in: folder)
      #expect(read.status == .code(0), "\(read.error)")
      try await shell("rm -r \(place)")
    }
  }

  @Test func `what cannot be appended at the end keeps the report and the program's code`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      let path = folder["h.db"]
      #expect(try await Self.record(to: path, in: folder).status == .code(0))
      for (code, expected) in [("0", Ending.code(125)), ("3", .code(3))] {
        var command = Perfwatch.command([
          "run", "--history", path, "--", "/bin/sh", "-c",
          "mv \(path) \(path).old; mkdir \(path); exit \(code)",
        ])
        command.environment = Self.variables("abc", "main")
        let run = try await command.run(in: folder)
        #expect(run.status == expected, "\(run.error)")
        #expect(run.error.contains("it is a folder"), "\(run.error)")
        #expect(run.error.contains("CPU"), "\(run.error)")
        _ = try await Command(["/bin/sh", "-c", "rmdir \(path); mv \(path).old \(path)"])
          .run(in: folder)
      }
      let text = try await Perfwatch.command(["history", path]).run(in: folder)
      #expect(text.text.contains("true: 1 run"), "\(text.text)")
    }
  }
}
