// CPU against what the target measured of itself.

internal import Testing

@testable internal import ProbeCore

@Suite struct CPUAccuracyTests {
  @Test func `a duty cycle, two burning threads and a pause have their shares at their times`()
    async throws
  {
    try await Lane.alone {
      let run = try await Watched("cpu_duty")
      let summary = try run.summary
      let total = try #require(summary.cpu.total).inSeconds
      #expect(isClose(total, try run.truth.cpu))
      let average = try #require(summary.cpu.averagePercent)
      #expect(isClose(average, total / summary.run.duration.inSeconds * 100, slack: 0.1))
      for name in ["duty", "two", "idle"] {
        let phase = try run.truth.line("phase", what: name)
        let start = try #require(phase.t0)
        let end = try #require(phase.t1)
        let used = cpu(summary.series, from: start, to: end)
        let said = try #require(phase.cpu_s)
        // Counters of running threads lag by a scheduler tick of 4 ms on each of two cores.
        #expect(said >= used.least - 0.02 && said <= used.most + 0.02, "\(name): \(said), \(used)")
      }
      let peak = try #require(summary.cpu.peakPercent)
      let two = try #require(try run.truth.line("phase", what: "two").pct)
      #expect(peak >= two * 0.95)
      #expect(peak <= Double(summary.host.cores) * 100 + 10)
      let byThread = summary.cpu.byThread.reduce(0) { $0 + $1.cpu.inSeconds }
      #expect(isClose(byThread, total))
      #expect(summary.cpu.byThread.filter { $0.name == "second" }.count == 2)
    }
  }

  /// CPU seconds between two times: the least is that of the buckets which lie within; the most has
  /// those at the edges as well. A bucket holds what was used before its tick.
  private func cpu(
    _ series: Summary.Series, from start: Double, to end: Double
  ) -> (least: Double, most: Double) {
    let period = series.period.inSeconds
    let zero = Double(series.startMonotonic) / 1e9
    var used = (least: 0.0, most: 0.0)
    for (index, percent) in series.cpuPercent.enumerated() {
      // Its tick falls into the bucket's time and tells of the period before.
      let from = zero + Double(index - 1) * period
      let to = from + 2 * period
      guard let percent, to > start, from < end else { continue }
      let seconds = percent / 100 * period
      used.most += seconds
      if from >= start, to <= end { used.least += seconds }
    }
    return used
  }

  @Test func `threads with odd names each have their share, and no raw byte gets out`() async throws
  {
    try await Lane.alone {
      let folder = try Scratch()
      let run = try await Watched(
        "odd_names", options: ["--record", folder["record"], "--interval", "50ms", "-v"])
      let summary = try run.summary
      let names = [
        "a) S 1 2 (x", "new\nline", "\u{1b}[2J\u{1b}]0;p", "\\xff\\xfe\\x80", "<b>&\"'",
        "\",\"x\":1}",
      ]
      let said = run.truth.all("thread")
      #expect(said.count == 6)
      for line in said {
        let row = try #require(summary.cpu.byThread.first { $0.tid == line.tid })
        #expect(isClose(row.cpu.inMilliseconds, try #require(line.cpu_ms), slack: 50))
        let name = names[try #require(line.k) - 1]
        let escaped = SafeText.terminal(name)
        #expect(row.name == name || row.name == escaped, "\(row.name)")
      }
      #expect(isClose(try #require(summary.cpu.total).inSeconds, try run.truth.cpu))
      #expect(summary.exit.code == 0)
      let json = Scratch.bytes(run.folder["summary.json"])
      let report = try await Perfwatch.command(["report", folder["record"]]).run(in: folder)
      for bytes in [Array(run.finished.error.utf8), json, report.output] {
        #expect(!bytes.contains { $0 < 32 && $0 != 10 }, "a raw control byte")
        #expect(!bytes.contains(127))
        #expect(String(validating: bytes, as: UTF8.self) != nil, "no UTF-8")
      }
      #expect(!run.finished.error.contains("hunter2"))
      #expect(!String(decoding: json, as: UTF8.self).contains("hunter2"))
      #expect(!Scratch.text(folder["record"]).contains("hunter2"))
    }
  }

  @Test func `CPU of threads that came and went between two looks is in the sum`() async throws {
    try await Lane.alone {
      let run = try await Watched("thread_churn")
      let summary = try run.summary
      let total = try #require(summary.cpu.total).inSeconds
      let rows = summary.cpu.byThread
      #expect(isClose(total, try run.truth.cpu))
      #expect(isClose(rows.reduce(0) { $0 + $1.cpu.inSeconds }, total))
      let exited = try #require(rows.first { $0.name == "(exited)" })
      #expect(exited.tid == nil)
      #expect(exited.cpu.inSeconds >= 0.8 * total)
      #expect(run.finished.error.contains("(exited)"))
    }
  }

  @Test func `a process whose leader has ended is alive and is measured on`() async throws {
    try await Lane.alone {
      let run = try await Watched("leader_exit")
      #expect(run.finished.status == .code(5))
      let summary = try run.summary
      #expect(isClose(try #require(summary.cpu.total).inSeconds, try run.truth.cpu))
      #expect((2.2...3.4).contains(summary.run.duration.inSeconds))
      let burner = try #require(summary.cpu.byThread.first { $0.name == "burner" })
      #expect(isClose(burner.cpu.inSeconds, try run.truth.cpu))
      #expect(summary.memory.footprintAtEnd != nil)
      #expect(summary.warnings.allSatisfy { $0.code != "memory-unreadable" })
    }
  }

  @Test func `a program that ends inside a computation is measured to its end`() async throws {
    try await Lane.alone {
      let run = try await Watched("exit_in_stall")
      #expect(run.finished.status == .code(3))
      let total = try #require(try run.summary.cpu.total).inSeconds
      #expect(isClose(total, try run.truth.cpu))
      #expect(total > 0.1)
    }
  }

  @Test func `programs of every day are measured as their own clocks say`() async throws {
    try await Lane.alone {
      let script = """
        import time, sys, resource
        block = b"x" * (64 << 20)
        x = 0
        while time.process_time() < 0.8: x += 1
        u = resource.getrusage(resource.RUSAGE_SELF)
        print(u.ru_utime + u.ru_stime, u.ru_maxrss)
        """
      let run = try await Watched("/usr/bin/env", ["python3", "-c", script])
      #expect(run.finished.status == .code(0))
      let said = run.finished.text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
      try #require(said.count == 2)
      let summary = try run.summary
      #expect(isClose(try #require(summary.cpu.total).inSeconds, said[0]))
      let resident = Double(try #require(summary.memory.residentPeak))
      #expect(isClose(resident, said[1] * 1024, slack: mebibyte))
      #expect(Double(try #require(summary.memory.footprintPeak)) >= 64 * mebibyte)
      #expect(summary.target.executable?.contains("python") == true)
    }
  }

  @Test func `a shell that runs nothing is over at once, with its code`() async throws {
    try await Lane.shared {
      let run = try await Watched("/bin/sh", ["-c", "exit 7"])
      #expect(run.finished.status == .code(7))
      let summary = try run.summary
      #expect(summary.exit.code == 7)
      #expect(summary.cpu.total != nil)
      #expect(summary.threads.peak == 1)
    }
  }
}
