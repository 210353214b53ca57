// The plan of an A/B comparison: in which order the two commands run, and when there are enough runs.

/// Which command of an A/B comparison.
public enum Side: String, Sendable, CaseIterable {
  case base, head
}

/// Rounds of one run each, until the comparison is decided or the user's limit is reached.
public struct Rounds: Sendable, Equatable {
  /// Rounds before the first comparison.
  public var count: Int
  /// No more than this many.
  public var limit: Int
  private var tests = 0

  public init(count: Int, limit: Int) {
    self.count = count
    self.limit = max(count, limit)
  }

  /// The order in a round, from 0: ABBA, so that a machine that gets slower or warmer with time is as
  /// bad for one as for the other.
  public static func order(_ round: Int) -> [Side] {
    round % 2 == 0 ? [.base, .head] : [.head, .base]
  }

  /// How many rounds there are when the runs are compared next, after `done`; nil when it is over.
  public func next(after done: Int) -> Int? {
    if done < count { return count }
    if done >= limit { return nil }
    // Chosen: half as many again are a look worth its time.
    return min(limit, done + max(1, (count + 1) / 2))
  }

  /// The comparison of what has been run so far; call it once for each look.
  ///
  /// Who looks often enough finds chance: the n-th test has to pass `significance / n^2`, which are
  /// together never more than 1.65 times the first.
  public mutating func compare(
    base: [Summary], head: [Summary], _ gates: ComparisonGates
  ) -> RunComparison {
    var gates = gates
    if RunComparison.isTested(base.count, head.count, gates) {
      tests += 1
      gates.significance /= Double(tests * tests)
    }
    return RunComparison(base: base, head: head, gates: gates)
  }
}
