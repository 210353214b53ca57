// Many threads, many processes, scripts: what the target is made of.

internal import Testing

@testable internal import ProbeCore

@Suite struct ProcessShapeTests {
  @Test func `an explosion of 400 threads is counted, at little cost`() async throws {
    try await Lane.shared {
      let run = try await Watched("thread_explosion")
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      let said = try run.truth.line("threads")
      #expect((395...402).contains(try #require(summary.threads.peak)))
      #expect(said.peak == 401)
      #expect((395...400).contains(try #require(summary.threads.created)))
      #expect(isClose(try #require(summary.cpu.total).inSeconds, try run.truth.cpu))
      #expect(summary.cpu.byThread.filter { $0.name.hasPrefix("pool-") }.count >= 395)
      #expect(summary.observer.droppedEvents == 0)
    }
  }

  @Test func `a thousand threads work`() async throws {
    try await Lane.alone {
      let run = try await Watched("many_threads", ["1000"])
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      #expect(summary.threads.peak == 1001)
      #expect(isClose(try #require(summary.cpu.total).inSeconds, try run.truth.cpu))
      let main = try #require(summary.cpu.byThread.first)
      #expect(main.tid == summary.target.pid)
      // The threads' own starts cost some; the burning is the main thread's.
      #expect(main.cpu.inSeconds >= 0.5 * (try run.truth.cpu))
      #expect(summary.observer.droppedEvents == 0)
      // 13 ticks or so: a poll of a thousand threads is far from filling the period.
      #expect(summary.observer.probes >= 8)
    }
  }

  @Test func `attaching to a thousand threads works, with few descriptors too`() async throws {
    try await Lane.alone {
      let target = try await Target("many_threads", ["1000"], ready: "ready")
      let path = target.folder["summary"]
      let finished = try await Command(
        ["/bin/sh", "-c", "ulimit -n 100; exec \"$@\"", "sh", Perfwatch.path, "attach"]
          + ["--summary", path, "\(target.pid)"]
      ).run(in: target.folder)
      #expect(finished.status == .code(0))
      let summary = try Watched.summary(path)
      #expect(summary.threads.peak == 1001)
      #expect(summary.threads.created == 0)
      #expect(summary.warnings.contains { $0.code == "descriptor-limit" })
      _ = try await target.running.finish()
    }
  }

  @Test func `work in children is counted with --children and pointed out without`() async throws {
    try await Lane.several(2) {
      let alone = try await Watched("prefork")
      let family = try await Watched("prefork", options: ["--children"])
      let own = try alone.summary
      #expect(own.tree == nil)
      #expect(isClose(try #require(own.cpu.total).inSeconds, try alone.truth.cpu))
      #expect(own.warnings.contains { $0.code == "work-in-children" })
      #expect(alone.finished.error.contains("--children"))
      let whole = try family.summary
      let tree = try #require(whole.tree)
      let child = try #require(try family.truth.line("end").child_s)
      let used = try #require(tree.cpu).inSeconds
      let expected = try family.truth.cpu + child
      #expect(isClose(used, expected), "\(used) s, not \(expected) s")
      #expect(tree.processesSeen == 4)
      #expect(tree.processes.filter { $0.name == "worker" }.count == 3)
      #expect(!whole.warnings.contains { $0.code == "work-in-children" })
      // Who told us of the forks is said, and why if it was not the kernel.
      let isPolled = whole.warnings.contains { $0.code == "children-polled" }
      #expect(tree.observer == (isPolled ? "proc" : "perf"))
    }
  }

  @Test func `a daemon that left the family by a double fork is counted`() async throws {
    try await Lane.several(2) {
      let run = try await Watched("daemon_fork", options: ["--children"])
      #expect(run.finished.status == .code(0))
      let tree = try #require(try run.summary.tree)
      let daemon = try run.truth.line("daemon")
      let expected = try run.truth.cpu + #require(daemon.cpu_s)
      let used = try #require(tree.cpu).inSeconds
      #expect(isClose(used, expected), "\(used) s, not \(expected) s")
      let member = try #require(tree.processes.first { $0.pid == daemon.pid })
      #expect(member.name == "daemon")
      #expect(isClose(try #require(member.cpu).inSeconds, try #require(daemon.cpu_s)))
    }
  }

  @Test func `a script is watched through its interpreter`() async throws {
    try await Lane.several(2) {
      let run = try await Watched("script_target.sh", options: ["--children"])
      #expect(run.finished.status == .code(12))
      let summary = try run.summary
      #expect(summary.target.pid == (try run.truth.line("start").pid))
      #expect(summary.target.executable?.hasSuffix("sh") == true)
      #expect(summary.cpu.byThread.first?.name == "script_target.s")
      let tree = try #require(summary.tree)
      let child = try #require(tree.processes.first { $0.name == "cpu_half" })
      #expect(child.parent == summary.target.pid)
      // `dirname` and the like are in the tree as well.
      let own = try #require(summary.cpu.total).inSeconds
      #expect(isClose(try #require(tree.cpu).inSeconds, own + 0.5, slack: 0.06))
    }
  }
}
