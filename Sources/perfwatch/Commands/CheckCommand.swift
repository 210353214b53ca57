// `perfwatch check`: budgets on a run that is over.

internal import ProbeCore

enum CheckCommand {
  static func run(_ request: CheckRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      var budget = request.budget
      // Which runs of a history to judge by depends on the program.
      let early = request.baseline.branch == nil ? nil : try Replay.summaryOrRecording(request.file)
      try request.baseline.apply(
        to: &budget, history: request.output.historyPath, program: early?.programName ?? "")
      guard !budget.rules.isEmpty else {
        throw WatchError("no budget to judge by; give --budget RULE")
      }
      let outputs = try Outputs(request.output, defaultDescriptor: 1, text: .verdict)
      var summary: Summary
      if let early {
        summary = early
      } else {
        summary = try Replay.summaryOrRecording(request.file)
      }
      summary = Judge.judged(summary, budget)
      if let known = budget.scope.knownStalls, summary.repeats == nil {
        summary.metrics = MetricCatalog.values(of: summary, known: known)
      }
      let failures = outputs.write(summary)
      for failure in failures { Console.fail(failure) }
      if !failures.isEmpty { return ExitCode.unreadableInput }
      return code(summary.verdict.result, budget.indeterminate)
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }

  private static func code(_ result: VerdictResult, _ policy: IndeterminatePolicy) -> Int32 {
    switch result {
    case .pass, .none: ExitCode.success
    case .fail: ExitCode.badVerdict
    // Never counted as a pass unless the user wants it so.
    case .indeterminate: policy == .pass ? ExitCode.success : ExitCode.badVerdict
    }
  }
}

extension BaselineOptions {
  /// Adds the budgets of the baseline and the stalls that it knows; nothing without one.
  ///
  /// - Parameters:
  ///   - history: the file that `history:BRANCH` is about.
  ///   - program: as `Summary.programName` has it.
  func apply(
    to budget: inout BudgetSettings, history: String?, program: String
  ) throws(WatchError) {
    guard let path else { return }
    let runs: [Summary]
    if let branch, let history {
      runs = try HistoryStore(history).baseline(branch: branch, program: program)
    } else {
      runs = try CompareCommand.summaries(path)
    }
    budget.rules += Baseline.rules(runs, relative: regression)
    budget.scope.knownStalls = KnownStalls(runs)
  }
}
