// Every target that stalls, seen by each observer, held against what it said of itself in that run.

internal import Testing

@testable internal import ProbeCore

/// A target and what is special about it.
struct StallCase: Sendable, CustomTestStringConvertible {
  var name: String
  var arguments: [String] = []
  var status = Ending.code(0)
  /// From /proc it cannot be told from a loop that goes on.
  var isUndecidableByProc = false
  /// Homes are waits in one of these calls.
  var homes: Set<String>
  /// Programs that it amounts to: more than one where it never rests.
  var places = 1

  var testDescription: String { ([name] + arguments).joined(separator: " ") }

  static let polls: Set<String> = ["poll", "ppoll"]
  static let epolls: Set<String> = ["epoll_wait", "epoll_pwait"]
  static let sleeps: Set<String> = ["clock_nanosleep", "nanosleep"]

  static let all: [StallCase] = [
    .init(name: "poll_burn", status: .code(7), homes: polls),
    .init(name: "epoll_sleep", homes: epolls),
    .init(name: "select_slowpipe", homes: ["select", "pselect6"]),
    .init(name: "child_wait", homes: polls),
    .init(name: "nanosleep_loop", homes: sleeps),
    .init(name: "mutex_held", homes: epolls),
    .init(name: "short_stalls", homes: epolls),
    .init(name: "startup_stall", homes: polls),
    .init(name: "exit_in_stall", status: .code(3), homes: polls),
    .init(name: "busy_poll", isUndecidableByProc: true, homes: polls, places: 2),
    .init(name: "sigstop_pause", homes: polls),
    .init(name: "cpu_duty", homes: polls, places: 3),
    .init(name: "mixed_stack", homes: polls),
    .init(name: "fault_storm", homes: polls),
    .init(name: "coro_stack", homes: polls),
    .init(name: "futex_loop", homes: ["futex"]),
    .init(name: "read_loop", homes: ["read"]),
    .init(name: "sigwait_loop", homes: ["rt_sigtimedwait"]),
    .init(name: "accept_loop", homes: ["accept", "accept4"]),
    .init(name: "timedlock_stall", homes: polls),
    .init(name: "gc_stall", homes: polls),
    .init(name: "saturated_epoll", isUndecidableByProc: true, homes: epolls, places: 2),
    .init(name: "modal_loop", homes: epolls),
    .init(name: "moving_home", homes: sleeps),
    .init(name: "long_stall", arguments: ["300", "700"], homes: polls),
  ]
}

@Suite struct StallTargetTests {
  static let givenUp = NoticeCode.tracingGivenUp.rawValue

  static func watch(_ test: StallCase, _ observer: LoopObserver) async throws -> (
    run: Watched, summary: Summary, truth: StallTruth
  ) {
    let run = try await Watched(
      test.name, test.arguments,
      options: ["--observer", observer.rawValue, "--stall-threshold", "100ms"])
    #expect(run.finished.status == test.status, "\(run.finished.error)")
    return (run, try run.summary, StallTruth(run.folder["truth"]))
  }

  @Test(arguments: StallCase.all)
  func `every stall and nothing else is found by proc`(test: StallCase) async throws {
    try await Lane.several(test.places) {
      let (_, summary, truth) = try await Self.watch(test, .proc)
      var judge = StallJudge(.proc)
      judge.isUndecidable = test.isUndecidableByProc
      judge.judge(summary, truth)
      let loop = try #require(summary.loops.first)
      #expect(loop.tid == summary.target.pid)
      #expect(loop.observer == "proc")
      #expect(loop.turns == nil)
      if loop.verdictless == nil {
        let homes = Set(loop.homes.map(\.syscall))
        #expect(!homes.isEmpty && homes.isSubset(of: test.homes))
      } else {
        #expect(test.isUndecidableByProc)
      }
    }
  }

  @Test(.kernelObserver, arguments: StallCase.all)
  func `every stall and nothing else is found by the kernel, to the millisecond`(
    test: StallCase
  ) async throws {
    try await Lane.several(test.places) {
      let (_, summary, truth) = try await Self.watch(test, .kernel)
      let loop = try #require(summary.loops.first)
      if test.isUndecidableByProc, summary.warnings.contains(where: { $0.code == Self.givenUp }) {
        // It waited too often for us to keep up; from then on it is judged by /proc.
        #expect(loop.observer == "proc")
        var judge = StallJudge(.proc)
        judge.isUndecidable = true
        judge.isMixed = true
        return judge.judge(summary, truth)
      }
      StallJudge(.kernel).judge(summary, truth)
      #expect(loop.observer == "kernel")
      #expect(loop.verdictless == nil)
      let homes = Set(loop.homes.map(\.syscall))
      #expect(!homes.isEmpty && homes.isSubset(of: test.homes))
      // Every turn is counted: as many as the target made, but for the first and the last.
      let turns = try #require(loop.turns)
      let made = truth.lines.count { $0.ev == "gap" && $0.kind != "startup" && $0.kind != "exit" }
      #expect(turns >= made - 1)
      #expect(loop.histogram?.reduce(0) { $0 + $1.count } == turns)
      // The histogram, the long turns and the longest agree with the list of stalls.
      let stalls = summary.stalls.filter { $0.kind == "stall" }
      #expect(try #require(loop.longTurns) >= stalls.count)
    }
  }

  /// A frame loop whose slow frames of 90 ms are under the threshold. From /proc, frames that find
  /// their timer expired (because others had the CPU) never sleep and look like one long turn.
  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a busy frame loop has no stall`(observer: LoopObserver) async throws {
    try await LoopChoiceTests.need(observer.rawValue)
    try await Lane.alone {
      let test = StallCase(name: "fps60", homes: ["read"])
      let (_, summary, truth) = try await Self.watch(test, observer)
      let delay = try #require(summary.cpu.byThread.first?.runDelay).inSeconds
      let isStarved = observer == .proc && delay > 0.1 * summary.run.duration.inSeconds
      withKnownIssue("the machine is too busy: \(delay) s without a CPU", isIntermittent: true) {
        StallJudge(observer).judge(summary, truth)
      } when: {
        isStarved
      }
      #expect(Set(summary.loops[0].homes.map(\.syscall)) == ["read"])
    }
  }

  @Test func `a shorter threshold finds the shorter stalls, too`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "short_stalls", options: ["--observer", "proc", "--stall-threshold", "50ms"])
      let truth = StallTruth(run.folder["truth"])
      #expect(truth.gaps.count { $0.milliseconds >= 110 } >= 5)
      StallJudge(.proc, threshold: 50).judge(try run.summary, truth)
    }
  }

  @Test(.kernelObserver)
  func `the kernel finds every stall of 30 ms at a threshold of 25 ms`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "short_stalls", options: ["--observer", "kernel", "--stall-threshold", "25ms"])
      let truth = StallTruth(run.folder["truth"])
      #expect(truth.gaps.count { $0.function == "stall_030" && $0.milliseconds >= 27 } == 5)
      StallJudge(.kernel, threshold: 25).judge(try run.summary, truth)
    }
  }
}
