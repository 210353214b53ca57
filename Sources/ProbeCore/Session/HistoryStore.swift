// History files as the commands use them: summaries in, trends and baselines out.

/// A history file by its name; nothing stays open between calls.
public struct HistoryStore: Sendable, Equatable {
  /// How many runs a baseline is made of. Chosen: enough for a median that one bad day does not move.
  public static let baselineRuns = 20

  public var path: String

  public init(_ path: String) { self.path = path }

  /// Makes the file if it is not there, so that a name that cannot be written fails now.
  public func prepare() throws(WatchError) {
    do throws(DatabaseError) {
      _ = try HistoryFile(writing: path)
    } catch {
      throw writing(error)
    }
  }

  /// Appends the runs of a summary, all or none.
  public func append(_ summary: Summary, origin: RunOrigin) throws(WatchError) {
    do throws(DatabaseError) {
      var runs: [(HistoryRun, [UInt8])] = []
      for run in summary.allRuns {
        let entry = HistoryRun(run, origin: origin, verdict: summary.verdict.result)
        // A summary always encodes: its numbers are finite.
        let text = (try? OrderedJSONEncoder(isIndented: false).encode(run.forHistory)) ?? []
        runs.append((entry, text))
      }
      try HistoryFile(writing: path).append(runs)
    } catch {
      throw writing(error)
    }
  }

  /// Runs that the filter lets through, oldest first; at least one.
  public func runs(_ filter: HistoryFilter) throws(WatchError) -> [HistoryRun] {
    let runs: [HistoryRun]
    do throws(DatabaseError) {
      runs = try HistoryFile(reading: path).runs(filter)
    } catch {
      throw reading(error)
    }
    guard !runs.isEmpty else { throw WatchError("\(shown) holds \(Self.missing(filter))") }
    return runs
  }

  /// The last runs of a branch that ended well, to judge by; at least one.
  public func baseline(branch: String, program: String) throws(WatchError) -> [Summary] {
    var filter = HistoryFilter()
    filter.branch = branch
    filter.program = program
    filter.isBaseline = true
    filter.count = Self.baselineRuns
    let texts: [[UInt8]]
    do throws(DatabaseError) {
      texts = try HistoryFile(reading: path).summaries(filter)
    } catch {
      throw reading(error)
    }
    guard !texts.isEmpty else {
      throw WatchError(
        "\(shown) holds \(Self.missing(filter)) to judge by; record some first, with --history and "
          + "without --baseline")
    }
    var summaries: [Summary] = []
    for text in texts {
      do {
        summaries.append(try SummaryReader.read(text))
      } catch {
        throw WatchError("cannot read \(shown): \(error.message)")
      }
    }
    return summaries
  }

  private static func missing(_ filter: HistoryFilter) -> String {
    var text = filter.isBaseline ? "no good run" : "no run"
    if let program = filter.program { text += " of \(SafeText.terminal(program))" }
    if let branch = filter.branch { text += " on branch '\(SafeText.terminal(branch))'" }
    for (key, value) in filter.labels {
      text += " with \(SafeText.terminal(key))=\(SafeText.terminal(value))"
    }
    return text
  }

  private var shown: String { SafeText.terminal(path) }

  private func writing(_ error: DatabaseError) -> WatchError {
    WatchError("cannot write the history \(shown): \(error.reason)")
  }

  private func reading(_ error: DatabaseError) -> WatchError {
    WatchError("cannot read the history \(shown): \(error.reason)")
  }
}
