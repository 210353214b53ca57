// `perfwatch run`: launch a command, watch it, end as it ended.

internal import ProbeCore

enum RunCommand {
  static func run(_ request: RunRequest) -> Int32 {
    do {
      // Before anything is opened or changed: the target inherits this state.
      let inherited = try InheritedState.capture()
      SignalMask.blockAll()
      ResourceLimit.useOneHeap()
      _ = ResourceLimit.raiseFileLimit()
      var options = request.options
      try options.baseline.apply(
        to: &options.budget, history: options.output.historyPath,
        program: Summary.programName(request.command))
      let outputs = try Outputs(options.output, defaultDescriptor: 2)
      let configuration = try options.configuration()
      let recording = try Recording.open(request.options.recordPath)
      let words = try OwnArguments.raw()
      let launch = LaunchRequest(
        command: Array(words.dropFirst(request.firstWord + 1)), inherited: inherited)
      let command = request.command
      let shown = request.options.showsCommand ? command : Redaction.redact(command)
      if options.repeats.isRepeated {
        return try RepeatedRun.run(launch, shown, options, configuration, outputs)
      }
      return finish(
        try watch(launch, shown, options, configuration, recording, outputs), options.budget)
    } catch let error as LaunchError {
      Console.fail(error.message)
      return error.kind.exitCode
    } catch let error as WatchError {
      Console.fail(error.message)
    } catch let error as SystemError {
      Console.fail("cannot prepare the launch: \(error.call): \(error.reason)")
    } catch {
      Console.fail("\(error)")
    }
    return ExitCode.failure
  }

  struct Ending {
    var status: ExitStatus?
    var isTimedOut = false
    var summary: Summary?
    var failed = false
  }

  private static func watch(
    _ launch: LaunchRequest, _ shown: [String], _ options: WatchOptions,
    _ configuration: WatchConfiguration, _ recording: consuming OutputFile?,
    _ outputs: borrowing Outputs
  ) throws -> Ending {
    var ending = Ending()
    do throws(Watch.LaunchFailure) {
      let end = try Watch.launch(
        launch, command: shown, configuration: configuration, recording: recording,
        display: options.display(title: shown, isLaunched: true)
      ) { result in
        let failures = outputs.write(result.summary) + [result.outputFailure].compactMap { $0 }
        for failure in failures { Console.fail(failure) }
        ending.summary = result.summary
        ending.failed = !failures.isEmpty
      }
      (ending.status, ending.isTimedOut) = (end.status, end.isTimedOut)
    } catch {
      switch error {
      case .target(let failure): throw failure
      case .ours(let failure): throw failure
      }
    }
    return ending
  }

  /// The target's own end comes first; see `ExitCode`.
  static func finish(_ ending: Ending, _ budget: BudgetSettings) -> Int32 {
    guard var summary = ending.summary else { return ExitCode.failure }
    // With a duration the watch was over before the time-out was.
    if ending.isTimedOut { return ExitCode.timeout }
    // A target that we ended did not end by a signal of its own.
    if summary.run.endedBy == .budget {
      return ExitCode.of(summary, failed: ending.failed, budget: budget) ?? ExitCode.failure
    }
    if case .signal(let signal) = ending.status {
      endBySignal(signal)
      return 128 + signal
    }
    if case .code(let code) = ending.status { summary.exit.code = code }
    return ExitCode.of(summary, failed: ending.failed, budget: budget) ?? ExitCode.failure
  }
}

/// The recording file.
enum Recording {
  static func open(_ path: String?) throws(WatchError) -> OutputFile? {
    guard let path else { return nil }
    return try Outputs.open(path)
  }
}

extension OutputOptions {
  /// Stalls that do not count.
  func ignored() throws(WatchError) -> IgnoredStalls {
    try IgnoredStalls(ignoredStalls, files: ignoreFiles)
  }
}

extension WatchOptions {
  /// The budgets with what only the watch knows; nil without any.
  var judgedBy: BudgetSettings? {
    guard !budget.rules.isEmpty else { return nil }
    var budget = budget
    budget.scope.stallThreshold = stalls.threshold
    return budget
  }

  /// - Throws: where a file that it names cannot be read.
  func configuration() throws(WatchError) -> WatchConfiguration {
    var configuration = WatchConfiguration(build: BuildInfo.current)
    configuration.period = interval
    configuration.stalls = watchesStalls ? stalls : nil
    configuration.stalls?.takesWaitStacks =
      output.showsAllWaits || output.exports.contains { $0.format == "folded-waits" }
    configuration.stalls?.ignored = try output.ignored()
    configuration.budget = judgedBy
    configuration.duration = duration
    configuration.threadAlarm = threadAlarm
    configuration.timeout = timeout
    configuration.killAfter = killAfter
    configuration.followsChildren = followsChildren
    configuration.measuresProportional = measuresProportional
    return configuration
  }

  /// The live view that fits where stderr goes; nil for none.
  ///
  /// - Parameter round: which of several runs it is; empty for the only one.
  func display(title: [String], round: String = "", isLaunched: Bool) -> ProgressDisplay? {
    var situation = ProgressSituation()
    situation.choice = progress
    situation.isQuiet = output.isQuiet
    situation.isLive = isLive
    situation.isLaunched = isLaunched
    situation.isTerminal = Terminal.isTerminal(2)
    // The launched target's stdout and stderr are ours, so its stderr is where the view would go.
    situation.targetSharesTerminal = isLaunched && (Terminal.isSame(1, 2) || situation.isTerminal)
    situation.environment = Console.environment
    let mode = ProgressPolicy.mode(situation)
    if mode == .none { return nil }
    return ProgressDisplay(
      title: title.joined(separator: " "), round: round, mode: mode,
      style: Console.style(2, output.color))
  }
}
