// The options about stalls; part of `OptionTable`.

internal import ProbeCore

extension OptionTable {
  static let stalls: [OptionSpec] = [
    OptionSpec(
      short: nil, long: "stall-threshold", value: .text("TIME"), commands: runners,
      group: .stalls, help: "a stall is this long or longer (default 250ms, at least 10ms)"
    ) { bag, text throws(ValueProblem) in
      bag.watch.stalls.threshold = try Values.stallThreshold(text)
    },
    OptionSpec(
      short: nil, long: "observer", value: .choice("HOW", observers), commands: runners,
      group: .stalls, help: "who sees stalls; kernel needs root and tracefs"
    ) { bag, text throws(ValueProblem) in
      guard observers.contains(text) else {
        throw ValueProblem(why: "'\(text)' is none of \(observers.joined(separator: ", "))")
      }
      bag.watch.stalls.observer = LoopObserver(rawValue: text)
    },
    OptionSpec(
      short: nil, long: "watch-thread", value: .text("NAME|TID"), commands: runners,
      group: .stalls, help: "watch threads by name pattern or number; repeatable",
      excludes: ["watch"]
    ) { bag, text in
      var names = [text]
      if case .named(let earlier) = bag.watch.stalls.selection { names = earlier + names }
      bag.watch.stalls.selection = .named(names)
    },
    OptionSpec(
      short: nil, long: "watch", value: .choice("WHAT", ["main", "loops"]), commands: runners,
      group: .stalls, help: "watch the main thread, or every thread that loops"
    ) { bag, text throws(ValueProblem) in
      switch text {
      case "main": bag.watch.stalls.selection = .main
      case "loops": bag.watch.stalls.selection = .loops
      default: throw ValueProblem(why: "'\(text)' is none of main, loops")
      }
    },
    OptionSpec(
      short: nil, long: "no-stacks", value: .none, commands: runners, group: .stalls,
      help: "do not look which functions a stalled thread is in"
    ) { bag, _ in bag.watch.stalls.takesStacks = false },
    OptionSpec(
      short: nil, long: "no-causes", value: .none, commands: runners, group: .stalls,
      help: "do not look what a stalled thread waits for, and who holds it"
    ) { bag, _ in bag.watch.stalls.takesCauses = false },
    OptionSpec(
      short: nil, long: "in-app", value: .text("GLOB"), commands: runners, group: .stalls,
      help: "take these modules for the program's own; repeatable", excludes: ["no-stacks"]
    ) { bag, text in bag.watch.stalls.inAppPatterns.append(text) },
    OptionSpec(
      short: nil, long: "ignore-stall", value: .text("SIGNATURE"), commands: readers,
      group: .stalls, help: "do not count stalls of this signature; a pattern; repeatable"
    ) { bag, text throws(ValueProblem) in
      bag.watch.output.ignoredStalls.append(try Values.signature(text))
    },
    OptionSpec(
      short: nil, long: "ignore-stalls-file", value: .file, commands: readers,
      group: .stalls, help: "the same for each line of FILE; # begins a comment"
    ) { bag, text throws(ValueProblem) in
      bag.watch.output.ignoreFiles.append(try Values.file(text))
    },
    OptionSpec(
      short: nil, long: "no-stalls", value: .none, commands: runners, group: .stalls,
      help: "do not watch for stalls"
    ) { bag, _ in bag.watch.watchesStalls = false },
  ]

  private static let readers: [CommandName] = [.run, .attach, .report]
  private static let observers = ["auto", "proc", "kernel"]
}

extension Values {
  /// A signature, or a pattern for some.
  static func signature(_ text: String) throws(ValueProblem) -> String {
    guard !text.isEmpty, !text.contains(where: \.isWhitespace) else {
      throw ValueProblem(why: "'\(text)' is no signature; the report shows those of its stalls")
    }
    return text
  }

  /// What is shorter than two probe periods cannot be seen, and 5 ms is the shortest period.
  static func stallThreshold(_ text: String) throws(ValueProblem) -> Nanoseconds {
    let threshold = try duration(text)
    guard threshold >= .milliseconds(10) else {
      throw ValueProblem(why: "'\(text)' is too short; at least 10ms")
    }
    return threshold
  }
}
