// Summaries made by hand, for the tests of everything that reads a summary.

@testable import ProbeCore

enum Samples {
  static let mebibyte: UInt64 = 1 << 20

  /// A launched program of two threads that ended well.
  static var plain: Summary {
    var summary = unmeasured
    summary.target = .init(
      pid: 4711, executable: "/usr/bin/node", command: ["node", "\u{2026}", "--port", "\u{2026}"],
      launched: true, startTicks: 12345)
    summary.run = .init(
      startedAt: "2026-11-02T10:00:00.000Z", startMonotonic: 1_000_000_000,
      duration: .milliseconds(12_400), complete: true, endedBy: .exit)
    summary.exit = .init(code: 0, signal: nil, perfwatch: 0)
    summary.cpu = .init(
      user: .milliseconds(9_800), system: .milliseconds(512), total: .milliseconds(10_312),
      averagePercent: 83.16, peakPercent: 197.2,
      byThread: [
        thread(4711, "node", 9_000, 72.58, delay: 12_100_000, switches: (12_000, 345)),
        thread(4712, "libuv-worker", 1_300, 10.48, delay: 900_000, switches: (1_200, 4)),
        thread(4713, "DelayedTaskSche", 12, 0.0968, delay: 85, switches: (9, 0), ended: 3_200),
        thread(4714, "idle", 0, 0, delay: 0, switches: (1, 0)),
      ])
    summary.memory = .init(
      footprintPeak: 47_290_777, footprintAtEnd: 46_137_344, footprintSlopePerSecond: 12_595.2,
      residentPeak: 63_124_275, proportional: nil,
      parts: .init(
        anonymous: 40 * mebibyte, shared: 3 * mebibyte, swap: 0, pageTables: 2_202_009, huge: 0,
        gpu: nil))
    summary.threads = .init(peak: 12, atEnd: 11, created: 25, alarms: [])
    summary.observer.cpu = .milliseconds(38)
    summary.observer.cpuPercent = 0.306
    summary.observer.residentPeak = 6_396_313
    summary.observer.probes = 124
    summary.observer.lateProbes = 1
    summary.observer.capabilities = Capabilities(["perf": "yes", "ptrace": "yes"])
    summary.metrics = MetricCatalog.values(of: summary)
    return summary
  }

  /// Nothing could be measured: attached to another user's process, say.
  static var unmeasured: Summary {
    var summary = SampleSummary.empty
    summary.host = .init(
      name: "box", kernel: "6.18.5", architecture: "x86_64", cores: 8, container: false)
    summary.run.startedAt = "2026-11-02T10:00:00.000Z"
    summary.run.complete = true
    summary.series.period = .milliseconds(100)
    return summary
  }

  /// Names that try to drive the terminal, to be wide, to be no text, to forge a line.
  static var hostile: Summary {
    var summary = plain
    summary.target.command = ["/tmp/\u{1b}]0;owned\u{7} prog", "--\u{202e}x=\u{2026}", "it's"]
    summary.target.launched = false
    summary.exit = .init(code: nil, signal: 11, perfwatch: nil)
    let names = [
      "\u{1b}[31mred\u{1b}[0m", "a b)(c\nS 1 1", "漢字漢字漢字", "e\u{301}\u{301}clair", "\\xff\\xfe", "",
      "👩‍💻🚀", String(repeating: "\u{1}", count: 15),
    ]
    summary.cpu.byThread = names.enumerated().map {
      (index: Int, name: String) -> Summary.ThreadCPU in
      thread(5000 + Int32(index), name, 800 - 100 * Int64(index), 6, delay: 1000, switches: (1, 1))
    }
    summary.cpu.byThread.append(
      .init(
        tid: nil, name: "(exited)", cpu: .milliseconds(350), averagePercent: 2.8, runDelay: nil,
        voluntarySwitches: nil, involuntarySwitches: nil, startedAt: nil, endedAt: nil))
    summary.stalls = [
      stall(1, at: 100, length: 3000, level: "severe", why: "x")
    ]
    summary.stalls[0].thread = "a\nb"
    summary.stalls[0].stacks = names.indices.map { index in
      stack(
        100 + Int64(index), weight: 375,
        [
          (names[index], "\u{1b}[2J\n.c", -5), (names[index], "\u{1b}[2J\n.c", -5),
          (String(repeating: "漢", count: 300), nil, nil),
        ])
    }
    summary.warnings = [
      .init(
        code: "traced-by-other",
        message: "the target is traced by another process: \u{1b}[2Jgdb\r\nperfwatch: all is well",
        advice: "CPU and memory are measured all the same; stacks come back when it lets go")
    ]
    return summary
  }

