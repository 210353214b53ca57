// Every number that a budget, a comparison or a chart can name, declared once by key.
// A new metric is one entry; JSON, budgets and help follow from it.

/// The unit of a metric's value.
public enum MetricUnit: String, Sendable, CaseIterable {
  case seconds = "s"
  case bytes
  case bytesPerSecond = "bytes/s"
  /// Of one core.
  case percent = "%"
  case count

  /// A value in this unit, as people read it.
  public func text(_ value: Double) -> String {
    guard value.isFinite else { return Units.notMeasured }
    // Bounded, so that the conversions cannot trap on a value from a hand-made file.
    let bounded = min(max(value, -9e9), 9e9)
    switch self {
    case .seconds: return Units.text(Nanoseconds(Int64(bounded * 1e9)))
    case .bytes: return Units.text(bytes: UInt64(min(max(value, 0), 9e18)))
    case .bytesPerSecond: return Units.text(bytesPerSecond: value)
    case .percent: return Units.text(percent: value)
    case .count:
      return value == bounded.rounded() && value >= 0
        ? Units.text(count: UInt64(bounded)) : Units.fixed(value, decimals: 2)
    }
  }
}

/// Which direction is an improvement.
public enum MetricDirection: String, Sendable {
  case lower, higher, none
}

/// One named number of a summary.
public struct Metric: Sendable {
  /// Lower-case and dotted; stable once released.
  public let key: String
  public let title: String
  public let unit: MetricUnit
  public let better: MetricDirection
  /// What it takes to measure it; empty when it is always there.
  public let needs: String
  private let read: @Sendable (Summary) -> Double?

  init(
    _ key: String, _ title: String, _ unit: MetricUnit, better: MetricDirection = .lower,
    needs: String = "", read: @escaping @Sendable (Summary) -> Double?
  ) {
    self.key = key
    self.title = title
    self.unit = unit
    self.better = better
    self.needs = needs
    self.read = read
  }

  /// The value in `unit`; nil when it was not measured (or is no finite number).
  public func value(from summary: Summary) -> Double? {
    read(summary).flatMap { $0.isFinite ? $0 : nil }
  }
}

/// All metrics, in the order of the summary file.
public enum MetricCatalog {
  public static let all: [Metric] = [
    Metric("wall", "time under watch", .seconds) { $0.run.duration.inSeconds },
    Metric("cpu.average", "CPU, average over the run", .percent) { $0.cpu.averagePercent },
    Metric("cpu.peak", "CPU, highest of any tick", .percent, needs: "two ticks") {
      $0.cpu.peakPercent
    },
    Metric("cpu.seconds", "CPU time", .seconds) { $0.cpu.total?.inSeconds },
    Metric("cpu.user", "CPU time in the program", .seconds) { $0.cpu.user?.inSeconds },
    Metric("cpu.system", "CPU time in the kernel", .seconds) { $0.cpu.system?.inSeconds },
    Metric(
      "run.delay", "time its threads waited for a CPU", .seconds, needs: "a kernel with schedstats"
    ) { summary in
      let delays = summary.cpu.byThread.compactMap(\.runDelay)
      return delays.isEmpty ? nil : delays.reduce(Nanoseconds.zero, +).inSeconds
    },
    Metric("footprint.peak", "memory footprint, highest", .bytes) { summary in
      summary.memory.footprintPeak.map { Double($0) }
    },
    Metric("footprint.end", "memory footprint at the end", .bytes) { summary in
      summary.memory.footprintAtEnd.map { Double($0) }
    },
    Metric(
      "footprint.slope", "growth of the footprint", .bytesPerSecond, needs: "a run of some seconds"
    ) { $0.memory.footprintSlopePerSecond },
    Metric("resident.peak", "resident memory, highest", .bytes) { summary in
      summary.memory.residentPeak.map { Double($0) }
    },
    Metric("pss.end", "proportional memory at the end", .bytes, needs: "--pss") { summary in
      summary.memory.proportional.map { Double($0) }
    },
    Metric("threads.peak", "threads, most at once", .count) { summary in
      summary.threads.peak.map { Double($0) }
    },
    Metric("threads.created", "threads created", .count) { summary in
      summary.threads.created.map { Double($0) }
    },
    Metric("tree.cpu.seconds", "CPU time of the process tree", .seconds, needs: "--children") {
      $0.tree?.cpu?.inSeconds
    },
    Metric("tree.cpu.average", "CPU of the process tree, average", .percent, needs: "--children") {
      $0.tree?.averagePercent
    },
    Metric("tree.footprint.peak", "footprint of the process tree", .bytes, needs: "--children") {
      summary in summary.tree?.footprintPeak.map { Double($0) }
    },
    Metric("processes.peak", "processes, most at once", .count, needs: "--children") { summary in
      summary.tree.map { Double($0.processesPeak) }
    },
    Metric("stall.count", "stalls", .count, needs: "an event loop") { summary in
      summary.stallTotals.count.map { Double($0) }
    },
    Metric("stall.longest", "longest stall", .seconds, needs: "an event loop") {
      $0.stallTotals.longest?.inSeconds
    },
    Metric("stall.total", "time in stalls", .seconds, needs: "an event loop") {
      $0.stallTotals.total?.inSeconds
    },
    Metric("stall.perMinute", "time in stalls a minute", .seconds, needs: "an event loop") {
      summary in
      guard let total = summary.stallTotals.total, summary.run.duration > .zero else { return nil }
      return total.inSeconds / summary.run.duration.inSeconds * 60
    },
    Metric("loop.blockingTime", "time of turns beyond 50 ms", .seconds, needs: "an event loop") {
      summary in
      let times = summary.loops.filter { $0.verdictless == nil }.compactMap(\.blockingTime)
      return times.isEmpty ? nil : times.reduce(.zero, +).inSeconds
    },
    Metric(
      "startup.firstIdle", "from the start to the first idle wait", .seconds,
      needs: "an event loop in a launched program"
    ) { $0.loops.first?.startup?.inSeconds },
    Metric("observer.cpu", "CPU used by perfwatch", .percent) { $0.observer.cpuPercent },
    Metric("observer.late", "ticks of perfwatch that came late", .count) {
      Double($0.observer.lateProbes)
    },
  ]

  /// The metric of that key, or nil.
  public static func metric(_ key: String) -> Metric? { all.first { $0.key == key } }

  /// Every metric's value, as the `metrics` part of the summary; null where it was not measured.
  public static func values(of summary: Summary) -> Metrics {
    Metrics(
      all.map { metric in
        let value = metric.value(from: summary)
        return (metric.key, Summary.Metric(value: value, unit: metric.unit.rawValue))
      })
  }
}
