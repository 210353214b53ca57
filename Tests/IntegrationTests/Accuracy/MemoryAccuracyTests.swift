// Footprint, its parts and its slope against what the target read of itself.

internal import Testing

@testable internal import ProbeCore

@Suite struct MemoryAccuracyTests {
  @Test func `a leak has its peak and its slope`() async throws {
    try await Lane.shared {
      let run = try await Watched("leak_ramp")
      let summary = try run.summary
      let top = try #require(try run.truth.line("mem", what: "top").anon_kb) * 1024
      let peak = Double(try #require(summary.memory.footprintPeak))
      #expect(isClose(peak, top, slack: mebibyte))
      #expect(isClose(Double(try #require(summary.memory.parts).anonymous), top, slack: mebibyte))
      let slope = try #require(summary.memory.footprintSlopePerSecond)
      let expected = try slopeOfTruth(run.truth, summary)
      #expect(
        abs(slope - expected) <= expected * 0.1, "\(slope / mebibyte), \(expected / mebibyte)")
      let series = summary.series.footprint.compactMap { $0 }
      #expect(series == series.sorted(), "the ramp only rises")
    }
  }

  /// A straight line through the truth's own points, sampled as perfwatch samples.
  private func slopeOfTruth(_ truth: Truth, _ summary: Summary) throws -> Double {
    let start = try #require(try truth.line("start").t)
    let end = try #require(try truth.line("end").t)
    var points: [(t: Double, bytes: Double)] = [(start, 0)]
    for line in truth.all("mem") where line.what == "ramp" {
      points.append((try #require(line.t), try #require(line.anon_kb) * 1024))
    }
    points.append((end, points[points.count - 1].bytes))
    var fit = LeastSquares()
    for tick in stride(from: start, to: end, by: 0.1) {
      guard let after = points.firstIndex(where: { $0.t > tick }), after > 0 else { continue }
      let (left, right) = (points[after - 1], points[after])
      let part = (tick - left.t) / (right.t - left.t)
      fit.add(x: tick - start, y: left.bytes + part * (right.bytes - left.bytes))
    }
    return try #require(fit.slope)
  }

  @Test func `a spike between two ticks is in the resident peak`() async throws {
    try await Lane.shared {
      let run = try await Watched("mem_spike")
      let peak = Double(try #require(try run.summary.memory.residentPeak))
      let truth = try #require(try run.truth.line("mem", what: "end").hwm_kb) * 1024
      #expect(peak >= 158 * mebibyte)
      #expect(isClose(peak, truth, slack: mebibyte))
    }
  }

  @Test func `pages that a fork only shares count once in the tree`() async throws {
    try await Lane.shared {
      let run = try await Watched("cow_fork", options: ["--children"])
      let summary = try run.summary
      let own = try #require(try run.truth.line("mem", what: "before").anon_kb) * 1024
      #expect(isClose(Double(try #require(summary.memory.parts).anonymous), own, slack: mebibyte))
      let tree = try #require(summary.tree)
      let peak = Double(try #require(tree.footprintPeak))
      // The child's page tables are its own.
      #expect(peak >= own)
      #expect(peak <= own * 1.05)
      #expect(tree.processesPeak == 2)
      #expect(tree.processesSeen == 2)
    }
  }

  @Test func `shared memory that two processes map counts once in the tree`() async throws {
    try await Lane.shared {
      let run = try await Watched("shm_memfd", options: ["--children"])
      let summary = try run.summary
      let both = try run.truth.line("mem", what: "both")
      let parts = try #require(summary.memory.parts)
      let anonymous = try #require(both.anon_kb) * 1024
      let shared = try #require(both.shmem_kb) * 1024
      #expect(isClose(Double(parts.anonymous), anonymous, slack: mebibyte))
      #expect(isClose(Double(parts.shared), shared, slack: mebibyte))
      let footprint = Double(try #require(summary.memory.footprintPeak))
      #expect(isClose(footprint, anonymous + shared, slack: mebibyte))
      #expect(
        parts.anonymous + parts.shared + parts.swap + parts.pageTables + parts.huge
          == summary.memory.footprintPeak)
      let tree = Double(try #require(summary.tree?.footprintPeak))
      #expect(isClose(tree, anonymous + shared, slack: mebibyte))
    }
  }

  @Test func `PSS on demand halves what two processes share`() async throws {
    try await Lane.shared {
      let target = try await Target("cow_fork", ["15000"])
      try await eventually("both run") { target.truth.all("mem").contains { $0.what == "during" } }
      let (finished, summary) = try await target.attach(["--pss", "--duration", "100ms"])
      #expect(finished.status == .code(0))
      #expect(target.isAlive)
      let truth = try #require(try target.truth.line("mem", what: "during").pss_kb) * 1024
      let measured = Double(try #require(summary.memory.proportional))
      #expect(isClose(measured, truth, slack: mebibyte))
      let own = Double(try #require(summary.memory.parts).anonymous)
      #expect(isClose(own, 128 * mebibyte, slack: mebibyte))
      #expect(summary.warnings.contains { $0.code == "proportional-cost" })
      try await target.end()
    }
  }

  @Test func `without being asked PSS is not measured`() async throws {
    try await Lane.shared {
      let run = try await Watched("exit_status", ["code", "0"])
      #expect(try run.summary.memory.proportional == nil)
    }
  }
}
