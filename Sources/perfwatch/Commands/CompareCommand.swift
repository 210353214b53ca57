// `perfwatch compare`: runs before and after a change.

internal import ProbeCore

enum CompareCommand {
  static func run(_ request: CompareRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      let base = try summaries(request.base)
      let head = try summaries(request.head)
      let comparison = RunComparison(base: base, head: head, gates: request.gates)
      if request.isJSON {
        do {
          Terminal.write(1, try OrderedJSONEncoder().encode(comparison))
        } catch {
          throw WatchError("cannot write the comparison: \(SafeText.terminal("\(error)"))")
        }
      } else {
        Console.out(ComparisonText.render(comparison, style: Console.style(1, request.color)))
      }
      switch comparison.result {
      case .same, .better: return ExitCode.success
      case .worse: return ExitCode.badVerdict
      case .indeterminate:
        return request.indeterminate == .fail ? ExitCode.badVerdict : ExitCode.success
      }
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }

  /// Summaries of a name: one file, or several with commas between.
  static func summaries(_ names: String) throws(WatchError) -> [Summary] {
    if WorkingFolder.isFile(names) { return [try Replay.summaryOrRecording(names)] }
    var summaries: [Summary] = []
    for name in names.split(separator: ",") {
      summaries.append(try Replay.summaryOrRecording(String(name)))
    }
    guard !summaries.isEmpty else {
      throw WatchError("no file is named by '\(SafeText.terminal(names))'")
    }
    return summaries
  }
}
