// Every number that a budget, a comparison or a chart can name, declared once by key.
// A new metric is one entry; JSON, budgets and help follow from it. Floors are chosen: what people notice.

/// All metrics, in the order of the summary file.
public enum MetricCatalog {
  public static let all: [Metric] = processor + memory + tree + stalls + others

  private static let processor: [Metric] = [
    Metric("wall", "time under watch", .seconds, grows: true) { $0.run.duration.inSeconds },
    Metric(measured: "cpu.average", "CPU, average over the run", .percent) {
      SeriesMetrics.average($0, $1)
    },
    Metric(
      measured: "cpu.peak", "CPU, highest of any tick", .percent, needs: "two ticks", grows: true
    ) { SeriesMetrics.peak($0, $1) },
    Metric(
      measured: "cpu.p95", "CPU, what 95 % of the ticks stay below", .percent, needs: "20 ticks"
    ) { SeriesMetrics.high($0, $1) },
    Metric(
      measured: "cpu.sustained", "CPU, highest average over a time (60 s, or as in <80%/10s)",
      .percent, needs: "a run of that time", grows: true, window: .seconds(60)
    ) { SeriesMetrics.sustained($0, $1) },
    Metric("cpu.seconds", "CPU time", .seconds, grows: true, floor: 0.02) {
      $0.cpu.total?.inSeconds
    },
    // The kernel splits its exact total by counts of clock ticks.
    Metric(
      "cpu.user", "CPU time in the program", .seconds, grows: true, error: { _ in 0.01 }
    ) { $0.cpu.user?.inSeconds },
    Metric(
      "cpu.system", "CPU time in the kernel", .seconds, grows: true, error: { _ in 0.01 }
    ) { $0.cpu.system?.inSeconds },
    Metric(
      "run.delay", "time its threads waited for a CPU", .seconds, needs: "a kernel with schedstats",
      grows: true
    ) { summary in
      let delays = summary.cpu.byThread.compactMap(\.runDelay)
      return delays.isEmpty ? nil : delays.reduce(Nanoseconds.zero, +).inSeconds
    },
    Metric(
      "wakeups.rate", "how often its threads went to sleep, and so woke up", .perSecond
    ) { summary in
      let switches = summary.cpu.byThread.compactMap(\.voluntarySwitches)
      guard !switches.isEmpty, summary.run.duration > .zero else { return nil }
      return switches.reduce(0.0) { $0 + Double($1) } / summary.run.duration.inSeconds
    },
  ]

  private static let memory: [Metric] = [
    Metric(
      measured: "footprint.peak", "memory footprint, highest", .bytes, grows: true,
      floor: 1_048_576
    ) {
      SeriesMetrics.footprintPeak($0, $1)
    },
    Metric(
      "footprint.end", "memory footprint at the end", .bytes, error: SeriesMetrics.memoryError
    ) { summary in summary.memory.footprintAtEnd.map { Double($0) } },
    Metric(
      measured: "footprint.slope", "growth of the footprint", .bytesPerSecond,
      needs: "a run of some seconds"
    ) { SeriesMetrics.slope($0, $1) },
    Metric(
      "resident.peak", "resident memory, highest", .bytes, grows: true,
      error: SeriesMetrics.memoryError
    ) { summary in summary.memory.residentPeak.map { Double($0) } },
    Metric("pss.end", "proportional memory at the end", .bytes, needs: "--pss") { summary in
      summary.memory.proportional.map { Double($0) }
    },
    Metric(measured: "threads.peak", "threads, most at once", .count, grows: true, floor: 0) {
      SeriesMetrics.threadsPeak($0, $1)
    },
    Metric("threads.created", "threads created", .count, grows: true) { summary in
      summary.threads.created.map { Double($0) }
    },
    Metric(
      measured: "fds.peak", "open file descriptors, most at once as seen ten times a second",
      .count, needs: "permission to look into /proc/<pid>/fd", grows: true
    ) { summary, _ in SeriesMetrics.descriptorsPeak(summary) },
  ]

  private static let tree: [Metric] = [
    Metric(
      "tree.cpu.seconds", "CPU time of the process tree", .seconds, needs: "--children",
      grows: true, floor: 0.02
    ) { $0.tree?.cpu?.inSeconds },
    Metric("tree.cpu.average", "CPU of the process tree, average", .percent, needs: "--children") {
      $0.tree?.averagePercent
    },
    Metric(
      "tree.footprint.peak", "footprint of the process tree", .bytes, needs: "--children",
      grows: true, floor: 1_048_576, error: SeriesMetrics.memoryError
    ) { summary in summary.tree?.footprintPeak.map { Double($0) } },
    Metric(
      "processes.peak", "processes, most at once", .count, needs: "--children", grows: true
    ) { summary in summary.tree.map { Double($0.processesPeak) } },
  ]

  private static let stalls: [Metric] = [
    Metric(
      measured: "stall.count", "stalls", .count, needs: "an event loop", grows: true, floor: 0
    ) {
      StallTally($0, $1).count
    },
    Metric(
      measured: "stall.longest", "longest stall", .seconds, needs: "an event loop", grows: true,
      floor: 0.02
    ) { StallTally($0, $1).longest },
    Metric(
      measured: "stall.total", "time in stalls", .seconds, needs: "an event loop", grows: true,
      floor: 0.02
    ) { StallTally($0, $1).total },
    Metric(
      measured: "stall.perMinute", "time in stalls a minute", .seconds, needs: "an event loop"
    ) { StallTally($0, $1).perMinute },
    Metric(
      measured: "stall.new", "kinds of stalls (signatures) that the baseline does not have", .count,
      needs: "an event loop and --baseline", grows: true, isKnownLate: true
    ) { StallTally($0, $1).new },
    Metric(
      measured: "loop.blockingTime", "time of turns beyond 50 ms", .seconds, needs: "an event loop",
      grows: true
    ) { StallTally($0, $1).blockingTime },
    Metric(
      measured: "startup.firstIdle", "from the start to the first idle wait", .seconds,
      needs: "an event loop in a launched program", grows: true, floor: 0.05
    ) { StallTally($0, $1).startup },
  ]

  private static let others: [Metric] = [
    Metric("exit.code", "exit code of the program", .count, needs: "a launched program that ended")
    { summary in summary.exit.code.map { Double($0) } },
    Metric("observer.cpu", "CPU used by perfwatch", .percent) { $0.observer.cpuPercent },
    Metric("observer.late", "ticks of perfwatch that came late", .count, grows: true) {
      Double($0.observer.lateProbes)
    },
  ]

  /// The metric of that key, or nil.
  public static func metric(_ key: String) -> Metric? { all.first { $0.key == key } }

  /// Every metric's value, as the `metrics` part of the summary; null where it was not measured.
  ///
  /// - Parameter known: the stalls of the baseline; nil without one.
  public static func values(of summary: Summary, known: KnownStalls? = nil) -> Metrics {
    var scope = MetricScope.whole
    scope.knownStalls = known
    return Metrics(
      all.map { metric in
        let value = metric.measure(summary, scope).value
        return (metric.key, Summary.Metric(value: value, unit: metric.unit.rawValue))
      })
  }
}
