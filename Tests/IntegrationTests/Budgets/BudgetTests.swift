// Budgets from the command line to the exit code.

internal import Testing

@testable internal import ProbeCore

@Suite struct BudgetTests {
  /// A loop with a stall of that many milliseconds and one of 300 ms, with all of their time counted, as
  /// other tests take the CPUs; ends with 0.
  static func stalling(
    _ milliseconds: Int, _ options: [String], change: (inout Command) -> Void = { _ in }
  ) async throws -> Watched {
    try await Watched(
      "long_stall", ["300", "\(milliseconds)"], options: ["--count-environment"] + options,
      change: change)
  }

  @Test func `a stall over its budget is 99, and the report says where it was`() async throws {
    try await Lane.shared {
      let run = try await Self.stalling(
        600, ["--stall-budget", "250ms", "-b", "ui:stall.count<=0"])
      #expect(run.finished.status == .code(99))
      let summary = try run.summary
      #expect(summary.exit == Summary.Exit(code: 0, signal: nil, perfwatch: 99))
      #expect(summary.verdict.result == .fail)
      #expect(summary.verdict.rules.map(\.text) == ["stall.longest < 250ms", "stall.count <= 0"])
      #expect(summary.verdict.rules[0].stall == summary.stalls.first?.id)
      #expect((summary.verdict.rules[0].margin ?? 0) < -0.2)
      #expect(run.finished.error.contains("verdict: fail"))
      #expect(run.finished.error.contains("ms over"))
      #expect(run.finished.error.contains("in long_work"), "\(run.finished.error)")
      #expect(run.finished.error.contains("long_stall.c:"))
    }
  }

  @Test func `budgets that hold are 0`() async throws {
    // With the machine for itself: perfwatch that comes late has not seen enough to say so.
    try await Lane.alone {
      let run = try await Self.stalling(
        300, ["--stall-budget", "5s", "--cpu-budget", "100cpu", "-b", "exit.code==0"])
      #expect(run.finished.status == .code(0), "\(run.finished.error)")
      #expect(try run.summary.verdict.result == .pass)
    }
  }

  @Test func `the target's own code comes before a failed budget`() async throws {
    try await Lane.shared {
      let run = try await Watched("exit_status", ["code", "7"], options: ["-b", "wall<1ns"])
      #expect(run.finished.status == .code(7))
      #expect(try run.summary.verdict.result == .fail)
      let killed = try await Watched("exit_status", ["signal", "15"], options: ["-b", "wall<1ns"])
      #expect(killed.finished.status == .signal(15))
    }
  }

  /// Options, and what becomes of a rule that cannot be judged and of one that fails.
  @Test(
    arguments: [
      ([], 98, 99), (["--indeterminate", "fail"], 99, 99), (["--indeterminate", "pass"], 0, 99),
      (["--indeterminate", "report", "--budget-exit-code", "3"], 98, 3),
      (["--indeterminate", "fail", "--budget-exit-code", "3"], 3, 3),
    ] as [([String], Int32, Int32)])
  func `codes follow the options`(options: [String], unjudged: Int32, failed: Int32) async throws {
    try await Lane.shared {
      let idle = try await Watched("/bin/true", options: options + ["-b", "stall.count<=0"])
      #expect(idle.finished.status == .code(unjudged))
      #expect(try idle.summary.verdict.result == .indeterminate)
      #expect(try idle.summary.exit.perfwatch == unjudged)
      let over = try await Watched("/bin/true", options: options + ["-b", "wall<1ns"])
      #expect(over.finished.status == .code(failed))
    }
  }

  @Test func `a warning fails nothing`() async throws {
    try await Lane.shared {
      let run = try await Watched("/bin/true", options: ["-b", "warn:wall<1ns"])
      #expect(run.finished.status == .code(0))
      #expect(run.finished.error.contains("no budget of the error level"))
    }
  }

