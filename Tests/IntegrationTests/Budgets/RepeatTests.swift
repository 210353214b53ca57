// Several runs of one command: the summary, the exit code, and what ends them early.

internal import Testing

@testable internal import ProbeCore

@Suite struct RepeatTests {
  /// A command that adds a line to a file, and then runs the text.
  static func counting(_ text: String, in folder: Scratch) -> [String] {
    ["/bin/sh", "-c", "echo x >> \(folder["count"]); n=$(wc -l < \(folder["count"])); \(text)"]
  }

  static func count(_ folder: Scratch) -> Int {
    Scratch.text(folder["count"]).split(separator: "\n").count
  }

  /// Runs it by `perfwatch run`.
  static func run(
    _ options: [String], _ text: String, in folder: Scratch
  ) async throws -> Finished {
    try await Perfwatch.command(
      ["run", "--summary", folder["summary"]] + options + ["--"] + counting(text, in: folder)
    ).run(in: folder)
  }

  @Test func `five runs after a warm-up are one summary that fits the schema`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.run(
        ["--runs", "5", "--warmup", "1", "-b", "cpu.seconds<1h"], "sleep 0.05", in: folder)
      #expect(finished.status == .code(0), "\(finished.error)")
      #expect(Self.count(folder) == 6)
      let summary = try Watched.summary(folder["summary"])
      let repeats = try #require(summary.repeats)
      #expect((repeats.planned, repeats.warmup, repeats.runs.count) == (5, 1, 5))
      #expect(repeats.endedBy == nil)
      #expect(summary.verdict.result == .pass)
      #expect(summary.exit == Summary.Exit(code: 0, signal: nil, perfwatch: 0))
      let walls = repeats.runs.map { $0.run.duration }.sorted()
      #expect(summary.metrics["wall"]?.value == walls[2].inSeconds)
      #expect(Set(repeats.runs.map(\.target.pid)).count == 5)
      #expect(repeats.runs.allSatisfy { $0.run.complete && $0.repeats == nil })
      // Each is a run of its own: none has what an earlier one had.
      #expect(repeats.runs.allSatisfy { $0.observer.droppedEvents == 0 })
      #expect(finished.error.contains("5 runs after 1 warm-up run"), "\(finished.error)")
      #expect(finished.error.contains("median of 5"))
      let tool = Perfwatch.tests + "/Targets/tools/validate_export.py"
      let schema = Perfwatch.repository + "/Docs/summary.schema.json"
      let valid = try await Command(
        ["/usr/bin/python3", tool, "json", folder["summary"], schema]
      ).run(in: folder)
      #expect(valid.status == .code(0), "\(valid.text)\(valid.error)")
    }
  }

  @Test func `a stall in each run is watched in full, and the verdict says where`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "long_stall", ["300", "600"],
        options: ["-n", "3", "--count-environment", "--stall-budget", "250ms"])
      #expect(run.finished.status == .code(99), "\(run.finished.error)")
      let summary = try run.summary
      let runs = try #require(summary.repeats?.runs)
      #expect(runs.count == 3)
      #expect(runs.allSatisfy { !$0.stalls.isEmpty && $0.stalls.contains { !$0.stacks.isEmpty } })
      #expect(summary.verdict.rules[0].stall != nil)
      #expect(run.finished.error.contains("in long_work"), "\(run.finished.error)")
    }
  }

  /// The failing run's end, and what perfwatch ends with.
  @Test(
    arguments: [
      ("[ $n -lt 2 ] || exit 7", [], Ending.code(7), 2),
      ("[ $n -lt 2 ] || kill -15 $$", [], .signal(15), 2),
      ("[ $n -lt 2 ] || exec sleep 30", ["--timeout", "300ms"], .code(124), 2),
      ("exit 3", ["--warmup", "2"], .code(3), 1),
    ] as [(String, [String], Ending, Int)])
  func `the first run that fails is the last, and its end is passed on`(
    text: String, options: [String], ending: Ending, made: Int
  ) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.run(["-n", "4", "-b", "wall<1ns"] + options, text, in: folder)
      #expect(finished.status == ending, "\(finished.error)")
      #expect(Self.count(folder) == made)
      let summary = try Watched.summary(folder["summary"])
      if let repeats = summary.repeats {
        #expect((repeats.endedBy, repeats.shown) == (.failure, made))
        #expect(repeats.runs.count == made)
      } else {
        #expect(options.contains("--warmup"))
      }
      switch ending {
      case .code(let code): #expect(summary.exit.perfwatch == code)
      case .signal(let signal): #expect(summary.exit.signal == signal)
      }
    }
  }

  @Test func `the median forgives one run, the worst does not, and check can decide again`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      let text = "[ $n -ne 2 ] || sleep 2"
      let rule = ["-n", "3", "-b", "wall<1.9s"]
      let median = try await Self.run(rule, text, in: folder)
      #expect(median.status == .code(0), "\(median.error)")
      func check(_ options: [String]) async throws -> Ending {
        try await Perfwatch.command(
          ["check", folder["summary"], "-b", "wall<1.9s"] + options
        ).run(in: folder).status
      }
      #expect(try await check([]) == .code(0))
      #expect(try await check(["--judge", "worst"]) == .code(1))
      let other = try Scratch()
      let worst = try await Self.run(rule + ["--judge", "worst"], text, in: other)
      #expect(worst.status == .code(99))
      #expect(worst.error.contains("run 2, the worst of 3"), "\(worst.error)")
      #expect(try Watched.summary(other["summary"]).repeats?.shown == 2)
      // A file of three runs is three runs.
      let compared = try await Perfwatch.command(
        ["compare", folder["summary"], other["summary"]]
      ).run(in: folder)
      #expect(compared.text.contains("base: 3 runs, head: 3 runs"), "\(compared.text)")
    }
  }

  @Test func `an interrupt ends all runs, also when the program ends with 0 for it`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let words = Self.counting(
        "trap 'exit 0' INT; echo ready > \(folder["ready"]); while :; do sleep 0.05; done",
        in: folder)
      let running = try Perfwatch.command(
        ["run", "--summary", folder["summary"], "-n", "5", "--"] + words
      ).start(in: folder)
      try await eventually("the first run is there") { Scratch.exists(folder["ready"]) }
      running.signal(2)
      #expect(try await running.finish().status == .signal(2))
      #expect(Self.count(folder) == 1)
      let summary = try Watched.summary(folder["summary"])
      #expect(summary.repeats?.endedBy == .interrupt)
      #expect(summary.exit.perfwatch == 130)
    }
  }

  @Test func `a broken budget ends all under the worst`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.run(
        ["-n", "3", "--judge", "worst", "--abort-on-fail", "-b", "wall<200ms"], "exec sleep 20",
        in: folder)
      #expect(finished.status == .code(99), "\(finished.error)")
      #expect(Self.count(folder) == 1)
    }
  }

  @Test(
    arguments: [
      ["-n", "0"], ["-n", "1001"], ["--warmup", "-1"], ["--judge", "best"],
      ["-n", "2", "--record", "x"], ["-n", "2", "--abort-on-fail", "-b", "wall<1s"],
    ])
  func `what does not fit is 125 before anything runs`(options: [String]) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.run(options, "true", in: folder)
      #expect(finished.status == .code(125))
      #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
      #expect(Self.count(folder) == 0)
    }
  }

  @Test func `the live line says which run it is`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let words = [Perfwatch.path, "run", "-n", "2", "--live", "/bin/sleep", "1.2"]
      let run = try await TerminalRun.of(words, [], ready: nil, in: folder).run
      #expect(run.exit == 0)
      #expect(run.out.contains("run 1 of 2") && run.out.contains("run 2 of 2"), "\(run.out)")
    }
  }
}
