// A summary with every value there, and one where nothing could be measured.

@testable import ProbeCore

enum SampleSummary {
  static let frame = Summary.Frame(
    function: "work(_:)", module: "/opt/app", offset: "0x1f", file: "a.swift", line: 7,
    inlined: false, found: .cfi)
  static let stack = Summary.Stack(
    at: .milliseconds(125), weight: .milliseconds(50), stopTime: .microseconds(80),
    truncated: .noUnwindInfo, frames: [frame])
  static let blocker = Summary.Blocker(
    kind: "thread", tid: 43, name: "holder", path: "/x", peer: "127.0.0.1:1", command: "sh",
    chain: ["main waits for holder"], stack: [frame],
    holders: [.init(tid: 43, name: "holder", doing: "running", stack: [frame])])

  static var parts: Summary.CauseParts {
    var parts = Summary.CauseParts()
    parts.lock = .milliseconds(300)
    return parts
  }

  static let stall = Summary.Stall(
    id: 1, tid: 42, thread: "main", kind: "stall", level: "stall", start: .seconds(1),
    duration: .milliseconds(300), error: .milliseconds(10), observer: "proc",
    certainty: "probable", cause: .init(sentence: "waited for a lock", parts: parts),
    blame: "mixed", environmentPercent: 25, blocker: blocker, signature: "work(_:)", group: 0,
    ignored: false, stacks: [stack])

  static let alarm = Summary.ThreadAlarm(
    reason: "limit", limit: 64, at: .seconds(1), endedAt: .seconds(2), threads: 70, peak: 81,
    grownFrom: 1, grownWithin: .milliseconds(100), sentence: "81 threads", looked: 64, blocked: 63,
    parked: [.init(count: 63, call: "futex", truncated: .copyLimit, frames: [frame])],
    runDelayBefore: 0.5, runDelayDuring: 12)

  static let full = Summary(
    perfwatch: .init(version: "0.1.0", commit: "abc"),
    target: .init(
      pid: 42, executable: "/opt/app", command: ["app", "--x"], launched: true, startTicks: 9),
    host: .init(
      name: "host", kernel: "6.18", architecture: "x86_64", cores: 2, container: false),
    run: .init(
      startedAt: "2026-11-30T13:00:00.123Z", startMonotonic: 5, duration: .seconds(2),
      complete: true, endedBy: .exit),
    exit: .init(code: 0, signal: 9, perfwatch: 0),
    metrics: Metrics([
      ("cpu.average", .init(value: 12.5, unit: "%")),
      ("stall.longest", .init(value: nil, unit: "ns")),
    ]),
    cpu: .init(
      user: .seconds(1), system: .zero, total: .seconds(1), averagePercent: 50, peakPercent: 180.5,
      byThread: [
        .init(
          tid: 42, name: "main", cpu: .seconds(1), averagePercent: 50, runDelay: .zero,
          voluntarySwitches: 1, involuntarySwitches: 2, startedAt: .zero, endedAt: .seconds(2))
      ]),
    memory: .init(
      footprintPeak: 10, footprintAtEnd: 9, footprintSlopePerSecond: -0.5, residentPeak: 20,
      proportional: 8,
      parts: .init(anonymous: 1, shared: 2, swap: 3, pageTables: 4, huge: 0, gpu: 0)),
    threads: .init(peak: 3, atEnd: 2, created: 4, alarms: [alarm]),
    descriptors: .init(peak: 40, atEnd: 3),
    tree: .init(
      cpu: .seconds(3), averagePercent: 150, peakPercent: 200, footprintPeak: 30, processesPeak: 2,
      processesSeen: 5, observer: "perf",
      processes: [
        .init(
          pid: 50, parent: 42, name: "sh", cpu: .seconds(1), footprintPeak: 5, startedAt: .zero,
          endedAt: .seconds(1))
      ]),
    loops: [
      .init(
        tid: 42, name: "main", observer: "proc",
        homes: [
          .init(
            syscall: "epoll_wait", stackPointer: "0x7ff0", programCounter: "0x55", visits: 9,
            symbol: "epoll_wait")
        ],
        turns: 100, longTurns: 2, blockingTime: .milliseconds(250),
        longestTurn: .milliseconds(300), startup: .milliseconds(30), verdictless: "too short",
        undecided: .milliseconds(4), histogram: [.init(below: .milliseconds(1), count: 98)])
    ],
    waits: [
      .init(
        tid: 42, name: "main", length: .seconds(2), blocked: .seconds(1), unseen: .milliseconds(1),
        rows: [
          .init(
            call: "read", kind: "pipe", object: "pipe from sh (pid 50)", time: .milliseconds(999),
            error: .milliseconds(3), seen: 7, longest: .milliseconds(12),
            stacks: [.init(time: .milliseconds(900), truncated: .copyLimit, frames: [frame])])
        ])
    ],
    stalls: [stall], stallsOmitted: 0,
    stallTotals: .init(count: 1, total: .milliseconds(300), longest: .milliseconds(300)),
    groups: [
      .init(
        signature: "work(_:)", title: "work", count: 1, total: .milliseconds(300),
        longest: .milliseconds(300), level: "stall", blame: "yours", stallIds: [1],
        heaviestStack: stack, first: .milliseconds(700), last: .milliseconds(700),
        parts: stall.cause.parts, ignored: false)
    ],
    series: .init(
      period: .milliseconds(100), startMonotonic: 5, cpuPercent: [1, nil, 2.5],
      footprint: [1, nil], threads: [1, nil],
      perThreadCPU: [.init(tid: 42, name: "main", values: [nil, 99.5])]),
    observer: .init(
      cpu: .milliseconds(3), cpuPercent: 0.2, residentPeak: 8 << 20, probes: 20, lateProbes: 1,
      stops: 1, stopTotal: .microseconds(80), stopLongest: .microseconds(80),
      capturesWithoutStop: 0, droppedEvents: 0, capabilities: Capabilities(["perf": "yes"])),
    warnings: [.init(code: "late-ticks", message: "came late", advice: "leave a core free")],
    verdict: .init(
      result: .fail,
      rules: [
        .init(
          text: "stall.longest < 250ms", level: "error", result: .fail, actual: 300, limit: 250,
          unit: "ms", why: "measured by polling", name: "ui", metric: "stall.longest", margin: -50,
          error: 10, stall: 1)
      ]),
    repeats: .init(
      planned: 2, warmup: 1, judge: "median", shown: 1, endedBy: .failure,
      statistics: [
        .init(
          metric: "wall", unit: "s", median: 1, deviation: 0, min: 1, max: 1, values: [1])
      ], runs: [empty]))