  @Test func `a broken budget ends the run at once if that is wanted`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sleep", ["30"], options: ["-b", "wall<300ms", "--abort-on-fail"])
      #expect(run.finished.status == .code(99))
      let summary = try run.summary
      #expect(summary.run.endedBy == .budget)
      #expect(summary.exit == Summary.Exit(code: nil, signal: 15, perfwatch: 99))
      #expect(summary.run.duration < .seconds(20))
      let stubborn = try await Watched(
        "/bin/sh", ["-c", "trap '' TERM; while :; do sleep 0.05; done"],
        options: ["-b", "wall<300ms", "--abort-on-fail", "--kill-after", "300ms"])
      #expect(stubborn.finished.status == .code(99))
      #expect(try stubborn.summary.exit.signal == 9)
    }
  }

  @Test func `a stall that breaks a budget ends the run while it lasts`() async throws {
    try await Lane.shared {
      let run = try await Self.stalling(60_000, ["--stall-budget", "250ms", "--abort-on-fail"])
      #expect(run.finished.status == .code(99), "\(run.finished.error)")
      let summary = try run.summary
      #expect(summary.run.endedBy == .budget)
      #expect(summary.run.duration < .seconds(30))
      #expect(summary.exit.signal == 15)
      #expect(summary.verdict.result == .fail)
      #expect(summary.stalls.map(\.kind) == ["exit"])
    }
  }

  @Test func `an attached program that stalls is let go while it does`() async throws {
    try await Lane.shared {
      let target = try await Target("long_stall", ["4000", "60000"])
      let aborted = try await target.attach(
        ["-d", "50s", "--stall-budget", "250ms", "--count-environment", "--abort-on-fail"])
      #expect(aborted.finished.status == .code(99), "\(aborted.finished.error)")
      #expect(aborted.summary.run.endedBy == .budget)
      #expect(aborted.summary.run.duration < .seconds(30))
      #expect(target.isAlive)
      try await target.end()
    }
  }

  @Test func `descriptors are counted, the most and the last`() async throws {
    try await Lane.shared {
      let script =
        "exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null; sleep 0.5; exec 5<&- 6<&-; sleep 1"
      let run = try await Watched("/bin/sh", ["-c", script], options: ["-b", "fds.peak<6"])
      #expect(run.finished.status == .code(99), "\(run.finished.error)")
      let summary = try run.summary
      // Whatever it has inherited, the standard streams and four of its own; two were closed again.
      let descriptors = try #require(summary.descriptors)
      #expect((descriptors.peak ?? 0) >= 7)
      #expect(descriptors.atEnd == descriptors.peak.map { $0 - 2 })
      #expect(summary.metrics["fds.peak"]?.value == descriptors.peak.map { Double($0) })
    }
  }

  @Test func `attach judges, too, and lets the program live`() async throws {
    try await Lane.shared {
      let target = try await Target("long_stall", ["60000", "300"])
      let failed = try await target.attach(["-d", "300ms", "-b", "wall<1ms"])
      #expect(failed.finished.status == .code(99))
      let unjudged = try await target.attach(["-d", "300ms", "-b", "cpu.sustained<1%/5s"])
      #expect(unjudged.finished.status == .code(98))
      let passed = try await target.attach(["-d", "300ms", "-b", "cpu.average<90%"])
      #expect(passed.finished.status == .code(0))
      let aborted = try await target.attach(["-d", "20s", "-b", "wall<100ms", "--abort-on-fail"])
      #expect(aborted.finished.status == .code(99))
      #expect(aborted.summary.run.endedBy == .budget)
      #expect(target.isAlive)
      try await target.end()
    }
  }

  @Test(
    arguments: [
      ("stall.longst<250ms", "did you mean 'stall.longest'?"), ("stall.longest<250msec", "'ms'"),
      ("cpu.average", "no comparison"),
    ])
  func `a rule that is none is 125 before the target starts, in one line`(
    rule: String, hint: String
  ) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("exit_status")
      var command = Perfwatch.command(["run", "-b", rule, "--", target, "code", "0"])
      command.environment["TARGET_TRUTH"] = folder["truth"]
      let finished = try await command.run(in: folder)
      #expect(finished.status == .code(125))
      #expect(finished.error.contains(hint), "\(finished.error)")
      #expect(finished.error.split(separator: "\n").count == 1)
      #expect(!Scratch.exists(folder["truth"]))
    }
  }

  @Test func `the metrics are listed as text and as JSON`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let text = try await Perfwatch.command(["metrics"]).run(in: folder)
      #expect(text.status == .code(0))
      for metric in MetricCatalog.all { #expect(text.text.contains("\n\(metric.key) ")) }
      let json = try await Perfwatch.command(["metrics", "--json"]).run(in: folder)
      let rows = try JSONReader.read(json.output).elements ?? []
      #expect(rows.map { $0["key"]?.text } == MetricCatalog.all.map(\.key))
    }
  }
}

