// A budget: a limit on one metric, as the user wrote it.

/// What a failed rule means for the verdict.
public enum BudgetLevel: String, Sendable, CaseIterable {
  /// The verdict is that of these rules.
  case error
  /// Shown, and nothing else.
  case warn
}

/// How a value has to stand to its limit.
public enum Comparison: String, Sendable, CaseIterable {
  // Longer signs first: a parser takes the first that fits.
  case atMost = "<="
  case atLeast = ">="
  case equal = "=="
  case notEqual = "!="
  case below = "<"
  case above = ">"

  /// Whether the limit is one from above.
  public var isUpper: Bool { self == .below || self == .atMost }

  /// Whether the value is as the rule wants it.
  public func holds(_ value: Double, _ limit: Double) -> Bool {
    switch self {
    case .atMost: value <= limit
    case .atLeast: value >= limit
    case .equal: value == limit
    case .notEqual: value != limit
    case .below: value < limit
    case .above: value > limit
    }
  }
}

/// `[name:][warn:|error:] metric op value[/window]`.
public struct BudgetRule: Sendable, Equatable {
  /// What the user calls it; nil for no name.
  public var name: String?
  public var level = BudgetLevel.error
  /// A key of `MetricCatalog`.
  public var metric: String
  public var comparison: Comparison
  /// In the metric's unit.
  public var limit: Double
  /// The limit as it was typed.
  public var limitText: String
  /// The length of time of a metric that takes one, if the rule says one.
  public var window: Nanoseconds?

  /// The rule without its name and level, such as `stall.longest < 250ms`.
  public var text: String { "\(metric) \(comparison.rawValue) \(limitText)" }
}

/// A text that is no rule, and why; one line, safe for a terminal.
public struct RuleError: Error, Sendable, Equatable {
  public var message: String

  init(_ message: String) { self.message = SafeText.terminal(message) }
}

/// What to make of a verdict that could not be reached.
public enum IndeterminatePolicy: String, Sendable, CaseIterable {
  /// An exit code of its own.
  case report
  case fail, pass
}

/// Which value of several runs a budget is judged on.
public enum RunJudge: String, Sendable, CaseIterable {
  /// The one in the middle: half of the runs may be on the wrong side.
  case median
  /// That of the run that is worst for the rule.
  case worst
}

/// Everything that a verdict depends on beside the summary.
public struct BudgetSettings: Sendable, Equatable {
  public var rules: [BudgetRule] = []
  public var scope: MetricScope
  public var indeterminate = IndeterminatePolicy.report
  /// What perfwatch exits with when a budget failed.
  public var exitCode = ExitCode.budgetFailed
  /// End the target as soon as a rule can no longer hold.
  public var abortsOnFail = false
  /// For several runs; nil for what they were made with, and that is the median unless said.
  public var judge: RunJudge?

  public init() {
    scope = .whole
    scope.countsEnvironment = false
  }
}