  static let empty = Summary(
    perfwatch: .init(version: "0.1.0", commit: nil),
    target: .init(pid: 1, executable: nil, command: [], launched: false, startTicks: nil),
    host: .init(name: "", kernel: "", architecture: "", cores: 1, container: false),
    run: .init(
      startedAt: "2026-11-30T13:00:00Z", startMonotonic: 0, duration: .zero, complete: false,
      endedBy: nil),
    exit: .init(code: nil, signal: nil, perfwatch: nil), metrics: Metrics(),
    cpu: .init(
      user: nil, system: nil, total: nil, averagePercent: nil, peakPercent: nil, byThread: []),
    memory: .init(
      footprintPeak: nil, footprintAtEnd: nil, footprintSlopePerSecond: nil, residentPeak: nil,
      proportional: nil, parts: nil),
    threads: .init(peak: nil, atEnd: nil, created: nil, alarms: []),
    descriptors: .init(peak: nil, atEnd: nil), tree: nil, loops: [],
    waits: [], stalls: [], stallsOmitted: 0,
    stallTotals: .init(count: nil, total: nil, longest: nil), groups: [],
    series: .init(
      period: .zero, startMonotonic: 0, cpuPercent: [], footprint: [], threads: [],
      perThreadCPU: []),
    observer: .init(
      cpu: nil, cpuPercent: nil, residentPeak: nil, probes: 0, lateProbes: 0, stops: 0,
      stopTotal: .zero, stopLongest: .zero, capturesWithoutStop: 0, droppedEvents: 0,
      capabilities: Capabilities()),
    warnings: [], verdict: .init(result: .none, rules: []))

  /// All there, but each optional below the top level nil.
  static var sparse: Summary {
    var summary = full
    summary.cpu.byThread = [
      .init(
        tid: nil, name: "(exited)", cpu: .zero, averagePercent: nil, runDelay: nil,
        voluntarySwitches: nil, involuntarySwitches: nil, startedAt: nil, endedAt: nil)
    ]
    summary.memory.parts?.gpu = nil
    summary.tree = .init(
      cpu: nil, averagePercent: nil, peakPercent: nil, footprintPeak: nil, processesPeak: 0,
      processesSeen: 0, observer: "proc",
      processes: [
        .init(
          pid: 50, parent: 42, name: "", cpu: nil, footprintPeak: nil, startedAt: .zero,
          endedAt: nil)
      ])
    summary.loops = [
      .init(
        tid: 42, name: "", observer: "agent",
        homes: [
          .init(
            syscall: "futex", stackPointer: "0x0", programCounter: "0x0", visits: 0, symbol: nil)
        ],
        turns: nil, longTurns: nil, blockingTime: nil, longestTurn: nil, startup: nil,
        verdictless: nil)
    ]
    let bareFrame = Summary.Frame(
      function: nil, module: nil, offset: nil, file: nil, line: nil, inlined: true,
      found: .register)
    let bareStack = Summary.Stack(
      at: .zero, weight: .zero, stopTime: .zero, truncated: nil, frames: [bareFrame])
    var second = stall
    second.blame = nil
    second.blocker = .init(
      kind: "deadlock", tid: nil, name: nil, path: nil, peer: nil, command: nil, chain: [],
      stack: [bareFrame], holders: [])
    second.environmentPercent = nil
    second.signature = nil
    second.group = nil
    second.stacks = [bareStack]
    var third = second
    third.blocker = nil
    summary.stalls = [second, third]
    summary.groups[0].blame = nil
    summary.groups[0].heaviestStack = nil
    summary.verdict.rules[0].actual = nil
    summary.verdict.rules[0].why = nil
    summary.verdict.rules[0].name = nil
    summary.verdict.rules[0].metric = nil
    summary.verdict.rules[0].margin = nil
    summary.verdict.rules[0].error = nil
    summary.verdict.rules[0].stall = nil
    summary.repeats?.endedBy = nil
    summary.repeats?.statistics[0].values = [nil]
    return summary
  }
}
