// Two groups of runs held against each other: what changed beyond noise, and what is new.

/// From which change on something is worth a word.
public struct ComparisonGates: Sendable, Equatable {
  /// As a part of the base: 0.05 is 5 %. The metric's own floor has to be passed, too.
  public var relative = 0.05
  /// With this probability or less, a difference is called more than noise.
  public var significance = 0.01
  /// Keys of the metrics that are compared; nil for those that the catalogue gives a floor.
  public var metrics: [String]?

  public init() {}
}

/// How a metric changed.
public struct MetricChange: Sendable, Equatable, Encodable {
  public enum Result: String, Sendable, Encodable {
    case same, better, worse
    /// Beyond the gates, but not beyond noise, or not measured.
    case indeterminate
  }

  public var metric: String
  public var unit: String
  /// Medians; nil where it was not measured.
  public var base: Double?
  public var head: Double?
  /// Head less base, as a part of base; nil where base is zero.
  public var relative: Double?
  /// That both groups are the same, by Mann-Whitney; nil where there are too few runs to tell.
  public var probability: Double?
  public var result: Result
  public var why: String?
}

/// A stall signature that appeared, went, or takes more time.
public struct SignatureChange: Sendable, Equatable, Encodable {
  public enum Kind: String, Sendable, Encodable { case new, gone, worse }

  public var signature: String
  public var title: String
  public var kind: Kind
  /// Time in such stalls a run.
  public var base: Nanoseconds
  public var head: Nanoseconds
}

/// The comparison of two groups of runs.
public struct RunComparison: Sendable, Equatable, Encodable {
  /// The format's name, for files.
  public var schema = "perfwatch.comparison/1"
  public var baseRuns: Int
  public var headRuns: Int
  public var method: String
  public var result: MetricChange.Result
  public var metrics: [MetricChange]
  public var signatures: [SignatureChange]
  /// Why signatures were not compared; nil when they were.
  public var signaturesMissing: String?
  /// Whether more runs may give another result: a change beyond the gates is not told from noise yet.
  public var undecided: Bool

  /// - Parameters: summaries of runs of the same thing before and after a change; each group has one.
  public init(base: [Summary], head: [Summary], gates: ComparisonGates) {
    baseRuns = base.count
    headRuns = head.count
    let isTested = Self.isTested(base.count, head.count, gates)
    method =
      isTested
      ? "medians; Mann-Whitney U, two-sided, exact for small groups, p <= "
        + Units.fixed(gates.significance, decimals: gates.significance < 0.005 ? 5 : 3)
      : base.count == 1 && head.count == 1
        ? "one run each: by the gates and the values' own errors; repeat the runs for confidence"
        : "medians; a change counts when all runs of one group lie beyond those of the other"
    let compared = MetricCatalog.all.filter {
      gates.metrics?.contains($0.key) ?? ($0.floor != nil)
    }
    var isNoisy = false
    metrics = compared.compactMap {
      Self.change(
        $0, base, head, gates, isTested: isTested, isChosen: gates.metrics != nil, &isNoisy)
    }
    signatures = []
    result = .same
    undecided = false
    compareSignatures(base, head, gates)
    let results = metrics.map(\.result)
    if results.contains(.worse) || signatures.contains(where: { $0.kind != .gone }) {
      result = .worse
    } else if results.contains(.indeterminate) {
      result = .indeterminate
    } else if results.contains(.better) || !signatures.isEmpty {
      result = .better
    }
    undecided = isTested ? isNoisy && result == .indeterminate : isNoisy || result != .same
  }

  /// Whether there are enough runs for the test to find anything at all.
  static func isTested(_ base: Int, _ head: Int, _ gates: ComparisonGates) -> Bool {
    smallestProbability(base, head) <= gates.significance
  }

  /// The probability of groups that do not overlap at all.
  private static func smallestProbability(_ left: Int, _ right: Int) -> Double {
    guard left > 0, right > 0 else { return 1 }
    // 2 of all ways to choose `left` of all.
    var ways = 1.0
    for step in 1...left { ways *= Double(right + step) / Double(step) }
    return min(1, 2 / ways)
  }

