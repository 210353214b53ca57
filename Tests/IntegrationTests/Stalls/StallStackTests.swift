// Stalls come with the stacks that explain them, and the target feels nothing but a moment's pause.

@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable internal import ProbeCore

@Suite struct StallStackTests {
  /// A target, the function that it stalls in, and how it comes there.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var arguments: [String] = []
    /// For each stalling function that the target tells of: what must be on the stack, innermost first.
    var chains: [String: [String]]
    var testDescription: String { name }

    static let all: [Case] = [
      .init(name: "poll_burn", chains: ["busy_parse": ["busy_parse", "handle_request", "main"]]),
      .init(name: "epoll_sleep", chains: ["load_config": ["load_config", "on_timer", "main"]]),
      .init(
        name: "exit_in_stall", chains: ["final_save": ["final_save", "main"]]),
      .init(name: "mutex_held", chains: ["update_cache": ["update_cache", "on_tick", "main"]]),
    ]
  }

  private static let options = ["--observer", "proc", "--stall-threshold", "100ms"]

  private static func holds(_ stack: Summary.Stack, _ chain: [String]) -> Bool {
    var rest = chain[...]
    for frame in stack.frames where frame.function == rest.first { rest = rest.dropFirst() }
    return rest.isEmpty
  }

  private static func expectWeights(_ stall: Summary.Stall) {
    #expect(stall.stacks.reduce(Nanoseconds.zero) { $0 + $1.weight } == stall.duration)
    #expect(stall.stacks.map(\.at) == stall.stacks.map(\.at).sorted())
    #expect(stall.stacks.allSatisfy { $0.at >= .zero && $0.at <= stall.duration })
    #expect(stall.stacks.count <= 2 * CaptureSchedule.limit)
  }

  @Test(arguments: Case.all)
  func `each stall names the function that the target stalled in`(test: Case) async throws {
    try await Lane.shared {
      let run = try await Watched(test.name, test.arguments, options: Self.options)
      let summary = try run.summary
      let truth = StallTruth(run.folder["truth"])
      var judged = 0
      for gap in truth.gaps where gap.milliseconds >= 150 {
        guard let chain = test.chains[gap.function] else { continue }
        let found = summary.stalls.map { FoundStall($0, summary) }.first { $0.isMostly(gap) }
        let stall = try #require(found?.stall, "\(gap.function)")
        Self.expectWeights(stall)
        let names = stall.stacks.map { $0.frames.prefix(6).map { $0.function ?? "?" } }
        #expect(stall.stacks.contains { Self.holds($0, chain) }, "\(gap.function): \(names)")
        judged += 1
      }
      #expect(judged > 0)
    }
  }

  @Test func `frames of the target itself are its own and have lines, those of the system are not`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched("poll_burn", options: Self.options)
      let stack = try #require(try run.summary.stalls.first?.stacks.first)
      let own = try #require(stack.frames.first { $0.function == "busy_parse" })
      #expect(own.inApp && own.file?.hasSuffix("poll_burn.c") == true && own.line ?? 0 > 0)
      let system = try #require(stack.frames.first { $0.module?.contains("libc.so") == true })
      #expect(!system.inApp)
      #expect(stack.truncated == nil)
    }
  }

  @Test func `without stacks nobody is stopped and nothing is named`() async throws {
    try await Lane.shared {
      let run = try await Watched("poll_burn", options: Self.options + ["--no-stacks"])
      let summary = try run.summary
      #expect(!summary.stalls.isEmpty && summary.stalls.allSatisfy(\.stacks.isEmpty))
      #expect(summary.observer.stops == 0 && summary.observer.capturesWithoutStop == 0)
    }
  }

  @Test func `a blocked thread is captured without a stop`() async throws {
    try await Lane.shared {
      let run = try await Watched("epoll_sleep", options: Self.options)
      let summary = try run.summary
      let waits = summary.stalls.flatMap(\.stacks).filter {
        $0.frames.contains { $0.function?.contains("nanosleep") == true }
      }
      #expect(!waits.isEmpty)
      #expect(summary.observer.capturesWithoutStop > 0)
    }
  }

  @Test func `a program that lists interrupted calls sees none with default options`() async throws
  {
    try await Lane.shared {
      let run = try await Watched("eintr_witness", options: ["--stall-threshold", "100ms"])
      let summary = try run.summary
      #expect(summary.stalls.contains { !$0.stacks.isEmpty })
      for line in Scratch.text(run.folder["truth"]).split(separator: "\n")
      where line.contains("\"ev\":\"eintr\"") {
        let counts = line.matches(of: /"([a-z_0-9]+)":([0-9]+)[,}]/)
          .filter { !["pid", "t"].contains($0.output.1) }
        #expect(counts.count > 3)
        for count in counts { #expect(count.output.2 == "0", "\(line)") }
      }
    }
  }

  @Test func `a stop of ours is no stop of the target's: no shell hears of it, no cause names it`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched("poll_burn", options: Self.options)
      let summary = try run.summary
      #expect(summary.observer.stops > 0)
      #expect(run.finished.status == .code(7))
      for stall in summary.stalls { #expect(stall.cause.parts.stopped < .milliseconds(20)) }
      #expect(!run.finished.error.contains("stopped  "))
    }
  }

  @Test func `an attached target's stalls have stacks, too`() async throws {
    try await Lane.shared {
      let target = try await Target("long_stall", ["2500", "300"])
      let (finished, summary) = try await target.attach(Self.options)
      #expect(finished.status == .code(0), "\(finished.error)")
      let stacks = summary.stalls.flatMap(\.stacks)
      let seen = summary.stalls.map { stall in
        (stall.start, stall.duration, stall.stacks.map { $0.frames.prefix(4).map(\.function) })
      }
      #expect(stacks.contains { Self.holds($0, ["long_work", "main"]) }, "\(seen)")
      summary.stalls.forEach(Self.expectWeights)
      try await target.end()
    }
  }

  @Test func `a recording gives the same stacks again, without the target`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let run = try await Watched(
        "epoll_sleep", options: Self.options + ["--record", folder["record"]])
      #expect(try run.summary.stalls.contains { !$0.stacks.isEmpty })
      let report = try await Perfwatch.command(["report", "--format", "json", folder["record"]])
        .run(in: folder)
      #expect(report.text == Scratch.text(run.folder["summary.json"]))
    }
  }

  @Test func `perfwatch killed in the middle of stalls leaves nobody stopped or traced`()
    async throws
  {
    try await Lane.several(2, within: .seconds(120)) { isInTime in
      let target = try await Target("long_stall", ["100", "30000"], ready: "stalling")
      for round in 0..<30 {
        try #require(isInTime(), "in round \(round)")
        let running = try Perfwatch.command(
          ["attach", "--quiet", "--stall-threshold", "10ms", "\(target.pid)"]
        ).start(in: target.folder)
        try await Task.sleep(for: .milliseconds(.random(in: 5...150)))
        running.signal(SIGKILL)
        _ = try await running.finish()
        #expect(Child.isFree("\(target.pid)"), "after round \(round)")
      }
      try await target.end()
    }
  }

  @Test func `a target that is killed in a stall is reported with its last stacks`() async throws {
    try await Lane.shared {
      let run = try await Watched("stuck_killed", options: Self.options)
      let stall = try #require(try run.summary.stalls.last)
      #expect(stall.kind == "exit" && !stall.stacks.isEmpty, "\(stall.kind)")
    }
  }
}
