// The options of `dump`; part of `OptionTable`.

internal import ProbeCore

/// Options of `dump`, before it is known of which process.
struct DumpOptions: Sendable, Equatable {
  enum Format: Sendable, Equatable { case text, json, folded }

  /// Thread numbers and name patterns; empty for all.
  var threads: [String] = []
  var isMainOnly = false
  var lines = DumpRequest.Lines.quick
  var inApp: [String] = []
  var maxFrames = 4096
  var format = Format.text
  /// Between two dumps; nil for one dump.
  var period: Nanoseconds?
  /// How many dumps; nil for no limit.
  var count: Int?
  var path: String?
  var color = ColorChoice.auto
}

extension OptionTable {
  static let dump: [OptionSpec] = [
    OptionSpec(
      short: nil, long: "thread", value: .text("TID|GLOB"), commands: [.dump], group: .threads,
      help: "only threads of this number or name pattern; repeatable", excludes: ["main"]
    ) { bag, text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem(why: "the pattern is empty") }
      bag.dump.threads.append(text)
    },
    OptionSpec(
      short: nil, long: "main", value: .none, commands: [.dump], group: .threads,
      help: "only the main thread"
    ) { bag, _ in bag.dump.isMainOnly = true },
    OptionSpec(
      short: nil, long: "watch", value: .text("TIME"), commands: [.dump], group: .threads,
      help: "again after each TIME, until Ctrl-C or the process's end"
    ) { bag, text throws(ValueProblem) in bag.dump.period = try Values.duration(text) },
    OptionSpec(
      short: "n", long: "count", value: .text("N"), commands: [.dump], group: .threads,
      help: "that many dumps (with --watch, or each second)"
    ) { bag, text throws(ValueProblem) in bag.dump.count = try Values.count(text, upTo: 1 << 30) },
    OptionSpec(
      short: nil, long: "lines", value: .none, commands: [.dump], group: .frames,
      help: "file names and lines of all modules, however long that takes; else those of the "
        + "program's own, for at most a second",
      excludes: ["no-lines"]
    ) { bag, _ in bag.dump.lines = .all },
    OptionSpec(
      short: nil, long: "no-lines", value: .none, commands: [.dump], group: .frames,
      help: "names only: no file names, lines and inlined functions"
    ) { bag, _ in bag.dump.lines = .none },
    OptionSpec(
      short: nil, long: "in-app", value: .text("GLOB"), commands: [.dump], group: .frames,
      help: "modules that are the program's own, by name or path; repeatable"
    ) { bag, text throws(ValueProblem) in
      guard !text.isEmpty else { throw ValueProblem(why: "the pattern is empty") }
      bag.dump.inApp.append(text)
    },
    OptionSpec(
      short: nil, long: "max-frames", value: .text("N"), commands: [.dump], group: .frames,
      help: "at most N frames of a stack (default 4096)"
    ) { bag, text throws(ValueProblem) in
      bag.dump.maxFrames = try Values.count(text, upTo: 1 << 20)
    },
    OptionSpec(
      short: nil, long: "folded", value: .none, commands: [.dump], group: .output,
      help: "print folded lines for flame graphs, counted over all dumps", excludes: ["json"]
    ) { bag, _ in bag.dump.format = .folded },
    OptionSpec(
      short: "o", long: "output", value: .file, commands: [.dump], group: .output,
      help: "write to FILE, not to stdout"
    ) { bag, text throws(ValueProblem) in bag.dump.path = try Values.file(text) },
    OptionSpec(
      short: nil, long: "color", value: .choice("WHEN", ColorChoice.allCases.map(\.rawValue)),
      commands: [.dump], group: .display, help: "colour"
    ) { bag, text throws(ValueProblem) in bag.dump.color = try Values.choice(text) },
  ]
}

extension Values {
  /// A number of things, from 1 up.
  static func count(_ text: String, upTo most: Int) throws(ValueProblem) -> Int {
    guard let number = Int(text), number > 0, text.first != "+" else {
      throw ValueProblem(why: "'\(text)' is not a number from 1 up")
    }
    guard number <= most else { throw ValueProblem(why: "'\(text)' is more than \(most)") }
    return number
  }
}