@Suite struct ConfigTests {
  /// perfwatch in a folder, with nothing from the machine's own configuration.
  static func run(_ words: [String], in folder: Scratch) async throws -> Finished {
    var command = Command(
      ["/bin/sh", "-c", "cd \"$0\"; exec \"$@\"", folder.path, Perfwatch.path] + words)
    command.environment["XDG_CONFIG_HOME"] = folder.path
    command.environment["PERFWATCH_CONFIG"] = .some(nil)
    return try await command.run(in: folder)
  }

  @Test func `perfwatch.json is found, and the command line beats it`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("perfwatch.json", Array("{budget: 'x: wall<1ns', // too little\n}".utf8))
      #expect(try await Self.run(["run", "/bin/true"], in: folder).status == .code(99))
      let own = try await Self.run(["run", "-b", "x:wall<1h", "/bin/true"], in: folder)
      #expect(own.status == .code(0))
      let origins = try await Self.run(["check", "--print-config", "--grace", "1s"], in: folder)
      #expect(origins.text.contains("budget = x: wall<1ns  (\(folder.path)/perfwatch.json:1)"))
      #expect(origins.text.contains("grace = 1s  (command line)"))
      // The nearest choice wins: the option, then the variable, then the file that is found.
      try folder.write("other", Array("{\"budget\": \"wall<1h\"}".utf8))
      let chosen = try await Self.run(["run", "--config", "other", "/bin/true"], in: folder)
      #expect(chosen.status == .code(0))
    }
  }

  @Test func `a bad configuration is one line with file, line and key, before the target starts`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("perfwatch.json", Array("{\n  grase: '2s' }".utf8))
      let finished = try await Self.run(["run", "/bin/sh", "-c", "echo started"], in: folder)
      #expect(finished.status == .code(125))
      #expect(finished.error.contains("perfwatch.json: line 2: grase: no such option"))
      #expect(finished.error.split(separator: "\n").count == 1)
      #expect(finished.output.isEmpty)
      #expect(try await Self.run(["check", "x"], in: folder).status == .code(2))
      for (name, hint) in [("no", "No such file"), ("/", "directory"), ("/dev/null", "line 1")] {
        let chosen = try await Self.run(["run", "--config", name, "/bin/true"], in: folder)
        #expect(chosen.status == .code(125), "\(name)")
        #expect(chosen.error.contains(hint), "\(chosen.error)")
        #expect(chosen.error.split(separator: "\n").count == 1, "\(chosen.error)")
      }
    }
  }

  @Test func `the published schema takes what perfwatch takes`() async throws {
    try await Lane.shared {
      let schema = Perfwatch.repository + "/Docs/perfwatch.schema.json"
      let text = """
        {"budget": ["ui: warn: stall.longest<250ms", "cpu.sustained<80%/10s", "exit.code==0"],
        "grace": "2s", "count-environment": true, "indeterminate": "fail", "watch": "loops",
        "stall-threshold": "100ms", "in-app": "libx*", "budget-exit-code": 3, "max-regression": "7.5%", "runs": 1}
        """
      for (config, isGood) in [
        (text, true), ("{\"grase\": \"2s\"}", false), ("{\"grace\": 2}", false),
        ("{\"grace\": \"2\"}", false), ("{\"budget\": [\"wall\"]}", false),
        ("{\"max-regression\": \"7\"}", false),
        ("{\"budget-exit-code\": 0}", false), ("{\"summary\": \"x\"}", false),
      ] {
        let folder = try Scratch()
        try folder.write("perfwatch.json", Array(config.utf8))
        let tool = Perfwatch.tests + "/Targets/tools/validate_export.py"
        let checked = try await Command(
          ["/usr/bin/python3", tool, "json", folder["perfwatch.json"], schema]
        ).run(in: folder)
        #expect((checked.status == .code(0)) == isGood, "\(config): \(checked.text)")
        let printed = try await Self.run(["check", "--print-config"], in: folder)
        let ran = try await Self.run(["run", "-q", "/bin/true"], in: folder)
        #expect((ran.status != .code(125)) == isGood, "\(config): \(ran.error)")
        if isGood { #expect(printed.status == .code(0)) }
      }
      let properties = try JSONReader.read(Scratch.bytes(schema))["properties"]?.members ?? []
      let names = properties.map(\.key).filter { $0 != "$schema" }
      let lines = try await Self.run(["check", "--print-config"], in: Scratch()).text
      #expect(names.allSatisfy { lines.contains("\n\($0)  (default)") })
      #expect(lines.split(separator: "\n").count == names.count + 1)
    }
  }
}
