// Judging a run that is over: limits just above and just below what was measured.

internal import Testing

@testable internal import ProbeCore

@Suite struct CheckTests {
  /// Targets that between them have a value for every metric but `unseen`.
  static let targets: [(name: String, arguments: [String], options: [String])] = [
    ("long_stall", ["300", "600"], []), ("leak_ramp", [], []),
    ("child_wait", [], ["--children"]),
  ]
  /// What these do not have: a baseline, and a target that lives on when PSS is read at the end.
  static let unseen: Set<String> = ["stall.new", "pss.end"]

  /// A number of a unit as it is typed.
  static func typed(_ value: Double, _ unit: MetricUnit) -> String {
    switch unit {
    case .seconds: Units.fixed(value, decimals: 9) + "s"
    case .bytes: "\(Int64(value.rounded()))"
    case .bytesPerSecond:
      (value < 0 ? "-" : "") + "\(Int64(abs(value).rounded()))B/s"
    case .percent: Units.fixed(value, decimals: 6) + "%"
    case .count: Units.fixed(value, decimals: 3)
    case .perSecond: Units.fixed(value, decimals: 6) + "/s"
    }
  }

  /// A metric's measurement as `check` sees it, and what a rule has to say for the same.
  static func measured(_ metric: Metric, _ summary: Summary) -> (Measurement, window: String) {
    var scope = MetricScope.whole
    scope.countsEnvironment = false
    scope.window = metric.window == nil ? nil : .milliseconds(500)
    return (metric.measure(summary, scope), metric.window == nil ? "" : "/500ms")
  }

  @Test func `every metric passes just above what was measured and fails just below`() async throws
  {
    try await Lane.shared {
      var judged: Set<String> = []
      for target in Self.targets {
        let run = try await Watched(target.name, target.arguments, options: target.options)
        let file = run.folder["summary.json"]
        let summary = try run.summary
        for metric in MetricCatalog.all {
          let (measured, window) = Self.measured(metric, summary)
          let unit = metric.unit
          func check(_ sign: String, _ limit: Double) async throws -> Ending {
            let rule = "\(metric.key)\(sign)\(Self.typed(limit, unit))\(window)"
            return try await Perfwatch.command(["check", file, "-b", rule]).run(in: run.folder)
              .status
          }
          guard let value = measured.value, measured.doubt == nil else {
            #expect(try await check("<", 1e9) == .code(1), "\(metric.key) cannot be judged")
            continue
          }
          // As little as the text of a limit can tell apart.
          let step =
            measured.error + max(1e-3, abs(value) * 1e-3)
            + (unit == .bytes || unit == .bytesPerSecond ? 1 : 0)
          #expect(try await check("<", value + step) == .code(0), "\(metric.key) \(measured)")
          let below = value - step
          if below >= 0 || unit == .bytesPerSecond {
            #expect(try await check("<", below) == .code(1), "\(metric.key) \(measured)")
          }
          #expect(try await check(">=", value + step) == .code(1), "\(metric.key)")
          judged.insert(metric.key)
          if measured.error > 0.01 {
            let near = value + measured.error / 2
            let rule = "\(metric.key)<\(Self.typed(near, unit))\(window)"
            let words = ["check", file, "-b", rule, "--indeterminate", "pass"]
            let lenient = try await Perfwatch.command(words).run(in: run.folder)
            #expect(lenient.status == .code(0), "\(metric.key) \(lenient.text)")
            #expect(lenient.text.contains("verdict: indeterminate"), "\(lenient.text)")
            #expect(try await check("<", near) == .code(1), "\(metric.key)")
          }
        }
      }
      let missing = Set(MetricCatalog.all.map(\.key)).subtracting(judged)
      #expect(missing.isSubset(of: Self.unseen), "\(missing)")
    }
  }

  /// The summary of a run of which nothing could be read but that it was.
  static func blind(_ summary: Summary) -> Summary {
    var blind = summary
    blind.run.duration = .zero
    blind.cpu = Summary.CPU(
      user: nil, system: nil, total: nil, averagePercent: nil, peakPercent: nil, byThread: [])
    blind.memory = Summary.Memory(
      footprintPeak: nil, footprintAtEnd: nil, footprintSlopePerSecond: nil, residentPeak: nil,
      proportional: nil, parts: nil)
    blind.threads.peak = nil
    blind.threads.created = nil
    blind.descriptors = nil
    blind.tree = nil
    blind.loops = []
    blind.series.cpuPercent = []
    blind.series.footprint = []
    blind.series.threads = []
    blind.exit.code = nil
    blind.observer.cpuPercent = nil
    return blind
  }

