// The runs of a history as series: a program's metrics over time.

/// A metric over the runs of a program.
public struct MetricTrend: Sendable, Equatable, Encodable {
  /// The last change of its level.
  public struct Change: Sendable, Equatable, Encodable {
    /// Of the first run after it, from 0, among the trend's runs.
    public var run: Int
    public var startedAt: String
    public var commit: String?
    public var before: Double
    public var after: Double
    /// As a part of `before`; nil where that is zero.
    public var relative: Double?
    public var probability: Double
    public var result: MetricChange.Result
  }

  public var metric: String
  public var unit: String
  /// One for each run; nil where it was not measured.
  public var values: [Double?]
  public var last: Double?
  public var median: Double?
  public var change: Change?
}

/// The runs of one program, oldest first.
public struct ProgramTrend: Sendable, Equatable, Encodable {
  public struct Run: Sendable, Equatable, Encodable {
    public var startedAt: String
    public var commit: String?
    public var branch: String?
    public var verdict: VerdictResult
    public var labels: NamedTexts
  }

  public var program: String
  /// Runs that the numbers are of.
  public var runs: [Run]
  /// Runs that are left out, as the program failed or was not watched to its end.
  public var failedRuns: Int
  public var metrics: [MetricTrend]

  /// In the order in which they were first there.
  public var branches: [String] {
    var names: [String] = []
    for case let name? in runs.map(\.branch) where !names.contains(name) { names.append(name) }
    return names
  }
}

/// What `perfwatch history` shows.
public struct HistoryTrends: Sendable, Equatable, Encodable {
  /// The format's name, for files.
  public var schema = "perfwatch.history/1"
  public var method = ChangePoint.method
  /// In the order of their last runs.
  public var programs: [ProgramTrend]

  /// - Parameters:
  ///   - runs: oldest first.
  ///   - keys: of the metrics that are wanted; nil for those that the catalogue gives a floor.
  public init(_ runs: [HistoryRun], metrics keys: [String]? = nil) {
    var programs: [String] = []
    for run in runs.reversed() where !programs.contains(run.program) {
      programs.append(run.program)
    }
    self.programs = programs.reversed().map { program in
      let all = runs.filter { $0.program == program }
      let whole = all.filter { !$0.hasFailed }
      return ProgramTrend(
        program: program,
        runs: whole.map { run in
          var labels: NamedTexts = [:]
          for (key, value) in run.origin.labels { labels[key] = value }
          return .init(
            startedAt: run.startedAt, commit: run.origin.commit, branch: run.origin.branch,
            verdict: run.verdict, labels: labels)
        },
        failedRuns: all.count - whole.count,
        metrics: MetricCatalog.all.compactMap { Self.trend($0, whole, keys) })
    }
  }

  private static func trend(
    _ metric: Metric, _ runs: [HistoryRun], _ keys: [String]?
  ) -> MetricTrend? {
    guard keys?.contains(metric.key) ?? (metric.floor != nil) else { return nil }
    let values = runs.map { $0.metrics[metric.key] }
    let known = values.indices.filter { values[$0] != nil }
    // Asked for, it is shown even where no run has it.
    guard !known.isEmpty || keys != nil else { return nil }
    var trend = MetricTrend(
      metric: metric.key, unit: metric.unit.rawValue, values: values,
      last: values.last ?? nil, median: RunStatistics.median(values.compactMap { $0 }), change: nil)
    guard let point = ChangePoint.last(values.compactMap { $0 }, floor: metric.floor ?? 0) else {
      return trend
    }
    let run = known[point.index]
    let isWorse = metric.better == .higher ? point.after < point.before : point.after > point.before
    trend.change = .init(
      run: run, startedAt: runs[run].startedAt, commit: runs[run].origin.commit,
      before: point.before, after: point.after,
      relative: point.before == 0 ? nil : (point.after - point.before) / abs(point.before),
      probability: point.probability,
      result: metric.better == .none ? .same : isWorse ? .worse : .better)
    return trend
  }
}

extension NamedTexts: Encodable {
  /// One object, keys sorted.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for entry in sorted { try container.encode(entry.text, forKey: AnyKey(entry.name)) }
  }
}