  /// A build: many processes, most of the work in children.
  static var tree: Summary {
    var summary = plain
    summary.target.command = ["make", "-j\u{2026}"]
    summary.exit = .init(code: 2, signal: nil, perfwatch: 2)
    summary.memory.proportional = 20 * mebibyte
    summary.tree = .init(
      cpu: .seconds(71), averagePercent: 572.6, peakPercent: 801.4, footprintPeak: 1_812_940_800,
      processesPeak: 13, processesSeen: 214, observer: "proc", processes: (0..<14).map(member))
    summary.warnings = [
      .init(
        code: "children-polled",
        message: "descendants are found by polling: perf_event_paranoid is 3",
        advice:
          "run as root, or lower /proc/sys/kernel/perf_event_paranoid to 2, to have every fork reported"
      )
    ]
    return summary
  }

  static let alarm = Summary.ThreadAlarm(
    reason: "limit", limit: 64, at: .seconds(2), endedAt: nil, threads: 70, peak: 1_003,
    grownFrom: 3, grownWithin: .milliseconds(200),
    sentence:
      "1,003 threads at most, 67 of them came within 200 ms, from 1.80 s on; 58 of 64 wait at the same "
      + "lock, in take: a mutex held by thread main (tid 1)", looked: 64, blocked: 60,
    parked: [
      .init(
        count: 58, call: "futex", truncated: nil,
        frames: [
          Summary.Frame(
            function: "pthread_mutex_lock", module: "/lib/libc.so.6", offset: "0x1", found: .cfi),
          Summary.Frame(
            function: "take", module: "/opt/app", offset: "0x2", file: "pool.c", line: 7,
            found: .cfi, inApp: true),
        ])
    ], runDelayBefore: 0.1, runDelayDuring: 9)

  /// 1000 threads, of which 40 worked, and a time-out.
  static var crowd: Summary {
    var summary = plain
    summary.run.endedBy = .timeout
    summary.run.duration = .seconds(3_725)
    summary.exit = .init(code: nil, signal: 15, perfwatch: 124)
    summary.threads = .init(
      peak: 1_003, atEnd: 1_003, created: 1_204_551, alarms: [alarm])
    summary.cpu.byThread = (0..<1000).map { (index: Int) -> Summary.ThreadCPU in
      let cpu: Int64 = index < 40 ? 60_000 - 1000 * Int64(index) : 0
      return thread(
        10_000 + Int32(index), "pool-\(index)", cpu, 1.6, delay: 5_000_000,
        switches: (90_000_000, 12))
    }
    return summary
  }

