// Judging a run that is over: limits just above and just below what was measured.

internal import Testing

@testable internal import ProbeCore

@Suite struct CheckTests {
  /// Targets that between them have a value for a metric of each kind.
  static let targets: [(name: String, arguments: [String], options: [String])] = [
    ("long_stall", ["300", "600"], []), ("leak_ramp", [], []), ("child_wait", [], ["--children"]),
  ]

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

  @Test(arguments: targets.indices)
  func `every metric passes just above what was measured and fails just below`(
    index: Int
  ) async throws {
    try await Lane.shared {
      let target = Self.targets[index]
      let run = try await Watched(target.name, target.arguments, options: target.options)
      let file = run.folder["summary.json"]
      let summary = try run.summary
      var judged = 0
      for metric in MetricCatalog.all {
        var scope = MetricScope.whole
        scope.countsEnvironment = false
        scope.window = metric.window == nil ? nil : .milliseconds(500)
        let window = metric.window == nil ? "" : "/500ms"
        let measured = metric.measure(summary, scope)
        let unit = metric.unit
        func check(_ sign: String, _ limit: Double) async throws -> Ending {
          let rule = "\(metric.key)\(sign)\(Self.typed(limit, unit))\(window)"
          return try await Perfwatch.command(["check", file, "-b", rule]).run(in: run.folder).status
        }
        guard let value = measured.value, measured.doubt == nil else {
          #expect(try await check("<", 1e9) == .code(1), "\(metric.key) cannot be judged")
          continue
        }
        judged += 1
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
      #expect(judged >= 12)
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
      let rule = ["-b", "wall<1s"]
      let cases: [([String], String)] = [
        ([folder["absent"]] + rule, "absent"), ([folder["noise"]] + rule, "no JSON: line 1"),
        ([folder["other"]] + rule, "perfwatch.summary/9"), ([folder["half"]] + rule, "line 2"),
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
}
