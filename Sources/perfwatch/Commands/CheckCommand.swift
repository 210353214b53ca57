// `perfwatch check`: budgets on a run that is over.

internal import ProbeCore

enum CheckCommand {
  static func run(_ request: CheckRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      var budget = request.budget
      try request.baseline.apply(to: &budget)
      guard !budget.rules.isEmpty else {
        throw WatchError("no budget to judge by; give --budget RULE")
      }
      let outputs = try Outputs(request.output, defaultDescriptor: 1, text: .verdict)
      var summary = try Replay.summaryOrRecording(request.file)
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
  func apply(to budget: inout BudgetSettings) throws(WatchError) {
    guard let path else { return }
    let runs = try CompareCommand.summaries(path)
    budget.rules += Baseline.rules(runs, relative: regression)
    budget.scope.knownStalls = KnownStalls(runs)
  }
}
