// Why a thread stalled and who held it, told of programs that know it themselves.

internal import Testing

@testable internal import ProbeCore

@Suite struct CauseTests {
  /// A target and what must be said of each of its stalls.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var arguments: [String] = []
    var stalls = 2
    /// All of these stand in the sentence.
    var words: [String]
    /// The blocker's kind; nil for none.
    var kind: String?
    /// What the blocker's name is.
    var holder: String?
    /// On the first holder's stack.
    var function: String?
    /// Steps of the chain.
    var steps = 0
    var testDescription: String { ([name] + arguments).joined(separator: " ") }

    static let locks: [Case] = [
      .init(
        name: "mutex_held", words: ["a mutex held by thread holder", "in slow_under_lock"],
        kind: "thread", holder: "holder", function: "slow_under_lock", steps: 2),
      .init(
        name: "lock_chain",
        words: ["a mutex held by thread first", "held by thread second", "sleeping in slow_root"],
        kind: "thread", holder: "first", function: "middle", steps: 3),
      .init(
        name: "deadlock", stalls: 1, words: ["in a deadlock", "thread worker"], kind: "deadlock",
        holder: "worker", function: "take_other", steps: 2),
      .init(
        name: "std_mutex", words: ["a mutex held by thread holder", "in app::hold_it(int)"],
        kind: "thread", holder: "holder", function: "app::hold_it(int)", steps: 2),
    ]

    static let kinds: [Case] =
      [
        ("pi", "a priority-inheriting mutex"), ("recursive", "a mutex"), ("robust", "a mutex"),
        ("reader", "a read-write lock"), ("writer", "a read-write lock"),
      ].map { kind, lock in
        Case(
          name: "lock_kinds", arguments: [kind],
          words: ["waiting for \(lock) held by thread holder", "in hold_it"], kind: "thread",
          holder: "holder", function: "hold_it", steps: 2)
      } + [
        Case(
          name: "lock_kinds", arguments: ["shared"],
          words: ["a read-write lock; its owner is not recorded"]),
        Case(name: "lock_kinds", arguments: ["sem"], words: ["waiting on a semaphore"]),
        Case(name: "lock_kinds", arguments: ["cond"], words: ["waiting on a condition variable"]),
        Case(
          name: "lock_kinds", arguments: ["join"], words: ["waiting for thread holder", "to end"],
          kind: "thread", holder: "holder", function: "hold_it", steps: 2),
      ]