  /// Two stalls, one loop that was judged and one that was not, and a failed budget.
  static var stalled: Summary {
    var summary = plain
    summary.run.complete = false
    summary.run.endedBy = nil
    summary.loops = [
      .init(
        tid: 4711, name: "node", observer: "proc", homes: [], turns: 1204, longTurns: 3,
        blockingTime: .milliseconds(640), longestTurn: .milliseconds(2_310),
        startup: .milliseconds(180), verdictless: nil),
      .init(
        tid: 4712, name: "libuv-worker", observer: "proc", homes: [], turns: nil, longTurns: nil,
        blockingTime: nil, longestTurn: nil, startup: nil, verdictless: "it never waited for work"),
    ]
    summary.stalls = [
      stall(1, at: 3_200, length: 412, level: "stall", why: "computing for 398 ms"),
      stall(
        2, at: 7_050, length: 2_310, level: "severe",
        why: "waiting for a lock that libuv-worker (4712) held"),
    ]
    summary.stalls[0].stacks = [
      stack(125, weight: 412, [("parse", "json.c", 42), ("handle", "server.c", 7)] + outer)
    ]
    summary.stalls[1].stacks = [
      stack(
        125, weight: 700,
        [("pthread_mutex_lock", nil, nil), ("take", "pool.c", 9), ("work", "app.c", 3)] + outer),
      stack(1275, weight: 900, [("write_log", "log.c", 77), ("work", "app.c", 5)] + outer),
      stack(
        1925, weight: 710, truncated: .noUnwindInfo,
        [
          ("__futex_wait", nil, nil), ("pthread_mutex_lock", nil, nil), ("take", "pool.c", 9),
          ("take", "pool.c", 10), ("work", "app.c", 3),
        ] + outer),
    ]
    summary.stallsOmitted = 2
    summary.observer.stops = 3
    summary.observer.stopTotal = .microseconds(120)
    summary.observer.stopLongest = .microseconds(51)
    summary.observer.droppedEvents = 1
    summary.verdict = .init(
      result: .fail,
      rules: [
        .init(
          text: "cpu.average < 50 %", level: "error", result: .fail, actual: 83.16, limit: 50,
          unit: "%",
          why: nil),
        .init(
          text: "footprint.peak < 64 MiB", level: "error", result: .pass, actual: 47_290_777,
          limit: 67_108_864, unit: "bytes", why: nil),
        .init(
          text: "stall.longest < 250 ms", level: "warn", result: .indeterminate, actual: nil,
          limit: 0.25,
          unit: "s", why: "a thread was not judged"),
      ])
    return summary
  }

  static let all: [(name: String, summary: Summary)] = [
    ("plain", plain), ("unmeasured", unmeasured), ("hostile", hostile), ("tree", tree),
    ("crowd", crowd), ("stalled", stalled),
  ]

  private static func member(_ index: Int32) -> Summary.TreeProcess {
    .init(
      pid: 4800 + index, parent: index == 0 ? 4711 : 4800, name: index == 0 ? "sh" : "cc1plus",
      cpu: index == 5 ? nil : .milliseconds(6_000 - 400 * Int64(index)),
      footprintPeak: index == 3 ? nil : 120 * mebibyte, startedAt: .milliseconds(Int64(index) * 10),
      endedAt: index == 0 ? nil : .milliseconds(Int64(index) * 10 + 2_500))
  }

  private static func thread(
    _ tid: Int32, _ name: String, _ cpuMilliseconds: Int64, _ percent: Double, delay: Int64,
    switches: (UInt64, UInt64), ended: Int64? = nil
  ) -> Summary.ThreadCPU {
    .init(
      tid: tid, name: name, cpu: .milliseconds(cpuMilliseconds), averagePercent: percent,
      runDelay: Nanoseconds(delay), voluntarySwitches: switches.0, involuntarySwitches: switches.1,
      startedAt: .zero, endedAt: ended.map { .milliseconds($0) })
  }

  private static let outer: [(String, String?, Int?)] = [
    ("main", "app.c", 99), ("__libc_start_call_main", nil, nil), ("__libc_start_main", nil, nil),
    ("_start", nil, nil),
  ]

  /// Functions with a file are the program's own.
  private static func stack(
    _ at: Int64, weight: Int64, truncated: StackTruncation? = nil,
    _ frames: [(String, String?, Int?)]
  ) -> Summary.Stack {
    .init(
      at: .milliseconds(at), weight: .milliseconds(weight), stopTime: .microseconds(40),
      truncated: truncated,
      frames: frames.map { name, file, line in
        .init(
          function: name, module: file == nil ? "/lib/libc.so.6" : "/opt/app", offset: "0x10",
          file: file, line: line, found: .cfi, inApp: file != nil)
      })
  }

  private static func stall(
    _ id: Int, at: Int64, length: Int64, level: String, why: String
  ) -> Summary.Stall {
    .init(
      id: id, tid: 4711, thread: "node", kind: "stall", level: level, start: .milliseconds(at),
      duration: .milliseconds(length), error: .milliseconds(10), observer: "proc",
      certainty: "probable", cause: .init(sentence: why, parts: .init()), blame: nil,
      environmentPercent: nil, blocker: nil,
      signature: nil, group: nil, ignored: false, stacks: [])
  }
}
