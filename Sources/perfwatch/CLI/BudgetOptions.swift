// The options about budgets; part of `OptionTable`.

internal import ProbeCore

extension OptionTable {
  private static let judges: [CommandName] = [.run, .attach, .check]

  static let budgets: [OptionSpec] = [
    OptionSpec(
      short: "b", long: "budget", value: .text("RULE"), commands: judges, group: .budgets,
      help: "fail unless the rule holds: [name:][warn:|error:] metric op value, as in "
        + "'stall.longest<250ms'; repeatable; metrics: `perfwatch metrics`"
    ) { bag, text throws(ValueProblem) in bag.watch.budget.rules.append(try Values.rule(text)) },
    OptionSpec(
      short: nil, long: "stall-budget", value: .text("TIME"), commands: judges, group: .budgets,
      help: "the same as --budget 'stall.longest<TIME'"
    ) { bag, text throws(ValueProblem) in
      bag.watch.budget.rules.append(try Values.rule("stall.longest<" + text))
    },
    OptionSpec(
      short: nil, long: "cpu-budget", value: .text("SHARE"), commands: judges, group: .budgets,
      help: "the same as --budget 'cpu.average<SHARE'"
    ) { bag, text throws(ValueProblem) in
      bag.watch.budget.rules.append(try Values.rule("cpu.average<" + text))
    },
    OptionSpec(
      short: nil, long: "grace", value: .text("TIME"), commands: judges, group: .budgets,
      help: "leave the first TIME out of what is judged (totals like cpu.seconds are whole)"
    ) { bag, text throws(ValueProblem) in bag.watch.budget.scope.grace = try Values.duration(text)
    },
    OptionSpec(
      short: nil, long: "count-environment", value: .none, commands: judges, group: .budgets,
      help: "count stall time for which the machine is to blame, too"
    ) { bag, _ in bag.watch.budget.scope.countsEnvironment = true },
    OptionSpec(
      short: nil, long: "indeterminate",
      value: .choice("HOW", IndeterminatePolicy.allCases.map(\.rawValue)),
      commands: judges + [.compare], group: .budgets,
      help: "what a verdict that could not be reached counts as"
    ) { bag, text throws(ValueProblem) in bag.watch.budget.indeterminate = try Values.choice(text)
    },
    OptionSpec(
      short: nil, long: "budget-exit-code", value: .text("N"), commands: watchers, group: .budgets,
      help: "exit with N when a budget failed (default 99)"
    ) { bag, text throws(ValueProblem) in bag.watch.budget.exitCode = try Values.exitCode(text) },
    OptionSpec(
      short: nil, long: "abort-on-fail", value: .none, commands: watchers, group: .budgets,
      help: "end the program (or the watching) as soon as a budget is broken for good"
    ) { bag, _ in bag.watch.budget.abortsOnFail = true },
    OptionSpec(
      short: nil, long: "baseline", value: .text("FILE"), commands: judges, group: .budgets,
      help:
        "fail when it is worse than the run of this summary (or of several, with commas), or than "
        + "the last runs of a branch: history:BRANCH, with --history FILE"
    ) { bag, text throws(ValueProblem) in bag.watch.baseline.path = try Values.file(text) },
    OptionSpec(
      short: nil, long: "max-regression", value: .text("SHARE"), commands: judges + [.compare],
      group: .budgets, help: "how much worse is allowed (default 5%); a small floor is always"
    ) { bag, text throws(ValueProblem) in bag.watch.baseline.regression = try Values.part(text) },
    OptionSpec(
      short: nil, long: "save-baseline", value: .file, commands: watchers, group: .budgets,
      help: "write the summary to FILE, unless a budget failed or the program did"
    ) { bag, text throws(ValueProblem) in bag.watch.output.baselinePath = try Values.file(text) },
    OptionSpec(
      short: "m", long: "metric", value: .text("KEY"), commands: [.compare, .history],
      group: .budgets,
      help: "compare (history: show) this metric, instead of the usual ones; repeatable"
    ) { bag, text throws(ValueProblem) in bag.metrics.append(try Values.metric(text)) },
    OptionSpec(
      short: nil, long: "config", value: .file, commands: judges + [.compare], group: .budgets,
      help: "read options from FILE instead of the perfwatch.json that is found"
    ) { bag, text throws(ValueProblem) in bag.configPath = try Values.file(text) },
    OptionSpec(
      short: nil, long: "print-config", value: .none, commands: [.check], group: .budgets,
      help: "print where each option's value comes from"
    ) { bag, _ in bag.printsConfig = true },
  ]
}

extension Values {
  static func rule(_ text: String) throws(ValueProblem) -> BudgetRule {
    do { return try RuleParser.rule(text) } catch { throw ValueProblem(why: error.message) }
  }

  /// A share of something, from 0 % up.
  static func part(_ text: String) throws(ValueProblem) -> Double {
    guard text.hasSuffix("%"), let number = Double(text.dropLast()), number.isFinite, number >= 0,
      text.first != "+"
    else { throw ValueProblem(why: "'\(text)' is not a share, as in 10%") }
    return number / 100
  }

  static func metric(_ text: String) throws(ValueProblem) -> String {
    let keys = MetricCatalog.all.map(\.key)
    if keys.contains(text) { return text }
    let near = Suggestion.nearest(to: text, in: keys).map { ", did you mean '\($0)'?" }
    throw ValueProblem(why: "no metric is named '\(text)'\(near ?? "")")
  }

  static func exitCode(_ text: String) throws(ValueProblem) -> Int32 {
    guard let code = Int32(text), (1...255).contains(code), text.first != "+" else {
      throw ValueProblem(why: "'\(text)' is not an exit code from 1 to 255")
    }
    return code
  }
}