    static let peers: [Case] = [
      .init(
        name: "select_slowpipe", stalls: 3, words: ["in read of a pipe", "select_slowpipe (pid "],
        kind: "pipe", holder: "select_slowpipe"),
      .init(
        name: "child_wait", words: ["waiting for child process sleep (pid "], kind: "child",
        holder: "sleep"),
      .init(
        name: "wait_peers", arguments: ["connect"], words: ["in connect to 127.0.0.1:"],
        kind: "socket"),
      .init(
        name: "wait_peers", arguments: ["unix"], words: ["in read from a socket of answerer (pid "],
        kind: "socket", holder: "answerer"),
      .init(
        name: "wait_peers", arguments: ["tcp"],
        words: ["in read from 127.0.0.1:", "(answerer (pid "], kind: "socket", holder: "answerer"),
      .init(
        name: "wait_peers", arguments: ["flock"],
        words: ["waiting for a lock on /tmp/perfwatch-peers.", "held by answerer (pid "],
        kind: "file", holder: "answerer"),
      .init(
        name: "wait_peers", arguments: ["fifo"], words: ["in openat of /tmp/perfwatch-peers."],
        kind: "file"),
    ]
  }

  private static let options = ["--observer", "proc", "--stall-threshold", "100ms"]

  /// Runs the target, and holds what the recording gives against what the run gave.
  private func check(_ test: Case) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let record = ["--record", folder["record"]]
      let run = try await Watched(test.name, test.arguments, options: Self.options + record)
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      var judged = 0
      for gap in truth.gaps where !gap.function.isEmpty && gap.milliseconds >= 150 {
        let found = summary.stalls.map { FoundStall($0, summary) }.first { $0.isMostly(gap) }
        let stall = try #require(found?.stall, "\(gap.function)")
        judged += 1
        expect(stall, test)
      }
      #expect(judged == test.stalls)
      let replayed = run.folder["replayed.json"]
      let report = try await Perfwatch.command(["report", record[1], "--summary", replayed]).run(
        in: run.folder)
      #expect(report.status == .code(0))
      let same = try Watched.summary(replayed)
      #expect(same.stalls == summary.stalls && same.groups == summary.groups)
    }
  }

  private func expect(_ stall: Summary.Stall, _ test: Case) {
    // On a crowded machine another part may be the largest; then nothing else is to be had.
    let parts = stall.cause.parts
    guard parts.runDelay.inSeconds < 0.3 * stall.duration.inSeconds else { return }
    for word in test.words {
      #expect(stall.cause.sentence.contains(word), "\(stall.cause.sentence)")
    }
    #expect(stall.blame == "yours")
    #expect(stall.blocker?.kind == test.kind)
    #expect(stall.blocker?.name == test.holder)
    #expect(stall.blocker?.chain.count ?? 0 == test.steps, "\(stall.blocker?.chain ?? [])")
    if let function = test.function {
      #expect(stall.blocker?.stack.contains { $0.function == function } == true)
      #expect(stall.blocker?.holders.count == test.steps - 1 || test.kind == "deadlock")
    }
    let sum = parts.sum.inMilliseconds
    #expect(abs(sum - stall.duration.inMilliseconds) <= 0.02 * stall.duration.inMilliseconds)
  }

  @Test(arguments: Case.locks)
  func `a lock names its holder, what that one does, and the chain to its end`(test: Case)
    async throws
  {
    try await check(test)
  }

  @Test(arguments: Case.kinds)
  func `each kind of lock tells its owner where that is recorded, and says where it is not`(
    test: Case
  ) async throws {
    try await check(test)
  }

  @Test(arguments: Case.peers)
  func `pipes, sockets, children and locked files name who is at the other end`(test: Case)
    async throws
  {
    try await check(test)
  }

  @Test func `a storm of page faults is called one`() async throws {
    try await Lane.alone {
      let run = try await Watched("fault_storm", options: Self.options)
      let stalls = try run.summary.stalls.filter { stall in
        let parts = stall.cause.parts
        return parts.cpuUser + parts.cpuSystem > parts.runDelay
      }
      for stall in stalls where stall.kind == "stall" {
        #expect(stall.cause.sentence.contains("page faults"), "\(stall.cause.sentence)")
      }
    }
  }

  @Test func `the same stall has one signature in run after run and group after group`()
    async throws
  {
    try await Lane.shared {
      var signatures: Set<String> = []
      for _ in 0..<3 {
        let run = try await Watched("mutex_held", options: Self.options)
        let summary = try run.summary
        let own = summary.stalls.filter { $0.signature?.hasPrefix("update_cache-") == true }
        #expect(own.count == 2)
        #expect(summary.groups.first?.count == own.count)
        signatures.formUnion(own.compactMap(\.signature))
      }
      #expect(signatures.count == 1)
    }
  }

  @Test func `ignored stalls are shown but not counted, from the command line and from a file`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("list", Array("# known\nupdate_cache-*  # slow\n".utf8))
      let run = try await Watched(
        "mutex_held", options: Self.options + ["--ignore-stalls-file", folder["list"]])
      let summary = try run.summary
      #expect(summary.stalls.contains { $0.ignored })
      #expect(
        summary.stallTotals.count == summary.stalls.count { !$0.ignored && $0.kind == "stall" })
      let missing = try await Perfwatch.command(
        ["run", "--ignore-stalls-file", folder["none"], "--", "/bin/true"]
      ).run(in: folder)
      #expect(missing.status == .code(125) && missing.error.contains("No such file"))
    }
  }
}