  @Test func `what was not measured is indeterminate for every metric, whatever the limit`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched("/bin/true")
      let folder = run.folder
      try folder.write("blind", OrderedJSONEncoder().encode(Self.blind(run.summary)))
      // Known of every run that there is a summary of.
      let always: Set<String> = ["wall", "observer.late"]
      let metrics = MetricCatalog.all.filter { !always.contains($0.key) }
      for sign in ["<", ">="] {
        let rules = metrics.flatMap { ["-b", "\($0.key)\(sign)\(Self.typed(1, $0.unit))"] }
        let finished = try await Perfwatch.command(
          ["check", folder["blind"], "--summary", folder["judged"]] + rules
        ).run(in: folder)
        #expect(finished.status == .code(1))
        let verdict = try Watched.summary(folder["judged"]).verdict
        #expect(verdict.result == .indeterminate)
        for rule in verdict.rules {
          #expect(rule.result == .indeterminate && rule.why != nil, "\(rule)")
        }
        #expect(verdict.rules.count == metrics.count)
        let lenient = ["check", folder["blind"], "--indeterminate", "pass"] + rules
        #expect(try await Perfwatch.command(lenient).run(in: folder).status == .code(0))
      }
    }
  }

  @Test func `a recording is judged as its summary is`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let run = try await Watched("long_stall", ["300", "600"]) {
        $0.words.insert(contentsOf: ["--record", folder["rec"]], at: 2)
      }
      let rule = ["-b", "stall.longest<250ms", "--count-environment"]
      for file in [run.folder["summary.json"], folder["rec"]] {
        let finished = try await Perfwatch.command(["check", file] + rule).run(in: folder)
        #expect(finished.status == .code(1))
        #expect(finished.text.contains("in long_work"), "\(finished.text)")
        #expect(finished.error.isEmpty)
      }
    }
  }

  @Test func `what cannot be read or judged is 2, in one line`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("noise", Array("no summary\n".utf8))
      try folder.write("other", Array("{\"schema\": \"perfwatch.summary/9\"}\n".utf8))
      try folder.write("half", Array("{\"schema\": \"perfwatch.summary/1\",\n\"run\": 3".utf8))
      try folder.write("wrong", Array("{\"schema\": \"perfwatch.summary/1\", \"run\": 3}".utf8))
      try folder.write("huge", Array("{\"schema\": \"perfwatch.summary/1\", \"run\": 1e999}".utf8))
      try folder.write("deep", Array(repeating: UInt8(ascii: "["), count: 100_000))
      let rule = ["-b", "wall<1s"]
      let cases: [([String], String)] = [
        ([folder["absent"]] + rule, "absent"), ([folder["noise"]] + rule, "no JSON: line 1"),
        ([folder["other"]] + rule, "perfwatch.summary/9"), ([folder["half"]] + rule, "line 2"),
        ([folder["wrong"]] + rule, "it is damaged: line 1"), ([folder["huge"]] + rule, "1e999"),
        ([folder["deep"]] + rule, "too deep"),
        ([folder.path] + rule, folder.path), (["/dev/null"] + rule, "/dev/null"),
        ([folder["noise"]], "no budget"), (rule, "no summary"),
        ([folder["noise"], "-b", "wal<1s"], "did you mean 'wall'?"),
        ([folder["noise"], "--export", "junit=/no/such/x"] + rule, "/no/such/x"),
      ]
      for (words, hint) in cases {
        let finished = try await Perfwatch.command(["check"] + words).run(in: folder)
        #expect(finished.status == .code(2), "\(words)")
        #expect(finished.error.contains(hint), "\(finished.error)")
        #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
      }
    }
  }

  @Test func `an interrupt ends the wait for a pipe that nobody writes to`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let pipe = folder["pipe"]
      #expect(try await Command(["/usr/bin/mkfifo", pipe]).run(in: folder).status == .code(0))
      for (words, code) in [
        (["check", pipe, "-b", "wall<1s"], 2), (["compare", pipe, pipe], 2), (["report", pipe], 2),
        (["run", "--baseline", pipe, "/bin/true"], 125),
        (["run", "--config", pipe, "/bin/true"], 125),
      ] as [([String], Int32)] {
        let running = try Perfwatch.command(words).start(in: folder)
        try await eventually("it waits for the pipe") {
          Scratch.text("/proc/\(running.pid)/wchan").contains("poll")
            || Scratch.text("/proc/\(running.pid)/syscall").hasPrefix("271 ")
        }
        running.signal(15)
        let finished = try await running.finish()
        #expect(finished.status == .code(code) || finished.status == .signal(15), "\(words)")
        #expect(finished.error.split(separator: "\n").count <= 1, "\(finished.error)")
      }
    }
  }
}
