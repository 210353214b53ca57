// The options about several runs of one command; part of `OptionTable`.

internal import ProbeCore

extension OptionTable {
  static let repeats: [OptionSpec] = [
    OptionSpec(
      short: nil, long: "base", value: .text("COMMAND"), commands: [.compare], group: .repeats,
      help: "run this shell command as the base, instead of reading BASE"
    ) { bag, text throws(ValueProblem) in bag.baseCommand = try Values.shellCommand(text) },
    OptionSpec(
      short: nil, long: "head", value: .text("COMMAND"), commands: [.compare], group: .repeats,
      help: "run this shell command as the head, instead of reading HEAD"
    ) { bag, text throws(ValueProblem) in bag.headCommand = try Values.shellCommand(text) },
    OptionSpec(
      short: "n", long: "runs", value: .text("N"), commands: [.run, .compare], group: .repeats,
      help: "run it N times, one after the other (run: 1, compare: 5 of each)"
    ) { bag, text throws(ValueProblem) in
      bag.watch.repeats.runs = try Values.count(text, from: 1)
    },
    OptionSpec(
      short: nil, long: "warmup", value: .text("N"), commands: [.run, .compare], group: .repeats,
      help: "run it N times before, which does not count (run: 0, compare: 1 of each)"
    ) { bag, text throws(ValueProblem) in
      bag.watch.repeats.warmup = try Values.count(text, from: 0)
    },
    OptionSpec(
      short: nil, long: "max-rounds", value: .text("N"), commands: [.compare], group: .repeats,
      help: "at most N runs of each (default 4 times --runs)"
    ) { bag, text throws(ValueProblem) in
      bag.watch.repeats.maxRounds = try Values.count(text, from: 1)
    },
    OptionSpec(
      short: nil, long: "show-output", value: .none, commands: [.compare], group: .repeats,
      help: "send what the commands write to stdout to stderr"
    ) { bag, _ in bag.showsOutput = true },
    OptionSpec(
      short: nil, long: "judge", value: .choice("WHICH", RunJudge.allCases.map(\.rawValue)),
      commands: [.run, .check], group: .repeats,
      help: "what budgets are judged on when there are several runs (default median)"
    ) { bag, text throws(ValueProblem) in bag.watch.budget.judge = try Values.choice(text) },
  ]

  /// Options that `compare` knows only with `--base` and `--head`.
  static let ofCommands: Set<String> = [
    "runs", "warmup", "max-rounds", "show-output", "interval", "rate", "children",
    "stall-threshold", "observer", "watch-thread", "watch", "no-stacks", "no-causes", "in-app",
    "no-stalls",
    "timeout", "kill-after", "progress",
  ]
}

extension Values {
  /// Chosen: more runs than that are a mistake.
  private static let mostRuns = 1000

  static func count(_ text: String, from least: Int) throws(ValueProblem) -> Int {
    guard let number = Int(text), number >= least, number <= mostRuns, text.first != "+" else {
      throw ValueProblem(why: "'\(text)' is not a number from \(least) to \(mostRuns)")
    }
    return number
  }

  static func shellCommand(_ text: String) throws(ValueProblem) -> String {
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw ValueProblem(why: "the command is empty")
    }
    return text
  }
}
