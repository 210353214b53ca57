// Several runs of one command in one summary: each run whole, and the numbers that stand for all.

extension Summary {
  /// The runs of `perfwatch run --runs N`. The keys beside it are those of one of them, `shown`;
  /// `metrics` and `verdict` are about all.
  public struct Repeats: Sendable, Equatable, Codable {
    /// Why there are fewer runs than were planned.
    public enum End: String, Sendable, Codable, CaseIterable {
      /// The program failed, or we ended it: the last run says how.
      case failure
      /// A signal that asks for an end came to perfwatch.
      case interrupt
    }

    /// A metric over the runs; each value nil where it was not measured.
    public struct Statistics: Sendable, Equatable, Codable {
      /// A key of `metrics`.
      public var metric: String
      public var unit: String
      public var median: Double?
      /// Half of the values are this close to the median (MAD).
      public var deviation: Double?
      public var min: Double?
      public var max: Double?
      /// One for each run, in their order.
      public var values: [Double?]
    }

    /// How many runs were asked for.
    public var planned: Int
    /// Runs before these that do not count.
    public var warmup: Int
    /// What budgets are judged on: `median` or `worst`.
    public var judge: String
    /// Which of `runs`, from 1, the summary's other keys are of.
    public var shown: Int
    public var endedBy: End?
    /// In the order of the catalogue.
    public var statistics: [Statistics]
    /// Ordinary summaries, in the order of the runs.
    public var runs: [Summary]
  }

  /// The runs that a file holds: those of `repeats`, or itself.
  public var allRuns: [Summary] {
    guard let runs = repeats?.runs, !runs.isEmpty else { return [self] }
    return runs
  }
}
