// Metrics that are read off the series of a summary, with how far off they may be.

enum SeriesMetrics {
  /// CPU counters of a running thread move in scheduler ticks of up to 4 ms; see `PeakRate`.
  private static let clockStep = Nanoseconds.milliseconds(4)
  /// Chosen: with fewer, the 95th percentile is the highest value.
  private static let samplesForHigh = 20
  /// Chosen: what a process allocates at its start is no growth.
  private static let samplesForSlope = 10
  private static let shortestForSlope = Nanoseconds.seconds(2)

  /// RssAnon and its like are counted per CPU and added up in batches: max(32, 2 x CPUs) pages may be
  /// out on each CPU (percpu_counter_batch, since Linux 6.2), in two counters that matter.
  static let memoryError: @Sendable (Summary) -> Double = { summary in
    let cores = Double(max(1, summary.host.cores))
    return 2 * max(32, 2 * cores) * cores * 4096
  }

  static func average(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    guard scope.grace > .zero else { return Measurement(summary.cpu.averagePercent) }
    let values = cpu(summary, scope)
    guard !values.isEmpty else { return tooShort(scope) }
    let length = summary.series.period * Int64(values.count)
    return Measurement(
      values.reduce(0, +) / Double(values.count), error: step(over: length))
  }

  static func peak(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    let error = step(over: max(PeakRate.window, summary.series.period))
    guard scope.grace > .zero else {
      return Measurement(
        summary.cpu.peakPercent, error: step(over: PeakRate.window),
        doubt: summary.cpu.peakPercent == nil ? "the run was too short" : nil)
    }
    guard let value = cpu(summary, scope).max() else { return tooShort(scope) }
    return Measurement(value, error: error)
  }

  static func high(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    let values = cpu(summary, scope).sorted()
    guard values.count >= samplesForHigh else {
      return Measurement(
        nil, doubt: "there are only \(values.count) samples, and \(samplesForHigh) are needed")
    }
    // Nearest rank: the smallest value that at least 95 % of the samples do not exceed.
    let rank = (values.count * 95 + 99) / 100
    return Measurement(values[rank - 1], error: step(over: summary.series.period))
  }

  static func sustained(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    let window = max(scope.window ?? .seconds(60), Nanoseconds(1))
    let series = summary.series
    let values = cpu(summary, scope)
    guard series.period > .zero else { return Measurement(nil, doubt: "no series was kept") }
    // Whole buckets; what is shorter than one bucket is judged by one.
    let rounded = window.rawValue.saturatedAdding(series.period.rawValue - 1)
    let count = max(1, Int(rounded / series.period.rawValue))
    guard values.count >= count else {
      return Measurement(nil, doubt: "it was watched for less than \(Units.text(window))")
    }
    var sum = values.prefix(count).reduce(0, +)
    var best = sum
    for index in count..<values.count {
      sum += values[index] - values[index - count]
      best = max(best, sum)
    }
    return Measurement(
      best / Double(count), error: step(over: series.period * Int64(count)))
  }

  static func footprintPeak(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    guard scope.grace > .zero else {
      return Measurement(
        summary.memory.footprintPeak.map { Double($0) }, error: memoryError(summary))
    }
    guard let value = late(summary.series.footprint, summary, scope).max() else {
      return tooShort(scope)
    }
    return Measurement(Double(value), error: memoryError(summary))
  }

  static func threadsPeak(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    guard scope.grace > .zero else {
      return Measurement(summary.threads.peak.map { Double($0) })
    }
    guard let value = late(summary.series.threads, summary, scope).max() else {
      return tooShort(scope)
    }
    return Measurement(Double(value))
  }

  /// What came and went between two looks was not seen, so that more may have been open; where not all
  /// were counted, too.
  static func descriptorsPeak(_ summary: Summary) -> Measurement {
    let standing = summary.observer.capabilities.entries[DescriptorsReading.capability]
    let doubt = standing == "yes" ? nil : standing
    guard let peak = summary.descriptors?.peak else {
      return Measurement(nil, doubt: doubt ?? "the run ended before they were counted")
    }
    return Measurement(Double(peak), doubt: doubt)
  }

  /// The slope is that of all readings; how well it is known is estimated from the series.
  static func slope(_ summary: Summary, _ scope: MetricScope) -> Measurement {
    let period = summary.series.period.inSeconds
    let skipped = Double(first(summary, scope))
    var points: [(x: Double, y: Double)] = []
    for (index, value) in summary.series.footprint.enumerated() where Double(index) >= skipped {
      if let value { points.append((Double(index) * period, Double(value))) }
    }
    let whole = scope.grace > .zero ? nil : summary.memory.footprintSlopePerSecond
    guard let line = StraightLine(points) else {
      return Measurement(whole, doubt: "there are too few samples")
    }
    let isShort =
      points.count < samplesForSlope
      || summary.series.period * Int64(points.count) < shortestForSlope
    return Measurement(
      whole ?? line.slope, error: 2 * line.slopeError,
      doubt: isShort ? "there are only \(points.count) samples" : nil)
  }

  private static func step(over length: Nanoseconds) -> Double {
    length > .zero ? Percent.of(clockStep, length) : 0
  }

  private static func tooShort(_ scope: MetricScope) -> Measurement {
    Measurement(nil, doubt: "nothing was measured after the grace of \(Units.text(scope.grace))")
  }

  private static func cpu(_ summary: Summary, _ scope: MetricScope) -> [Double] {
    late(summary.series.cpuPercent, summary, scope)
  }

  private static func late<T>(
    _ values: [T?], _ summary: Summary, _ scope: MetricScope
  ) -> [T] {
    values.dropFirst(first(summary, scope)).compactMap { $0 }
  }

  /// The first bucket that begins after the grace.
  private static func first(_ summary: Summary, _ scope: MetricScope) -> Int {
    let period = summary.series.period.rawValue
    guard period > 0, scope.grace > .zero else { return 0 }
    return Int(scope.grace.rawValue.saturatedAdding(period - 1) / period)
  }
}

/// A straight line through points by least squares.
struct StraightLine {
  let slope: Double
  /// The slope's standard error.
  let slopeError: Double

  /// nil below three points or when all have the same x.
  init?(_ points: [(x: Double, y: Double)]) {
    guard points.count >= 3 else { return nil }
    let count = Double(points.count)
    let meanX = points.reduce(0) { $0 + $1.x } / count
    let meanY = points.reduce(0) { $0 + $1.y } / count
    let spreadX = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
    guard spreadX > 0 else { return nil }
    slope = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spreadX
    let slope = slope
    let rest = points.reduce(0) { sum, point in
      let miss = point.y - meanY - slope * (point.x - meanX)
      return sum + miss * miss
    }
    slopeError = (rest / (count - 2) / spreadX).squareRoot()
  }
}
