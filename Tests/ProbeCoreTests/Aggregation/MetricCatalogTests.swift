import Testing

@testable import ProbeCore

@Suite struct MetricCatalogTests {
  @Test func `keys are unique words with dots between`() {
    let keys = MetricCatalog.all.map(\.key)
    #expect(Set(keys).count == keys.count)
    for key in keys {
      #expect(
        key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") },
        "\(key)")
    }
  }

  @Test(
    arguments: [
      ("wall", 12.4), ("cpu.average", 83.16), ("cpu.peak", 197.2), ("cpu.seconds", 10.312),
      ("cpu.user", 9.8), ("cpu.system", 0.512),
      ("run.delay", 0.013_000_085),  // 12.1 ms + 0.9 ms + 85 ns + 0
      ("footprint.peak", 47_290_777), ("footprint.end", 46_137_344), ("footprint.slope", 12_595.2),
      ("resident.peak", 63_124_275), ("threads.peak", 12), ("threads.created", 25),
      ("observer.cpu", 0.306), ("observer.late", 1),
    ])
  func `a metric reads its field`(key: String, expected: Double) throws {
    let value = try #require(MetricCatalog.metric(key)?.value(from: Samples.plain))
    #expect(abs(value - expected) < 1e-9)
  }

  @Test(
    arguments: [
      ("tree.cpu.seconds", 71), ("tree.cpu.average", 572.6), ("tree.footprint.peak", 1_812_940_800),
      ("processes.peak", 13), ("pss.end", 20_971_520),
    ] as [(String, Double)])
  func `what needs an option is null without it`(key: String, expected: Double) {
    #expect(MetricCatalog.metric(key)?.value(from: Samples.tree) == expected)
    #expect(MetricCatalog.metric(key)?.value(from: Samples.plain) == nil)
    #expect(MetricCatalog.metric(key)?.needs.isEmpty == false)
  }

  @Test func `values holds every key once, null where nothing was measured`() {
    let metrics = MetricCatalog.values(of: Samples.unmeasured)
    #expect(metrics.entries.map(\.key) == MetricCatalog.all.map(\.key))
    #expect(metrics["cpu.average"]?.value == nil)
    #expect(metrics["cpu.average"]?.unit == "%")
    #expect(metrics["wall"]?.value == 0)
  }

  @Test func `a value that is no finite number is not measured`() {
    var summary = Samples.plain
    summary.cpu.averagePercent = .nan
    #expect(MetricCatalog.metric("cpu.average")?.value(from: summary) == nil)
  }

  @Test(
    arguments: [
      (MetricUnit.seconds, 1.25, "1.25 s"), (.bytes, 13_002_342, "12.4 MiB"),
      (.percent, 83.1, "83.1 %"),
      (.count, 12_345, "12,345"), (.count, 1.5, "1.50"), (.bytesPerSecond, -2048, "-2.00 KiB/s"),
      (.seconds, .nan, "not measured"), (.bytes, -1, "0 B"),
    ])
  func `a value is written in its unit`(unit: MetricUnit, value: Double, expected: String) {
    #expect(unit.text(value) == expected)
  }

  @Test func `no value traps`() {
    for unit in MetricUnit.allCases {
      for value in [
        Double.infinity, -.infinity, .nan, 1e300, -1e300, 0, -0.0, .leastNonzeroMagnitude,
      ] {
        #expect(!unit.text(value).isEmpty)
      }
    }
  }
}
