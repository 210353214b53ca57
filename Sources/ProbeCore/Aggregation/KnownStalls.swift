// What earlier runs tell of stalls: which kinds of them are no news.

/// The stall signatures of a baseline.
public struct KnownStalls: Sendable, Equatable {
  public var signatures: Set<String>
  /// Why they say nothing; nil when they do. One clause.
  public var doubt: String?

  /// - Parameter runs: of the same program, earlier; what one of them has seen is known.
  public init(_ runs: [Summary]) {
    signatures = []
    for run in runs {
      for stall in run.stalls {
        if let signature = stall.signature { signatures.insert(signature) }
      }
    }
    if runs.contains(where: { $0.stalls.contains { $0.signature == nil } }) {
      doubt = "stalls of the baseline have no signature"
    } else if !runs.contains(where: { $0.stallTotals.count != nil }) {
      doubt = "stalls were not judged in the baseline"
    }
  }
}
