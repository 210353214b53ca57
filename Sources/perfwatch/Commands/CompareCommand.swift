// `perfwatch compare`: runs before and after a change.

internal import ProbeCore

enum CompareCommand {
  static func run(_ request: CompareRequest) -> Int32 {
    if request.isOfCommands { return CompareRuns.run(request) }
    do throws(WatchError) {
      SignalMask.blockAll()
      let base = try summaries(request.base)
      let head = try summaries(request.head)
      let comparison = RunComparison(base: base, head: head, gates: request.gates)
      let bytes = try bytes(comparison, request, Console.style(1, request.color))
      guard Console.out(bytes) else { return ExitCode.unreadableInput }
      return code(comparison.result, request.indeterminate)
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }

  /// What is printed.
  static func bytes(
    _ comparison: RunComparison, _ request: CompareRequest, _ style: TextStyle
  ) throws(WatchError) -> [UInt8] {
    if request.isJSON { return try Console.json(comparison) }
    return Array(ComparisonText.render(comparison, style: style).utf8)
  }

  static func code(_ result: MetricChange.Result, _ policy: IndeterminatePolicy) -> Int32 {
    switch result {
    case .same, .better: ExitCode.success
    case .worse: ExitCode.badVerdict
    case .indeterminate: policy == .fail ? ExitCode.badVerdict : ExitCode.success
    }
  }

  /// Summaries of a name: one file, or several with commas between; each run of a file counts.
  static func summaries(_ names: String) throws(WatchError) -> [Summary] {
    if WorkingFolder.isFile(names) { return try Replay.summaryOrRecording(names).allRuns }
    var summaries: [Summary] = []
    for name in names.split(separator: ",") {
      summaries += try Replay.summaryOrRecording(String(name)).allRuns
    }
    guard !summaries.isEmpty else {
      throw WatchError("no file is named by '\(SafeText.terminal(names))'")
    }
    return summaries
  }
}
