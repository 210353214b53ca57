// `perfwatch compare --base 'CMD' --head 'CMD'`: both run in turn on this machine, then compared.

internal import ProbeCore

/// Two commands and their runs so far.
struct CompareRuns {
  /// What ended it without a comparison.
  enum Failure: Error {
    case told(WatchError)
    case signal(Int32)
  }

  private let request: CompareRequest
  private let inherited: InheritedState
  private let output: OutputSwitch
  private let configuration: WatchConfiguration
  private let options: WatchOptions
  private let texts: [Side: String]
  private var runs: [Side: [Summary]] = [.base: [], .head: []]

  /// Whoever runs commands prepares like `run`; nothing may have been opened before.
  init(_ request: CompareRequest) throws {
    self.request = request
    inherited = try InheritedState.capture()
    SignalMask.blockAll()
    ResourceLimit.useOneHeap()
    _ = ResourceLimit.raiseFileLimit()
    var options = request.options
    let own: [Side: String?] = [
      .base: ShellText.replacingShell(request.base), .head: ShellText.replacingShell(request.head),
    ]
    if let base = own[.base] ?? nil, let head = own[.head] ?? nil {
      texts = [.base: base, .head: head]
    } else {
      // One of them stays a shell with children: both are measured alike, as trees.
      texts = [.base: request.base, .head: request.head]
      options.followsChildren = true
    }
    self.options = options
    configuration = try options.configuration()
    output = try OutputSwitch(toError: request.showsOutput)
  }

  /// Whether the commands are watched with all their descendants, though nobody asked for it.
  private var areTrees: Bool { options.followsChildren && !request.options.followsChildren }

  /// Runs both until they are told apart or the rounds are used up.
  mutating func comparison() throws -> RunComparison {
    let count = request.options.repeats.runs ?? 5
    let warmup = request.options.repeats.warmup ?? 1
    var rounds = Rounds(count: count, limit: request.options.repeats.maxRounds ?? 4 * count)
    var gates = request.gates
    // The shell's own figures say nothing.
    if areTrees, gates.metrics == nil {
      gates.metrics = ["tree.cpu.seconds", "tree.footprint.peak"]
    }
    for round in 0..<warmup {
      for side in Rounds.order(round) {
        _ = try run(side, "\(side.rawValue), warm-up \(round + 1) of \(warmup)")
      }
    }
    var done = 0
    var comparison = RunComparison(base: [], head: [], gates: gates)
    while let next = rounds.next(after: done) {
      for round in done..<next {
        let of = round < count ? "of \(count)" : "(more runs may tell; at most \(rounds.limit))"
        for side in Rounds.order(round) {
          let summary = try run(side, "\(side.rawValue), run \(round + 1) \(of)")
          runs[side, default: []].append(summary)
        }
      }
      done = next
      comparison = rounds.compare(base: runs[.base] ?? [], head: runs[.head] ?? [], gates)
      if !comparison.undecided { break }
    }
    return comparison
  }

  private func run(_ side: Side, _ name: String) throws -> Summary {
    if let signal = SignalChannel.pendingEnd { throw Failure.signal(signal) }
    let words = ["/bin/sh", "-c", texts[side] ?? ""]
    let launch = LaunchRequest(command: words.map { Array($0.utf8) }, inherited: inherited)
    let shown = [side == .base ? "--base" : "--head"]
    let result = try Round.run(launch, shown, options, configuration, name: name)
    if let signal = result.end.interruption { throw Failure.signal(signal) }
    guard result.hasFailed else { return result.summary }
    var what: String
    switch result.end.status {
    case .code(127): what = "the shell did not find it (127)"
    case .code(let code): what = "it ended with \(code)"
    case .signal(let signal): what = "it was killed by signal \(signal)"
    case nil: what = "how it ended is not known"
    }
    if result.end.isTimedOut { what = "it did not end within --timeout" }
    throw Failure.told(
      WatchError(
        "the command of --\(side.rawValue) failed (\(name)): \(what); nothing was compared"))
  }

  /// Writes the result to where stdout was.
  func write(_ bytes: [UInt8]) -> Bool { Console.out(bytes, to: output.raw) }

  /// The style of text there.
  func style(_ color: ColorChoice) -> TextStyle { Console.style(output.raw, color) }
}

extension CompareRuns {
  /// - Returns: the exit code.
  static func run(_ request: CompareRequest) -> Int32 {
    do {
      var runs = try CompareRuns(request)
      let comparison = try runs.comparison()
      let bytes = try CompareCommand.bytes(comparison, request, runs.style(request.color))
      guard runs.write(bytes) else { return ExitCode.unreadableInput }
      return CompareCommand.code(comparison.result, request.indeterminate)
    } catch let Failure.signal(signal) {
      Console.fail("interrupted; nothing was compared")
      endBySignal(signal)
      return 128 + signal
    } catch let Failure.told(error) {
      Console.fail(error.message)
    } catch let error as WatchError {
      Console.fail(error.message)
    } catch let error as LaunchError {
      Console.fail(error.message)
    } catch let error as SystemError {
      Console.fail("cannot prepare the runs: \(error.call): \(error.reason)")
    } catch {
      Console.fail("\(SafeText.terminal("\(error)"))")
    }
    return ExitCode.unreadableInput
  }
}
