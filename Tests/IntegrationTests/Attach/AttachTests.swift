// Watching a process that runs already, letting it go, and its end.

internal import Testing

@testable internal import ProbeCore

@Suite struct AttachTests {
  /// Waits until a perfwatch takes its first samples.
  static func isWatching(_ perfwatch: Running) -> Bool {
    let pid = perfwatch.pid
    return Scratch.names("/proc/\(pid)/task").contains {
      Scratch.text("/proc/\(pid)/task/\($0)/comm") == "pw-poller\n"
    }
  }

  @Test func `after the duration we let go, and the target goes on`() async throws {
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let (finished, summary) = try await target.attach(["--duration", "300ms"])
      #expect(finished.status == .code(0))
      #expect(finished.output.isEmpty)
      #expect(summary.run.endedBy == .duration)
      #expect(summary.run.duration >= .milliseconds(300))
      #expect(summary.exit == Summary.Exit(code: nil, signal: nil, perfwatch: 0))
      #expect(!summary.target.launched)
      #expect(summary.target.pid == target.pid)
      #expect(summary.target.startTicks.map { "\($0)" } == Process.field(target.pid, 19))
      #expect(summary.target.executable == (try await Perfwatch.target("sleeper")))
      #expect(target.isAlive)
      try await target.end()
    }
  }

  /// TERM, HUP, INT and QUIT.
  @Test(arguments: [15, 1, 2, 3] as [Int32])
  func `a signal to us lets go of the target`(signal: Int32) async throws {
    try await Lane.shared {
      let target = try await Target("signal_log", ["20"], ready: "ready")
      let path = target.folder["summary"]
      let words = ["attach", "--summary", path, "\(target.pid)"]
      let running = try Perfwatch.command(words).start(in: target.folder)
      try await eventually("perfwatch watches") { Self.isWatching(running) }
      running.signal(signal)
      let finished = try await running.finish()
      #expect(finished.status == .code(0))
      let summary = try Watched.summary(path)
      #expect(summary.run.endedBy == (signal == 2 || signal == 3 ? .interrupt : .detach))
      #expect(summary.run.complete)
      #expect(target.isAlive)
      #expect(target.truth.all("sig").isEmpty)
      try await target.end()
    }
  }

  /// USR1, USR2, PIPE, ALRM, and the first real-time signal.
  @Test(arguments: [10, 12, 13, 14, 34] as [Int32])
  func `other signals to us change nothing`(signal: Int32) async throws {
    try await Lane.shared {
      let target = try await Target("signal_log", ["20"], ready: "ready")
      let path = target.folder["summary"]
      let words = ["attach", "-d", "1", "--summary", path, "\(target.pid)"]
      let running = try Perfwatch.command(words).start(in: target.folder)
      try await eventually("perfwatch watches") { Self.isWatching(running) }
      running.signal(signal)
      let finished = try await running.finish()
      #expect(finished.status == .code(0))
      #expect(try Watched.summary(path).run.endedBy == .duration)
      #expect(target.truth.all("sig").isEmpty)
      try await target.end()
    }
  }

  @Test func `Ctrl-C on the terminal ends the block, restores it and leaves the target alone`()
    async throws
  {
    try await Lane.shared {
      let target = try await Target("signal_log", ["20"], ready: "ready")
      let path = target.folder["summary"]
      let words = ["attach", "--summary", path, "\(target.pid)"]
      let events = ["--ready", "-:signal_log", "--winch", "0.1:1x1", "--winch", "0.2:10x40"]
      let (run, truth) = try await TerminalRun.of(
        [Perfwatch.path] + words, events + ["--keys", "0.7:\\x03"], ready: nil, in: target.folder)
      #expect(run.exit == 0)
      #expect(run.tty_restored == true)
      #expect(try Watched.summary(path).run.endedBy == .interrupt)
      #expect(truth.all("sig").isEmpty)
      #expect(target.isAlive)
      try await target.end()
    }
  }

  @Test func `Ctrl-Z stops us alone, and fg goes on`() async throws {
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let words = ["attach", "\(target.pid)"]
      let events = ["--ready", "-:sleeper", "--keys", "0.1:\\x1a", "--fg", "0.4:"]
      let (run, _) = try await TerminalRun.of(
        [Perfwatch.path] + words, events + ["--keys", "0.8:\\x03"], ready: nil, in: target.folder)
      #expect(run.stops == [20, -1])
      #expect(run.exit == 0)
      #expect(target.isAlive)
      try await target.end()
    }
  }

  @Test func `a target that ends meanwhile ends the watch, with its status where it can be known`()
    async throws
  {
    try await Lane.shared {
      let target = try await Target("sleeper", ["/dev/null", "6", "1200"], ready: "ready")
      async let ended = target.running.finish()
      let (finished, summary) = try await target.attach([])
      #expect(try await ended.status == .code(6))
      #expect(finished.status == .code(0))
      #expect(summary.run.endedBy == .exit)
      #expect(summary.exit.code == 6 || (summary.exit.code == nil && !Process.isRoot))
      #expect(summary.exit.signal == nil)
      #expect(summary.exit.perfwatch == 0)
    }
  }

  @Test func `a target that is killed meanwhile is reported as killed`() async throws {
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let path = target.folder["summary"]
      let words = ["attach", "--summary", path, "\(target.pid)"]
      let running = try Perfwatch.command(words).start(in: target.folder)
      try await eventually("perfwatch watches") { Self.isWatching(running) }
      async let ended = target.running.finish()
      target.running.signal(9)
      #expect(try await ended.status == .signal(9))
      #expect(try await running.finish().status == .code(0))
      let summary = try Watched.summary(path)
      #expect(summary.exit.signal == 9 || (summary.exit.signal == nil && !Process.isRoot))
      #expect(summary.exit.code == nil)
    }
  }

  @Test func `only what is used from now on is charged`() async throws {
    try await Lane.shared {
      let target = try await Target("many_threads", ["2"], ready: "ready")
      let before = try #require(Clock.processCPU(ProcessID(target.pid))).inSeconds
      async let ended = target.running.finish()
      let (_, summary) = try await target.attach([])
      _ = try await ended
      let all = try target.truth.cpu
      let measured = try #require(summary.cpu.total).inSeconds
      #expect(measured <= all - before + 0.05)
      // What it burnt until perfwatch had started.
      #expect(measured >= (all - before) * 0.5)
      #expect(isClose(summary.cpu.byThread.reduce(0) { $0 + $1.cpu.inSeconds }, measured))
    }
  }

  @Test(.enabled(if: Process.isRoot, "another user's process needs root to make"))
  func `a process that hides from an ordinary user is still measured`() async throws {
    let setpriv = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    try await Lane.alone {
      let probe = try await Command(setpriv + [Perfwatch.path, "version"]).run(in: Scratch())
      guard probe.status == .code(0) else {
        return withKnownIssue("uid 65534 cannot execute this build") {
          Issue.record("\(probe.error)")
        }
      }
      let target = try await Target("drop_uid")
      let path = target.folder["summary"]
      async let ended = target.running.finish()
      let finished = try await Command(
        setpriv + [Perfwatch.path, "attach", "--summary", path, "\(target.pid)"]
      ).run(in: target.folder)
      #expect(try await ended.status == .code(0))
      #expect(finished.status == .code(0), "\(finished.error)")
      let summary = try Watched.summary(path)
      // The two bursts come 0.4 s and 1 s after its start.
      #expect(isClose(try #require(summary.cpu.total).inSeconds, try target.truth.cpu))
      #expect(try #require(summary.memory.footprintPeak) > 0)
      #expect(try #require(summary.memory.residentPeak) > 0)
      #expect(summary.exit.code == nil || summary.exit.code == 0)
      #expect(summary.exit.signal == nil)
    }
  }

  @Test(.enabled(if: Process.isRoot, "another user's process needs root to make"))
  func `a process of another user is measured, with one note about it`() async throws {
    let setpriv = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let probe = try await Command(setpriv + [Perfwatch.path, "version"]).run(in: target.folder)
      if probe.status == .code(0) {
        let path = target.folder["summary"]
        let finished = try await Command(
          setpriv + [Perfwatch.path, "attach", "--duration", "200ms", "--summary", path]
            + ["\(target.pid)"]
        ).run(in: target.folder)
        #expect(finished.status == .code(0), "\(finished.error)")
        let summary = try Watched.summary(path)
        #expect(summary.cpu.total != nil)
        #expect(summary.memory.footprintPeak != nil)
        #expect(summary.warnings.filter { $0.code == "other-user" }.count == 1)
      }
      try await target.end()
    }
  }

  @Test(.enabled(if: Process.isRoot, "another user's process needs root to make"))
  func `a status that nobody tells us is not invented`() async throws {
    let setpriv = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    try await Lane.shared {
      let target = try await Target("sleeper", ["/dev/null", "6", "900"], ready: "ready")
      let probe = try await Command(setpriv + [Perfwatch.path, "version"]).run(in: target.folder)
      if probe.status == .code(0) {
        // It stays a zombie: its parent, this test, waits for it only afterwards.
        let path = target.folder["summary"]
        let finished = try await Command(
          setpriv + [Perfwatch.path, "attach", "--summary", path, "\(target.pid)"]
        ).run(in: target.folder)
        #expect(finished.status == .code(0), "\(finished.error)")
        let summary = try Watched.summary(path)
        #expect(summary.exit == Summary.Exit(code: nil, signal: nil, perfwatch: 0))
        #expect(summary.warnings.contains { $0.code == "exit-status-unknown" })
        #expect(summary.run.endedBy == .exit)
      }
      let ended = try await target.running.finish()
      #expect(ended.status == .code(6))
    }
  }

  @Test func `two of us on one target, and one on another of us, are fine`() async throws {
    try await Lane.several(4) {
      let target = try await Target("sleeper", ready: "ready")
      let folder = target.folder
      func attach(_ pid: Int32, _ name: String) throws -> Running {
        let options = ["--duration", "800ms", "--summary", folder[name]]
        return try Perfwatch.command(["attach"] + options + ["\(pid)"]).start(in: folder)
      }
      let first = try attach(target.pid, "first")
      let second = try attach(target.pid, "second")
      try await eventually("both watch") { Self.isWatching(first) && Self.isWatching(second) }
      let third = try attach(first.pid.rawValue, "third")
      for running in [first, second, third] {
        #expect(try await running.finish().status == .code(0))
      }
      for name in ["first", "second"] {
        #expect(try Watched.summary(folder[name]).target.pid == target.pid)
      }
      #expect(try Watched.summary(folder["third"]).target.pid == first.pid.rawValue)
      #expect(target.isAlive)
      try await target.end()
    }
  }
}
