// Which threads are watched, and what is said when there is no loop to watch.

internal import Testing

@testable internal import ProbeCore

@Suite struct LoopChoiceTests {
  static let observers = ["proc", "kernel"]

  /// Skips the case where the observer cannot be had here, and says why.
  static func need(_ observer: String) async throws {
    guard observer != "proc", let obstacle = try await KernelObserver.obstacle.value else { return }
    try Test.cancel("\(obstacle)")
  }

  @Test(arguments: observers)
  func `without a loop stalls are not judged, and the report says why`(
    observer: String
  ) async throws {
    try await Self.need(observer)
    try await Lane.shared {
      let run = try await Watched(
        "batch_job", options: ["--observer", observer, "--stall-threshold", "100ms"])
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      #expect(summary.stalls.isEmpty)
      let loop = try #require(summary.loops.first)
      #expect(loop.homes.isEmpty)
      let why = try #require(loop.verdictless)
      #expect(why.contains("no event loop"))
      #expect(why.contains("nanosleep"), "where it did wait: \(why)")
      #expect(run.finished.error.contains("stalls were not judged"))
    }
  }

  @Test(arguments: ["join", "suspend"], observers)
  func `where the main thread only waits, the loop of another thread is watched`(
    parking: String, observer: String
  ) async throws {
    try await Self.need(observer)
    try await Lane.shared {
      let run = try await Watched(
        "worker_loop", [parking, "4600"],
        options: ["--observer", observer, "--stall-threshold", "100ms"])
      #expect(run.finished.status == .code(0))
      let summary = try run.summary
      StallJudge(named: observer).judge(summary, StallTruth(run.folder["truth"]))
      #expect(summary.stalls.count == 2)
      #expect(summary.stalls.allSatisfy { $0.thread == "ui-loop" })
      #expect(summary.loops.map(\.name) == ["worker_loop", "ui-loop"])
      let notices = summary.warnings.filter { $0.code == "loops-elsewhere" }
      #expect(notices.count == 1)
      #expect(notices.first?.message.contains("ui-loop") == true)
      #expect(!summary.warnings.contains { $0.code == "other-loops" || $0.code == "loop-moves" })
    }
  }

  @Test(arguments: ["main", "loops"], observers)
  func `a loop that is handed from thread to thread is followed`(
    selection: String, observer: String
  ) async throws {
    try await Self.need(observer)
    // Handing over goes through the scheduler, which a busy machine makes slow.
    try await Lane.alone {
      let run = try await Watched(
        "handed_loop",
        options: ["--observer", observer, "--stall-threshold", "100ms", "--watch", selection])
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      var judge = StallJudge(named: observer)
      judge.certainty = "probable"
      judge.judge(summary, truth)
      #expect(summary.stalls.count == 3)
      #expect(summary.stalls.map(\.tid) == truth.all("burst").map(\.tid))
      #expect(Set(summary.stalls.map(\.tid)).count == 3)
      #expect(summary.loops.count == 3)
      for loop in summary.loops {
        #expect(
          Set(loop.homes.map(\.syscall)).isSubset(of: ["epoll_wait", "epoll_pwait", "futex"]))
      }
      let notices = summary.warnings.filter { $0.code == "loop-moves" }
      #expect(notices.count == 1)
      #expect(notices.first?.message.contains("handed_loop (\(summary.target.pid))") == true)
    }
  }

  @Test(arguments: observers)
  func `the jobs of a pool are no stalls while main's loop turns`(observer: String) async throws {
    try await Self.need(observer)
    // Two workers and main.
    try await Lane.several(2) {
      let run = try await Watched(
        "worker_pool", options: ["--observer", observer, "--stall-threshold", "100ms"])
      let summary = try run.summary
      StallJudge(named: observer).judge(summary, StallTruth(run.folder["truth"]))
      #expect(summary.loops.map(\.tid) == [summary.target.pid])
      #expect(
        !summary.warnings.contains {
          ["other-loops", "loop-moves", "loops-elsewhere"].contains($0.code)
        })
    }
  }

  @Test func `workers are watched when all loops are asked for`() async throws {
    try await Lane.several(2) {
      let run = try await Watched(
        "worker_pool", ["150"],
        options: ["--observer", "proc", "--stall-threshold", "100ms", "--watch", "loops"])
      let summary = try run.summary
      #expect(summary.loops.first?.tid == summary.target.pid)
      let jobs = summary.stalls.filter { $0.thread == "worker" }
      #expect(!jobs.isEmpty)
      #expect(jobs.allSatisfy { $0.duration >= .milliseconds(100) })
    }
  }

  @Test(arguments: observers)
  func `a thread named by a pattern is watched`(observer: String) async throws {
    try await Self.need(observer)
    try await Lane.shared {
      // In a launched program, named threads are looked for once a second.
      let run = try await Watched(
        "worker_loop", ["join", "2200"],
        options: ["--observer", observer, "--stall-threshold", "100ms", "--watch-thread", "ui-*"])
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      StallJudge(named: observer).judge(summary, truth)
      #expect(summary.stalls.count == 2)
      let tid = try #require(truth.all("loop").first?.tid)
      #expect(summary.stalls.allSatisfy { $0.tid == tid && $0.thread == "ui-loop" })
      #expect(summary.loops.map(\.tid) == [tid])
      #expect(!summary.warnings.contains { $0.code == "other-loops" })
    }
  }

  @Test func `a thread named by its number is watched`() async throws {
    try await Lane.shared {
      let target = try await Target("worker_loop", ["suspend", "2600"], ready: "loop")
      let tid = try #require(StallTruth(target.folder["truth"]).all("loop").first?.tid)
      async let ended = target.running.finish()
      let (_, summary) = try await target.attach([
        "--stall-threshold", "100ms", "--observer", "proc", "--watch-thread", "\(tid)",
      ])
      _ = try await ended
      StallJudge(.proc).judge(summary, StallTruth(target.folder["truth"]))
      #expect(summary.stalls.count == 2)
      #expect(summary.loops.map(\.tid) == [tid])
    }
  }

  @Test(arguments: ["join", "suspend"], observers)
  func `every loop is found and watched when asked for`(
    parking: String, observer: String
  ) async throws {
    try await Self.need(observer)
    try await Lane.shared {
      let run = try await Watched(
        "worker_loop", [parking, "4600"],
        options: ["--observer", observer, "--stall-threshold", "100ms", "--watch", "loops"])
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      StallJudge(named: observer).judge(summary, truth)
      #expect(summary.stalls.count == 2)
      #expect(summary.loops.map(\.name) == ["ui-loop"])
    }
  }

  @Test func `nothing is watched without stalls`() async throws {
    try await Lane.shared {
      let run = try await Watched("epoll_sleep", options: ["--no-stalls"])
      let summary = try run.summary
      #expect(summary.loops.isEmpty && summary.stalls.isEmpty)
    }
  }
}
