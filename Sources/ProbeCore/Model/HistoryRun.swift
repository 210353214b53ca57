// One run in a history file: where it comes from and what it measured.

/// Where a run's code comes from, and what the user says about it.
public struct RunOrigin: Sendable, Equatable {
  /// Hexadecimal; nil where it is not known.
  public var commit: String?
  /// nil outside of a branch.
  public var branch: String?
  /// Sorted by key.
  public var labels: [(key: String, value: String)]

  public init(
    commit: String? = nil, branch: String? = nil, labels: [(key: String, value: String)] = []
  ) {
    self.commit = commit
    self.branch = branch
    self.labels = labels.sorted { $0.key < $1.key }
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.commit == right.commit && left.branch == right.branch
      && left.labels.elementsEqual(right.labels) { $0 == $1 }
  }
}

/// A run as a history file keeps it, without its summary.
public struct HistoryRun: Sendable, Equatable {
  /// Tells runs apart; the same run, appended again, has it again.
  public var identity: String
  /// ISO 8601 with milliseconds, UTC.
  public var startedAt: String
  public var origin: RunOrigin
  /// The last part of the program's path.
  public var program: String
  /// The program failed, or the watching ended before it did: its numbers are not those of a whole run.
  public var hasFailed: Bool
  public var verdict: VerdictResult
  /// In the metrics' units; what was not measured is not there.
  public var metrics: [String: Double]

  public init(
    identity: String, startedAt: String, origin: RunOrigin, program: String, hasFailed: Bool,
    verdict: VerdictResult, metrics: [String: Double]
  ) {
    self.identity = identity
    self.startedAt = startedAt
    self.origin = origin
    self.program = program
    self.hasFailed = hasFailed
    self.verdict = verdict
    self.metrics = metrics
  }
}

/// Which runs of a history file are wanted.
public struct HistoryFilter: Sendable, Equatable {
  public var branch: String?
  public var program: String?
  /// All of them have to be there.
  public var labels: [(key: String, value: String)] = []
  /// Only runs to judge others by: whose program ended well and whose budgets did not fail.
  public var isBaseline = false
  /// The last so many.
  public var count = 100

  public init() {}

  public static func == (left: Self, right: Self) -> Bool {
    left.branch == right.branch && left.program == right.program
      && left.isBaseline == right.isBaseline && left.count == right.count
      && left.labels.elementsEqual(right.labels) { $0 == $1 }
  }
}
