// The options about history files; part of `OptionTable`.

internal import ProbeCore

/// `perfwatch history`.
struct HistoryRequest: Sendable, Equatable {
  var file: String
  var filter: HistoryFilter
  /// nil for the usual ones.
  var metrics: [String]?
  var isJSON: Bool
  var color: ColorChoice
}

/// A label that the user gives a run.
struct RunLabel: Sendable, Equatable {
  var key: String
  var value: String
}

extension OptionTable {
  static let history: [OptionSpec] = [
    OptionSpec(
      short: nil, long: "history", value: .file, commands: [.run, .attach, .check],
      group: .history,
      help: "append the run to FILE (SQLite; made if it is not there), for `perfwatch history`"
    ) { bag, text throws(ValueProblem) in
      guard text != "-" else { throw ValueProblem(why: "a history is a file, not a stream") }
      bag.watch.output.historyPath = try Values.file(text)
    },
    OptionSpec(
      short: nil, long: "label", value: .text("KEY=VALUE"),
      commands: [.run, .attach, .check, .history], group: .history,
      help: "with --history: a label to keep with the run (history: only runs with it); repeatable"
    ) { bag, text throws(ValueProblem) in
      let label = try Values.label(text)
      bag.watch.output.labels.removeAll { $0.key == label.key }
      bag.watch.output.labels.append(label)
    },
    OptionSpec(
      short: nil, long: "branch", value: .text("NAME"), commands: [.history], group: .history,
      help: "only runs of this branch"
    ) { bag, text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem(why: "the name is empty") }
      bag.history.branch = text
    },
    OptionSpec(
      short: nil, long: "program", value: .text("NAME"), commands: [.history], group: .history,
      help: "only runs of this program"
    ) { bag, text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem(why: "the name is empty") }
      bag.history.program = text
    },
    OptionSpec(
      short: "n", long: "last", value: .text("N"), commands: [.history], group: .history,
      help: "the last N runs (default 100)"
    ) { bag, text throws(ValueProblem) in bag.history.count = try Values.count(text, from: 1) },
  ]
}

extension Values {
  static func label(_ text: String) throws(ValueProblem) -> RunLabel {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw ValueProblem(why: "'\(text)' is not KEY=VALUE, as in runner=large")
    }
    return RunLabel(
      key: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
  }
}

extension BaselineOptions {
  private static let prefix = "history:"

  /// The branch of `--baseline history:BRANCH`; nil for files.
  var branch: String? {
    guard let path, path.hasPrefix(Self.prefix) else { return nil }
    return String(path.dropFirst(Self.prefix.count))
  }
}
