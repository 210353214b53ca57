// perfwatch run ends as its target ended, and the summary says the same.

internal import Testing

@testable internal import ProbeCore

@Suite struct ExitCodeTests {
  @Test(arguments: [0, 1, 37, 98, 125, 127, 255] as [Int32])
  func `the target's code is passed on`(code: Int32) async throws {
    try await Lane.shared {
      let run = try await Watched("exit_status", ["code", "\(code)"])
      #expect(run.finished.status == .code(code))
      #expect(!run.finished.hasCore)
      let summary = try run.summary
      #expect(summary.exit == Summary.Exit(code: code, signal: nil, perfwatch: code))
      #expect(summary.run.complete)
      #expect(summary.run.endedBy == .exit)
      #expect(summary.target.pid == (try run.truth.line("start").pid))
      #expect(run.finished.error.contains("exited with code \(code)"))
    }
  }

  /// HUP, INT, QUIT, ABRT, KILL, USR1, SEGV, TERM and a real-time signal.
  @Test(arguments: [1, 2, 3, 6, 9, 10, 11, 15, 40] as [Int32])
  func `the target's death by signal becomes ours, without a core`(signal: Int32) async throws {
    try await Lane.shared {
      let target = try await Perfwatch.target("exit_status")
      let run = try await Watched("exit_status", ["signal", "\(signal)"]) { command in
        command.words =
          ["/bin/sh", "-c", "ulimit -c unlimited; cd \"$0\"; exec \"$@\""]
          + [String(command.words[3].dropLast("/summary.json".count))] + command.words
      }
      #expect(run.finished.status == .signal(signal))
      #expect(!run.finished.hasCore)
      let summary = try run.summary
      #expect(summary.exit == Summary.Exit(code: nil, signal: signal, perfwatch: 128 + signal))
      #expect(summary.run.endedBy == .exit)
      #expect(!run.folder.names.contains { $0.hasPrefix("core") })
      #expect(summary.target.command.first == target)
    }
  }

  @Test func `a shell sees 128 and the signal`() async throws {
    try await Lane.shared {
      let target = try await Perfwatch.target("exit_status")
      let shell = Command(
        ["/bin/sh", "-c", "\"$@\"; echo \"status $?\"", "sh", Perfwatch.path, "run", "-q"]
          + [target, "signal", "15"])
      let finished = try await shell.run(in: Scratch())
      #expect(finished.text == "status 143\n")
    }
  }

  @Test func `a time-out ends the target by TERM with code 124`() async throws {
    try await Lane.shared {
      let run = try await Watched("/bin/sleep", ["30"], options: ["--timeout", "300ms"])
      #expect(run.finished.status == .code(124))
      let summary = try run.summary
      #expect(summary.exit == Summary.Exit(code: nil, signal: 15, perfwatch: 124))
      #expect(summary.run.endedBy == .timeout)
      #expect(summary.run.duration >= .milliseconds(300))
    }
  }

