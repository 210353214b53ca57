// Who observes: what it needs, what it says when it cannot be had, and that the target feels nothing.

internal import Testing

@testable internal import ProbeCore

@Suite struct ObserverTests {
  static let setpriv = [
    "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
  ]

  /// One line on stderr that names the wish, the obstacle and a way out.
  static func expectRefusal(_ finished: Finished, _ words: [String]) {
    #expect(finished.status == .code(125))
    #expect(finished.output.isEmpty)
    let lines = finished.error.split(separator: "\n")
    #expect(lines.count == 1, "\(finished.error)")
    #expect(finished.error.hasPrefix("perfwatch: "))
    for word in words + ["--observer proc"] {
      #expect(finished.error.contains(word), "'\(word)' in: \(finished.error)")
    }
  }

  @Test(arguments: ["proc", "kernel"], [true, false])
  func `no system call of the target is interrupted, nor stopped without stacks`(
    observer: String, stacks: Bool
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.shared {
      let run = try await Watched(
        "eintr_witness",
        options: ["--observer", observer, "--stall-threshold", "100ms"]
          + (stacks ? [] : ["--no-stacks"]))
      #expect(run.finished.status == .code(0))
      let said = try #require(StallTruth(run.folder["truth"]).all("eintr").first)
      #expect(said.total == 0)
      let summary = try run.summary
      #expect(summary.stalls.count { $0.kind == "stall" } >= 3)
      if !stacks { #expect(summary.observer.stops == 0) }
    }
  }

  @Test(.enabled(if: Process.isRoot, "taking a mount away needs root"))
  func `without tracefs the kernel cannot be asked for, and we say how to mount it`()
    async throws
  {
    let script = "umount -a -t tracefs 2>/dev/null; ! grep -q ' tracefs ' /proc/self/mounts"
    let hidden = ["/usr/bin/unshare", "-m", "/bin/sh", "-c"]
    let probe = try await Command(hidden + [script]).run(in: Scratch())
    guard probe.status == .code(0) else {
      return withKnownIssue("tracefs cannot be hidden here") { Issue.record("\(probe.error)") }
    }
    try await Lane.shared {
      func run(_ observer: String) async throws -> Finished {
        let words = [Perfwatch.path, "run", "--observer", observer, "--", "/bin/true"]
        return try await Command(hidden + ["\(script) && exec \"$@\"", "sh"] + words)
          .run(in: Scratch())
      }
      let refused = try await run("kernel")
      Self.expectRefusal(refused, ["tracefs", "mount -t tracefs tracefs /sys/kernel/tracing"])
      let auto = try await run("auto")
      #expect(auto.status == .code(0))
    }
  }

  @Test(.enabled(if: Process.isRoot, "becoming another user needs root"))
  func `an ordinary user is told what the kernel observer needs`() async throws {
    try await Lane.shared {
      let probe = try await Command(Self.setpriv + [Perfwatch.path, "version"]).run(in: Scratch())
      guard probe.status == .code(0) else {
        return withKnownIssue("uid 65534 cannot execute this build") {
          Issue.record("\(probe.error)")
        }
      }
      func run(_ observer: String) async throws -> Finished {
        let words = [Perfwatch.path, "run", "--observer", observer, "--", "/bin/true"]
        return try await Command(Self.setpriv + words).run(in: Scratch())
      }
      let refused = try await run("kernel")
      Self.expectRefusal(refused, ["kernel", "root"])
      let auto = try await run("auto")
      #expect(auto.status == .code(0))
    }
  }

  @Test(.kernelObserver)
  func `a thread that waits all the time is no longer traced, and nothing is made up`()
    async throws
  {
    try await Lane.several(2) {
      let run = try await Watched(
        "busy_poll", ["0"], options: ["--observer", "kernel", "--stall-threshold", "100ms"])
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      let notices = summary.warnings.filter { $0.code == "tracing-given-up" }
      #expect(notices.count == 1, "\(summary.warnings)")
      #expect(summary.loops.first?.observer == "proc")
      let truth = StallTruth(run.folder["truth"])
      for stall in summary.stalls.map({ FoundStall($0, summary) }) {
        // Its own account of the start-up begins in main, ours with the launch.
        let isReal = truth.gaps.contains {
          $0.milliseconds >= 75 && stall.isMostly($0)
            || $0.kind == "startup" && stall.stall.kind == "startup"
              && abs($0.end - stall.end) < 0.025
        }
        #expect(isReal || stall.stall.certainty == "probable", "\(stall)")
      }
    }
  }

  @Test(.kernelObserver) func `the best observer that is permitted is taken`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "long_stall", ["3000", "400"], options: ["--stall-threshold", "100ms"])
      let summary = try run.summary
      #expect(summary.loops.map(\.observer) == ["kernel"])
      // Tracing begins when the thread has shown to be a loop; each stall says who saw it.
      var judge = StallJudge(.proc)
      judge.isMixed = true
      judge.judge(summary, StallTruth(run.folder["truth"]))
      #expect(summary.stalls.last?.observer == "kernel")
      #expect(summary.stalls.last?.certainty == "exact")
    }
  }

  @Test(.enabled(if: Process.isRoot, "becoming another user needs root"))
  func `an ordinary user's own program is judged by proc`() async throws {
    try await Lane.shared {
      let target = try await Perfwatch.target("epoll_sleep")
      let probe = try await Command(
        Self.setpriv + [Perfwatch.path, "run", "--quiet", "--", target]
      ).run(in: Scratch())
      guard probe.status == .code(0) else {
        return withKnownIssue("uid 65534 cannot execute this build") {
          Issue.record("\(probe.error)")
        }
      }
      let run = try await Watched("epoll_sleep", options: ["--stall-threshold", "100ms"]) {
        $0.words = Self.setpriv + $0.words
      }
      let summary = try run.summary
      #expect(summary.loops.map(\.observer) == ["proc"])
      StallJudge(.proc).judge(summary, StallTruth(run.folder["truth"]))
    }
  }

  @Test(arguments: ["9ms", "0", "-1s", "soon"])
  func `a threshold that cannot be kept is refused`(threshold: String) async throws {
    let finished = try await Perfwatch.command(
      ["run", "--stall-threshold", threshold, "--", "/bin/true"]
    ).run(in: Scratch())
    #expect(finished.status == .code(125))
    #expect(finished.error.contains("stall-threshold"))
  }
}
