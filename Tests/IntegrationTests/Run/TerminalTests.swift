// perfwatch run on a terminal: keys, job control, window sizes and hang-ups, compared with a plain run.

internal import Testing

@testable internal import ProbeCore

@Suite struct TerminalTests {
  /// Runs signal_log plainly and watched, with the same things happening to both.
  private func both(
    _ events: [String], options: [String] = []
  ) async throws -> (plain: (TerminalRun, Truth), watched: (TerminalRun, Truth), summary: Summary) {
    let folder = try Scratch()
    let target = [try await Perfwatch.target("signal_log"), "3"]
    let plain = try await TerminalRun.of(target, events, in: folder, truth: "plain")
    let summary = folder["summary"]
    let watched = try await TerminalRun.of(
      [Perfwatch.path, "run", "--summary", summary] + options + ["--"] + target, events, in: folder,
      truth: "watched")
    return (plain, watched, try Watched.summary(summary))
  }

  @Test func `Ctrl-C reaches the target exactly once, and we report`() async throws {
    try await Lane.shared {
      let (plain, watched, summary) = try await both(["--keys", "0.1:\\x03"])
      #expect(watched.1.all("sig").map(\.sig) == [2])
      // From the terminal itself, not from a process.
      #expect(watched.1.all("sig").map(\.code) == plain.1.all("sig").map(\.code))
      #expect(watched.0.exit == 21)
      #expect(plain.0.exit == 21)
      #expect(watched.0.tty_restored == true)
      #expect(watched.0.out.contains("perfwatch itself"))
      #expect(summary.exit == Summary.Exit(code: 21, signal: nil, perfwatch: 21))
      #expect(summary.run.complete)
    }
  }

  @Test func `other keys and resizes reach the target as without us`() async throws {
    try await Lane.shared {
      let events = ["--keys", "0.1:\\x1c", "--winch", "0.3:1x1", "--winch", "0.5:50x132"]
      let (plain, watched, summary) = try await both(events + ["--keys", "0.7:\\x03"])
      #expect(watched.1.all("sig").map(\.sig) == plain.1.all("sig").map(\.sig))
      #expect(watched.1.all("sig").first?.sig == 3)
      #expect(watched.0.exit == plain.0.exit)
      #expect(summary.exit.code == 21)
    }
  }

  @Test func `a second Ctrl-C within two seconds sends TERM, a third one KILL`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let ready = "echo '{\"ev\":\"ready\"}' >> \"$TARGET_TRUTH\"; while :; do sleep 0.05; done"
      let twice = ["--keys", "0.1:\\x03", "--keys", "0.4:\\x03"]
      for (ignored, events, signal) in [
        ("INT", twice, Int32(15)), ("INT TERM", twice + ["--keys", "0.7:\\x03"], 9),
      ] {
        let summary = folder.unique("summary")
        let (run, _) = try await TerminalRun.of(
          [Perfwatch.path, "run", "--summary", summary, "--", "/bin/sh", "-c"]
            + ["trap '' \(ignored); " + ready], events, in: folder, truth: "truth\(signal)")
        #expect(run.exit == -signal)
        #expect(run.tty_restored == true)
        #expect(
          try Watched.summary(summary).exit
            == Summary.Exit(code: nil, signal: signal, perfwatch: 128 + signal))
      }
    }
  }

  @Test func `Ctrl-Z and fg look to the shell as without us`() async throws {
    try await Lane.shared {
      let events = ["--keys", "0.1:\\x1a", "--fg", "0.5:", "--keys", "0.8:\\x03"]
      let (plain, watched, summary) = try await both(events)
      #expect(plain.0.stops == [20, -1])
      #expect(watched.0.stops == plain.0.stops)
      #expect(watched.1.all("sig").map(\.sig) == plain.1.all("sig").map(\.sig))
      #expect(watched.0.exit == 21)
      #expect(watched.0.tty_restored == true)
      // While we were stopped ourselves no tick was late.
      #expect(summary.observer.lateProbes <= summary.observer.probes / 4)
    }
  }

  @Test func `stopped and continued several times, everything still ends well`() async throws {
    try await Lane.shared {
      let events = ["--keys", "0.1:\\x1a", "--fg", "0.3:", "--keys", "0.5:\\x1a", "--fg", "0.7:"]
      let (plain, watched, _) = try await both(events + ["--keys", "0.9:\\x03"])
      #expect(watched.0.stops == [20, -1, 20, -1])
      #expect(watched.0.stops == plain.0.stops)
      #expect(watched.0.exit == plain.0.exit)
    }
  }

  @Test func `a hang-up reaches the target as often as without us, and the summary is written`()
    async throws
  {
    try await Lane.shared {
      let (plain, watched, summary) = try await both(["--hup", "0.1:"])
      #expect(
        watched.1.all("sig").filter { $0.sig == 1 }.count
          == plain.1.all("sig").filter { $0.sig == 1 }.count)
      #expect(watched.0.exit == plain.0.exit)
      #expect(summary.run.complete)
    }
  }

  @Test func `a target that reads the terminal gets what is typed`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let script =
        "echo '{\"ev\":\"ready\"}' >> \"$TARGET_TRUTH\"; read line; echo \"<$line>\" >&2; exit 11"
      let (run, _) = try await TerminalRun.of(
        [Perfwatch.path, "run", "--", "/bin/sh", "-c", script], ["--keys", "0.1:typed\\n"],
        in: folder)
      #expect(run.exit == 11)
      #expect(run.out.contains("<typed>"))
    }
  }

  @Test(arguments: ["1x1", "2x3", "5x20", "200x400"])
  func `the live block survives any window`(size: String) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("sleeper")
      let events = ["--winch", "0.1:\(size)", "--winch", "0.7:24x80", "--winch", "1:\(size)"]
      let (run, _) = try await TerminalRun.of(
        [Perfwatch.path, "run", "--live", "--", target, "/dev/null", "8", "1400"], events,
        in: folder)
      #expect(run.exit == 8)
      #expect(run.tty_restored == true)
    }
  }
}