  @Test func `a target that ignores TERM is killed after the grace`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sh", ["-c", "trap '' TERM; while :; do sleep 0.05; done"],
        options: ["--timeout", "300ms", "--kill-after", "300ms"])
      #expect(run.finished.status == .code(124))
      let summary = try run.summary
      #expect(summary.exit == Summary.Exit(code: nil, signal: 9, perfwatch: 124))
      #expect(summary.run.duration >= .milliseconds(600))
    }
  }

  @Test func `a time-out that the target answers with a code of its own is a time-out`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sh", ["-c", "trap 'exit 3' TERM; while :; do sleep 0.05; done"],
        options: ["--timeout", "300ms"])
      #expect(run.finished.status == .code(124))
      #expect(try run.summary.exit == Summary.Exit(code: 3, signal: nil, perfwatch: 124))
    }
  }

  @Test func `a time-out holds after the duration is over, too`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sleep", ["30"], options: ["--duration", "200ms", "--timeout", "600ms"])
      #expect(run.finished.status == .code(124))
      #expect(try run.summary.run.endedBy == .duration)
    }
  }

  @Test func `after the duration the target's code still comes through`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "sleeper", ["/dev/null", "6", "700"], options: ["--duration", "200ms"])
      #expect(run.finished.status == .code(6))
      let summary = try run.summary
      #expect(summary.run.endedBy == .duration)
      #expect(summary.exit.code == nil)
      #expect(summary.run.duration >= .milliseconds(200))
      #expect(summary.run.duration < .milliseconds(700))
    }
  }

  @Test(arguments: [
    ["run", "--no-such-option", "true"], ["run"], ["frobnicate"],
    ["run", "--interval", "x", "true"],
    ["run", "--summary"], ["attach"], ["attach", "x"], [],
  ])
  func `wrong usage is 125, with one line that says so`(words: [String]) async throws {
    try await Lane.shared {
      let finished = try await Perfwatch.command(words).run(in: Scratch())
      #expect(finished.status == .code(125))
      #expect(finished.output.isEmpty)
      #expect(finished.error.contains("perfwatch"))
    }
  }

  @Test(arguments: ["--summary", "--record", "--output", "--export"])
  func `an output that cannot be written fails before the target starts`(option: String)
    async throws
  {
    try await Lane.shared {
      for place in ["/no/such/folder/file", "/proc/file", "/"] {
        let value = (option == "--export" ? "json=" : "") + place
        let folder = try Scratch()
        let target = try await Perfwatch.target("exit_status")
        var command = Perfwatch.command(["run", option, value, "--", target, "code", "0"])
        command.environment["TARGET_TRUTH"] = folder["truth"]
        let finished = try await command.run(in: folder)
        #expect(finished.status == .code(125), "\(place)")
        #expect(finished.error.contains(place), "\(finished.error)")
        #expect(!Scratch.exists(folder["truth"]), "the target has started")
      }
    }
  }

  @Test func `what cannot be launched is 126 or 127, and leaves no summary behind`() async throws {
    let script = try await Perfwatch.target("launch_cases.sh")
    let folder = try Scratch()
    try await Lane.shared {
      let cases = try Scratch()
      let made = try await Command([script, cases.path]).run(in: folder)
      try folder.write("cases", made.output)
      let lines = Truth(folder["cases"]).all("launch_case")
      #expect(lines.count == 13)
      for line in lines {
        var name = try #require(line.argv0)
        let code = try #require(line.exit)
        let summary = folder.unique("summary")
        var command = Perfwatch.command(["run", "--summary", summary, "--"])
        if name.hasPrefix("PATH=") {
          let words = name.split(separator: " ").map(String.init)
          command.environment["PATH"] = String(words[0].dropFirst(5))
          name = words[1]
        }
        command.words.append(name)
        let finished = try await command.run(in: folder)
        #expect(finished.status == .code(code), "\(name): \(finished.error)")
        #expect(Scratch.exists(summary) == (code < 126), "\(name)")
        if code >= 126 && !name.isEmpty { #expect(finished.error.contains(name)) }
      }
      #expect(!cases.names.contains("pwned"))
      let folders = try await Command(["/bin/rm", "-r", cases["adir"]]).run(in: folder)
      #expect(folders.status == .code(0))
      #expect(folder.names.allSatisfy { !$0.hasSuffix(".tmp") })
    }
  }

  @Test func `report is 0 for a recording and 2 for anything else`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("noise", Array("no recording at all\n".utf8))
      try folder.write("empty", [])
      for name in [folder["noise"], folder["empty"], folder["absent"], folder.path, "/dev/null"] {
        let finished = try await Perfwatch.command(["report", name]).run(in: folder)
        #expect(finished.status == .code(2), "\(name)")
        #expect(finished.output.isEmpty)
        #expect(finished.error.contains(name))
      }
      for words in [["report"], ["report", "--format", "no", "x"], ["report", "a", "b"]] {
        #expect(try await Perfwatch.command(words).run(in: folder).status == .code(2))
      }
    }
  }
}
