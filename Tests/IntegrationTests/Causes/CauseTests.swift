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
    /// What the signature begins with.
    var signature = ""
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
      // Its device is slow, and whoever asks for the file's data waits as long: we must not.
      .init(
        name: "slow_fsync", words: ["in fsync of /tmp/perfwatch-slow.", "/app.db"], kind: "file"),
    ]
  }

  static func options(_ observer: String) -> [String] {
    ["--observer", observer, "--stall-threshold", "100ms"]
  }

  /// Runs the target, and holds what the recording gives against what the run gave.
  private func check(_ test: Case, _ observer: String) async throws {
    try await LoopChoiceTests.need(observer)
    guard Scratch.exists(try await Perfwatch.target(test.name)) else {
      try Test.cancel("the compiler for \(test.name) is not installed")
    }
    try await Lane.shared {
      let folder = try Scratch()
      let record = ["--record", folder["record"]]
      let run = try await Watched(
        test.name, test.arguments, options: Self.options(observer) + record)
      if run.finished.status == .code(77) { try Test.cancel("\(test.name) cannot be had here") }
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
    Self.expectSum(stall)
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
    #expect(stall.signature?.hasPrefix(test.signature) == true, "\(stall.signature ?? "none")")
  }

  /// The parts add up to the length.
  static func expectSum(_ stall: Summary.Stall) {
    let (sum, length) = (stall.cause.parts.sum, stall.duration)
    #expect(
      abs((sum - length).inSeconds) <= 0.02 * length.inSeconds, "\(sum) of \(length): \(stall)")
  }

  @Test(arguments: Case.locks, LoopChoiceTests.observers)
  func `a lock names its holder, what that one does, and the chain to its end`(
    test: Case, observer: String
  ) async throws {
    try await check(test, observer)
  }

  @Test(arguments: Case.kinds, LoopChoiceTests.observers)
  func `each kind of lock tells its owner where that is recorded, and says where it is not`(
    test: Case, observer: String
  ) async throws {
    try await check(test, observer)
  }

  @Test(arguments: Case.peers, LoopChoiceTests.observers)
  func `pipes, sockets, children and locked files name who is at the other end`(
    test: Case, observer: String
  ) async throws {
    try await check(test, observer)
  }

  @Test func `the same stall has one signature in run after run and group after group`()
    async throws
  {
    try await Lane.shared {
      var signatures: Set<String> = []
      for _ in 0..<3 {
        let run = try await Watched("mutex_held", options: Self.options("proc"))
        let summary = try run.summary
        let own = summary.stalls.filter { $0.signature?.hasPrefix("update_cache-") == true }
        #expect(own.count == 2)
        #expect(summary.groups.first?.count == own.count)
        signatures.formUnion(own.compactMap(\.signature))
      }
      #expect(signatures.count == 1)
    }
  }

  @Test(arguments: LoopChoiceTests.observers)
  func `built elsewhere and with lines moved a stall keeps its signature, ten times over`(
    observer: String
  ) async throws {
    try await LoopChoiceTests.need(observer)
    try await Lane.shared {
      let sources = Perfwatch.tests + "/Targets/src"
      let source = Scratch.text(sources + "/mutex_held.c")
      var signatures: Set<String> = []
      for lines in ["", "/* moved */\n#define LATER 1\n"] {
        let folder = try Scratch()
        try folder.write("mutex_held.c", Array((lines + source).utf8))
        let built = try await Command(
          ["/usr/bin/gcc", "-O2", "-g", "-std=gnu11", "-pthread", "-I", sources]
            + ["-o", folder["mutex_held"], folder["mutex_held.c"]]
        ).run(in: folder)
        try #require(built.status == .code(0), "\(built.error)")
        for _ in 0..<5 {
          let run = try await Watched(folder["mutex_held"], options: Self.options(observer))
          let summary = try run.summary
          let long = summary.stalls.filter { $0.cause.parts.lock.inMilliseconds > 150 }
          #expect(long.count == 2)
          signatures.formUnion(long.map { $0.signature ?? "none" })
        }
      }
      #expect(signatures.count == 1, "\(signatures)")
      #expect(signatures.first?.hasPrefix("update_cache-") == true)
    }
  }

  @Test func `ignored stalls are shown but not counted, from the command line and from a file`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("list", Array("# known\nupdate_cache-*  # slow\n".utf8))
      let run = try await Watched(
        "mutex_held", options: Self.options("proc") + ["--ignore-stalls-file", folder["list"]])
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