  private static func change(
    _ metric: Metric, _ base: [Summary], _ head: [Summary], _ gates: ComparisonGates,
    isTested: Bool, isChosen: Bool, _ isNoisy: inout Bool
  ) -> MetricChange? {
    var scope = MetricScope.whole
    scope.countsEnvironment = false
    scope.window = metric.window
    let before = base.map { metric.measure($0, scope) }
    let after = head.map { metric.measure($0, scope) }
    let (left, right) = (known(before), known(after))
    var row = MetricChange(
      metric: metric.key, unit: metric.unit.rawValue, base: RunStatistics.median(left),
      head: RunStatistics.median(right),
      relative: nil, probability: nil, result: .same, why: nil)
    guard let old = row.base, let new = row.head else {
      // Neither side has it: nothing to compare, unless it was asked for.
      if left.isEmpty && right.isEmpty && !isChosen { return nil }
      row.result = .indeterminate
      row.why = left.isEmpty ? "not measured in the base" : "not measured in the head"
      return row
    }
    let change = new - old
    if old != 0 { row.relative = change / abs(old) }
    if isTested { row.probability = MannWhitney.probability(left, right) }
    let gate = max(abs(old) * gates.relative, metric.floor ?? 0)
    guard abs(change) > gate else { return row }
    let isWorse = metric.better == .higher ? change < 0 : change > 0
    if let reason = doubt(before + after, change) {
      row.result = .indeterminate
      row.why = reason
    } else if let reason = noise(left, right, row.probability, gates) {
      row.result = .indeterminate
      row.why = reason
      isNoisy = true
    } else {
      row.result = metric.better == .none ? .same : isWorse ? .worse : .better
    }
    return row
  }

  /// The values, or none where most runs have none: what a run sees by chance is no basis.
  private static func known(_ all: [Measurement]) -> [Double] {
    let values = all.compactMap(\.value)
    return values.count * 2 > all.count ? values : []
  }

  /// Why the values themselves prove nothing; nil when they do. More runs do not change it.
  private static func doubt(_ all: [Measurement], _ change: Double) -> String? {
    if let doubt = all.compactMap(\.doubt).first { return doubt }
    let error = all.map(\.error).max() ?? 0
    return abs(change) <= error ? "the change is within the values' own error" : nil
  }

  /// Why a change may be noise; nil when it is more.
  private static func noise(
    _ left: [Double], _ right: [Double], _ probability: Double?, _ gates: ComparisonGates
  ) -> String? {
    if let probability {
      return probability <= gates.significance
        ? nil : "not beyond noise (p = \(Units.fixed(probability, decimals: 3)))"
    }
    // Neither group is empty here.
    let isApart =
      (left.max() ?? 0) < (right.min() ?? 0) || (right.max() ?? 0) < (left.min() ?? 0)
    return isApart ? nil : "the runs of both groups overlap"
  }

  private mutating func compareSignatures(
    _ base: [Summary], _ head: [Summary], _ gates: ComparisonGates
  ) {
    let all = base + head
    if all.contains(where: { !$0.stalls.isEmpty && $0.groups.isEmpty }) {
      signaturesMissing = "not all runs have grouped their stalls"
      return
    }
    let floor = Nanoseconds.milliseconds(20)
    var names: [(signature: String, title: String)] = []
    for group in all.flatMap(\.groups)
    where !names.contains(where: { $0.signature == group.signature }) {
      names.append((group.signature, group.title))
    }
    for name in names {
      func times(_ runs: [Summary]) -> [Double] {
        runs.map { run in
          Double(run.groups.first { $0.signature == name.signature }?.total.rawValue ?? 0)
        }
      }
      let (left, right) = (times(base), times(head))
      let (old, new) = (RunStatistics.median(left) ?? 0, RunStatistics.median(right) ?? 0)
      let kind: SignatureChange.Kind
      let isApart = (left.max() ?? 0) < (right.min() ?? 0)
      if left.allSatisfy({ $0 == 0 }), new > 0 {
        kind = .new
      } else if right.allSatisfy({ $0 == 0 }), old > 0 {
        kind = .gone
      } else if isApart, new - old > max(old * gates.relative, Double(floor.rawValue)) {
        kind = .worse
      } else {
        continue
      }
      signatures.append(
        SignatureChange(
          signature: name.signature, title: name.title, kind: kind,
          base: Nanoseconds(Int64(old)), head: Nanoseconds(Int64(new))))
    }
  }
}

/// Budgets made from earlier runs.
public enum Baseline {
  /// A rule for each metric that the catalogue gives a floor and that the runs have: at most their
  /// median, `relative` more, or the floor more, whichever is larger.
  public static func rules(_ runs: [Summary], relative: Double) -> [BudgetRule] {
    MetricCatalog.all.compactMap { metric in
      guard let floor = metric.floor, metric.better == .lower else { return nil }
      var scope = MetricScope.whole
      scope.countsEnvironment = false
      guard
        let value = RunStatistics.median(runs.compactMap { metric.measure($0, scope).value })
      else { return nil }
      let limit = value + max(abs(value) * relative, floor)
      return BudgetRule(
        name: "baseline", metric: metric.key, comparison: .atMost, limit: limit,
        limitText: metric.unit.text(limit))
    }
  }
}
