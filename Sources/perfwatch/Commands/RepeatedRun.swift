// `perfwatch run --runs N`: the same command again and again, each run watched like the only one.

internal import ProbeCore

/// One run of several.
enum Round {
  struct Result {
    var summary: Summary
    var end: LaunchEnd
    /// It did not end with 0, or it was us who ended it.
    var hasFailed: Bool {
      if end.isTimedOut || summary.run.endedBy == .budget { return true }
      return end.status != .code(0)
    }
  }

  /// Runs the command once and watches it.
  ///
  /// - Parameter name: such as `run 2 of 5`.
  static func run(
    _ launch: LaunchRequest, _ shown: [String], _ options: WatchOptions,
    _ configuration: WatchConfiguration, name: String
  ) throws -> Result {
    var summary: Summary?
    let end: LaunchEnd
    do throws(Watch.LaunchFailure) {
      end = try Watch.launch(
        launch, command: shown, configuration: configuration, recording: nil,
        display: options.display(title: shown, round: name, isLaunched: true)
      ) { summary = $0.summary }
    } catch {
      switch error {
      case .target(let failure): throw failure
      case .ours(let failure): throw failure
      }
    }
    guard let summary else { throw WatchError("perfwatch lost its own measurements") }
    return Result(summary: summary, end: end)
  }
}

enum RepeatedRun {
  private struct Progress {
    var runs: [Summary] = []
    /// The run after which there are no more; a warm-up run stands alone.
    var last: Round.Result?
    var isWarm = true
    var signal: Int32?
    var endedBy: Summary.Repeats.End?
  }

  /// Runs, writes one summary, and ends as one run would have.
  static func run(
    _ launch: LaunchRequest, _ shown: [String], _ options: WatchOptions,
    _ configuration: WatchConfiguration, _ outputs: borrowing Outputs
  ) throws -> Int32 {
    var configuration = configuration
    // One run proves nothing about a median; under `worst` it can end them all.
    if configuration.budget?.abortsOnFail != true { configuration.budget = nil }
    let warmup = options.repeats.warmup ?? 0
    let planned = options.repeats.runs ?? 1
    let progress = try repeatRuns(
      launch, shown, options, configuration, warmup: warmup, planned: planned)
    let budget = options.judgedBy ?? options.budget
    var summary = RepeatedRuns.summary(
      progress.runs, planned: planned, warmup: warmup, endedBy: progress.endedBy, budget)
    if summary == nil, let alone = progress.last?.summary {
      summary = Judge.judged(alone, budget)
      Console.fail("a warm-up run was the last; no run was made that counts")
    }
    guard var summary else {
      // A signal came before anything ran.
      if let signal = progress.signal { endBySignal(signal) }
      return ExitCode.failure
    }
    summary.exit.perfwatch = code(summary, progress, budget, failed: false)
    let failures = outputs.write(summary)
    for failure in failures { Console.fail(failure) }
    if progress.endedBy == .interrupt, let signal = progress.signal { endBySignal(signal) }
    if case .signal(let signal) = progress.last?.end.status, progress.endedBy == .failure,
      progress.last?.end.isTimedOut == false, summary.run.endedBy != .budget
    {
      endBySignal(signal)
    }
    return code(summary, progress, budget, failed: !failures.isEmpty)
  }

  private static func repeatRuns(
    _ launch: LaunchRequest, _ shown: [String], _ options: WatchOptions,
    _ configuration: WatchConfiguration, warmup: Int, planned: Int
  ) throws -> Progress {
    var progress = Progress()
    for number in 1...(warmup + planned) {
      progress.signal = progress.signal ?? SignalChannel.pendingEnd
      if progress.signal != nil {
        progress.endedBy = .interrupt
        break
      }
      progress.isWarm = number <= warmup
      let name =
        progress.isWarm
        ? "warm-up \(number) of \(warmup)" : "run \(number - warmup) of \(planned)"
      let result = try Round.run(launch, shown, options, configuration, name: name)
      progress.last = result
      progress.signal = result.end.interruption
      if !progress.isWarm { progress.runs.append(result.summary) }
      if result.hasFailed {
        progress.endedBy = .failure
        break
      }
    }
    return progress
  }

  /// As for one run: the target's own result first, and that is the one of the run that failed.
  private static func code(
    _ summary: Summary, _ progress: Progress, _ budget: BudgetSettings, failed: Bool
  ) -> Int32 {
    if progress.endedBy == .interrupt, let signal = progress.signal { return 128 + signal }
    if progress.last?.end.isTimedOut == true { return ExitCode.timeout }
    var summary = summary
    // With a duration the watch was over before the target was.
    if case .code(let code) = progress.last?.end.status { summary.exit.code = code }
    if case .signal(let signal) = progress.last?.end.status { summary.exit.signal = signal }
    return ExitCode.of(summary, failed: failed, budget: budget) ?? ExitCode.failure
  }
}
