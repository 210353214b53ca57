// Runs before and after a change, and baselines, from files to exit codes.

internal import Testing

@testable internal import ProbeCore

@Suite struct CompareTests {
  /// Summaries of one real run with another CPU time each, in a folder.
  static func files(
    _ stem: String, _ seconds: [Double], of summary: Summary, in folder: Scratch
  ) throws -> String {
    try seconds.enumerated().map { index, value in
      var changed = summary
      changed.cpu.total = Nanoseconds(Int64(value * 1e9))
      try folder.write("\(stem)\(index)", OrderedJSONEncoder().encode(changed))
      return folder["\(stem)\(index)"]
    }.joined(separator: ",")
  }

  @Test func `more CPU is worse, the same is not, and noise is neither`() async throws {
    try await Lane.shared {
      let run = try await Watched("/bin/true")
      let (folder, summary) = (run.folder, try run.summary)
      let base = try Self.files("b", [1, 1.01, 0.99, 1.02, 0.98], of: summary, in: folder)
      let more = try Self.files("m", [1.08, 1.09, 1.07, 1.1, 1.06], of: summary, in: folder)
      let noisy = try Self.files("n", [1.3, 1, 1.4, 0.99, 1.2], of: summary, in: folder)
      func compare(_ head: String, _ options: [String] = []) async throws -> Finished {
        try await Perfwatch.command(["compare", base, head] + options).run(in: folder)
      }
      let worse = try await compare(more)
      #expect(worse.status == .code(1))
      #expect(
        worse.text.contains("result: worse") && worse.text.contains("+8.0 %"), "\(worse.text)")
      #expect(try await compare(base).status == .code(0))
      #expect(try await compare(more, ["--max-regression", "10%"]).status == .code(0))
      #expect(try await compare(more, ["-m", "footprint.peak"]).status == .code(0))
      let unsure = try await compare(noisy)
      #expect(unsure.status == .code(0))
      #expect(unsure.text.contains("result: indeterminate"), "\(unsure.text)")
      #expect(try await compare(noisy, ["--indeterminate", "fail"]).status == .code(1))
      let json = try JSONReader.read(try await compare(more, ["--json"]).output)
      #expect(json["result"]?.text == "worse")
      #expect(json["schema"]?.text == "perfwatch.comparison/1")
      for head in [more, noisy, base] {
        try folder.write("json", try await compare(head, ["--json"]).output)
        try await ExportTests.validate(
          "json", folder["json"], Perfwatch.repository + "/Docs/comparison.schema.json", in: folder)
      }
    }
  }

  @Test func `perfwatch.json counts for comparisons, too, and the command line beats it`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched("/bin/true")
      let (folder, summary) = (run.folder, try run.summary)
      let base = try Self.files("b", [1, 1.01, 0.99, 1.02, 0.98], of: summary, in: folder)
      let more = try Self.files("m", [1.08, 1.09, 1.07, 1.1, 1.06], of: summary, in: folder)
      // What is about watching does not stand in the way of files.
      let config = "{'max-regression': '10%', budget: 'wall<1ns', runs: 3, 'stall-threshold': '1s'}"
      try folder.write("perfwatch.json", Array(config.utf8))
      func compare(_ options: [String] = []) async throws -> Finished {
        try await ConfigTests.run(["compare", base, more] + options, in: folder)
      }
      let lenient = try await compare()
      #expect(lenient.status == .code(0), "\(lenient.error)\(lenient.text)")
      #expect(try await compare(["--max-regression", "5%"]).status == .code(1))
      try folder.write("bad", Array("{'max-regression': 5}".utf8))
      let bad = try await compare(["--config", "bad"])
      #expect(bad.status == .code(2))
      #expect(bad.error.contains("bad: line 1: max-regression: text is expected"), "\(bad.error)")
      // Commands run as often as the file says, and are watched as it says.
      let both = try await ConfigTests.run(
        ["compare", "--base", "/bin/true", "--head", "/bin/true", "--warmup", "0"]
          + ["--max-rounds", "3", "--json"], in: folder)
      let json = try JSONReader.read(both.output)
      #expect(json["baseRuns"]?.double == 3, "\(both.error)")
    }
  }

  @Test func `a stall that the baseline has is not new, another one is`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let base = folder["base.json"]
      let first = try await BudgetTests.stalling(600, ["--save-baseline", base])
      #expect(first.finished.status == .code(0))
      let options = ["--baseline", base, "--max-regression", "10000%", "-b", "stall.new==0"]
      let same = try await BudgetTests.stalling(600, options)
      let rule = try #require(try same.summary.verdict.rules.first { $0.metric == "stall.new" })
      #expect(rule.result == .pass, "\(same.finished.error)")
      #expect(try same.summary.metrics["stall.new"]?.value == 0)
      // Only one of both stalls was known: so is it with a baseline that lacks the other.
      var known = try first.summary
      known.stalls.removeAll { !$0.stacks.isEmpty && $0.signature?.hasPrefix("long_work") == true }
      try folder.write("less.json", OrderedJSONEncoder().encode(known))
      let words = [
        "check", first.folder["summary.json"], "--count-environment", "-b", "stall.new==0",
      ]
      let lacking = try await Perfwatch.command(
        words + ["--baseline", folder["less.json"], "--max-regression", "10000%"]
      ).run(in: folder)
      #expect(lacking.status == .code(1))
      #expect(lacking.text.contains("stall.new == 0: 1"), "\(lacking.text)")
      #expect(lacking.text.contains("in long_work"), "\(lacking.text)")
      let without = try await Perfwatch.command(words).run(in: folder)
      #expect(without.status == .code(1))
      #expect(without.text.contains("no baseline was given"), "\(without.text)")
    }
  }

  @Test func `a baseline is kept when all is well and judged by afterwards`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let file = folder["base.json"]
      let failed = try await Watched(
        "/bin/true", options: ["--save-baseline", file, "-b", "wall<1ns"])
      #expect(failed.finished.status == .code(99))
      #expect(!Scratch.exists(file))
      let saved = try await Watched("/bin/true", options: ["--save-baseline", file])
      #expect(saved.finished.status == .code(0))
      let like = try await Watched(
        "/bin/true", options: ["--baseline", file, "--indeterminate", "pass"])
      #expect(like.finished.status == .code(0), "\(like.finished.error)")
      let heavy = try await Watched(
        "/bin/sh", ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"],
        options: ["--baseline", file, "--max-regression", "10%"])
      #expect(heavy.finished.status == .code(99))
      #expect(heavy.finished.error.contains("baseline: cpu.seconds <="), "\(heavy.finished.error)")
      let judged = try await Perfwatch.command(
        ["check", heavy.folder["summary.json"], "--baseline", file]
      ).run(in: folder)
      #expect(judged.status == .code(1))
    }
  }

  @Test func `what cannot be read is one line: 2 of compare, 125 of run`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("noise", Array("noise\n".utf8))
      for words in [
        ["compare", folder["absent"], folder["noise"]], ["compare", folder["noise"]],
        ["compare", ",", folder["noise"]], ["compare", "a", "b", "c"],
        ["compare", "a", "b", "-m", "cpu.secnds"], ["compare", "a", "b", "--max-regression", "5"],
        ["check", folder["noise"], "--baseline", folder["absent"]],
      ] {
        let finished = try await Perfwatch.command(words).run(in: folder)
        #expect(finished.status == .code(2), "\(words)")
        #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
      }
      let run = try await Watched(
        "exit_status", ["code", "0"], options: ["--baseline", "/no/file"])
      #expect(run.finished.status == .code(125))
      #expect(run.finished.error.contains("/no/file"))
      #expect(run.truth.lines.isEmpty)
    }
  }
}
