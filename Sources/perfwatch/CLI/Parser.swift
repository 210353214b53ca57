// The command line, word by word, by the GNU rules: `-oFILE`, `-o FILE`, `--output=FILE`, `-qv`,
// `--`. No abbreviations: what works today must not become ambiguous by a new option.

internal import ProbeCore

/// Understands command lines; knows no option by itself, see `OptionTable`.
struct Parser {
  private let words: [String]
  private var next = 0
  private let command: CommandSpec
  private let options: [OptionSpec]
  private var bag: OptionBag
  private var operands: [String] = []
  private var given: [String] = []
  private var texts: [(long: String, text: String)] = []
  private let base: OptionBag
  private var wantsHelp = false

  /// What a command line says, with what the rest of the program has to know of how it was said.
  struct Reading {
    var command: ParsedCommand
    /// nil where a configuration has no say.
    var configured: CommandName?
    var configPath: String?
    /// The options in the order of the words, with their texts.
    var given: [(long: String, text: String)] = []
  }

  /// - Parameter words: the arguments without the program's own name.
  static func parse(_ words: [String]) throws(UsageError) -> ParsedCommand {
    try read(words).command
  }

  /// - Parameters:
  ///   - words: the arguments without the program's own name.
  ///   - base: what a configuration has set.
  static func read(
    _ words: [String], base: OptionBag = OptionBag()
  ) throws(UsageError) -> Reading {
    guard let first = words.first else {
      throw UsageError(message: "no command", exitCode: 125, help: .usage)
    }
    switch first {
    case "--help", "-h": return Reading(command: .help(.overview))
    case "--version", "-V":
      var parser = Parser(["version"] + words.dropFirst(), CommandTable.spec(.version), base)
      return Reading(command: try parser.parseCommand())
    case "--dump-cli":
      guard words.dropFirst() == ["json"] else { throw top("--dump-cli takes one word: json") }
      return Reading(command: .dumpTables)
    case _ where first.hasPrefix("-"):
      throw top(
        "'\(first)' stands before the command; options go after it, as in "
          + "`perfwatch run \(first) ...`")
    default: break
    }
    guard let name = CommandName(rawValue: first) else { throw unknownCommand(first) }
    var parser = Parser(words, CommandTable.spec(name), base)
    let command = try parser.parseCommand()
    let isConfigured = parser.options.contains { $0.long == "config" } && !parser.wantsHelp
    return Reading(
      command: command, configured: isConfigured ? name : nil, configPath: parser.bag.configPath,
      given: parser.texts)
  }

  private init(_ words: [String], _ command: CommandSpec, _ base: OptionBag) {
    self.words = words
    self.base = base
    bag = base
    self.command = command
    options = OptionTable.options(of: command.name)
    next = 1
  }

  private mutating func parseCommand() throws(UsageError) -> ParsedCommand {
    var isOpen = true
    while next < words.count, !wantsHelp {
      let word = words[next]
      if isOpen && word == "--" {
        isOpen = false
        next += 1
        if command.name == .run { break }
      } else if isOpen && word.hasPrefix("--") {
        next += 1
        try long(word)
      } else if isOpen && word.hasPrefix("-") && word != "-" {
        next += 1
        try short(word)
      } else if command.name == .run {
        break
      } else {
        operands.append(word)
        next += 1
      }
    }
    if wantsHelp { return .help(.command(command.name)) }
    try checkConflicts()
    bag.watch.budget.rules = Self.merge(bag.watch.budget.rules, from: base)
    return try result()
  }

  private mutating func long(_ word: String) throws(UsageError) {
    let equals = word.firstIndex(of: "=")
    let name = String(word[..<(equals ?? word.endIndex)].dropFirst(2))
    guard let option = options.first(where: { $0.long == name }) else {
      throw unknownOption("--" + name, name)
    }
    let attached = equals.map { String(word[word.index(after: $0)...]) }
    if !option.takesValue, attached != nil { throw failure("--\(name) takes no value") }
    try apply(option, as: "--" + name, attached)
  }

  private mutating func short(_ word: String) throws(UsageError) {
    // `-output x` would quietly be `-o utput`.
    let spelled = String(word.dropFirst().prefix { $0 != "=" })
    if spelled.count > 1, options.contains(where: { $0.long == spelled }) {
      throw failure("'\(word)' is not an option; did you mean --\(spelled)?")
    }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.short == letter }) else {
        throw unknownOption("-\(letter)", word.count == 2 ? "" : spelled)
      }
      guard option.takesValue else {
        try apply(option, as: "-\(letter)", nil)
        continue
      }
      if letters.first == "=" {
        throw failure(
          "-\(letter) takes its value without '=', as in -\(letter)\(letters.dropFirst())")
      }
      return try apply(option, as: "-\(letter)", letters.isEmpty ? nil : String(letters))
    }
  }

  private mutating func apply(
    _ option: OptionSpec, as spelling: String, _ attached: String?
  ) throws(UsageError) {
    var text = attached ?? ""
    if option.takesValue, attached == nil {
      guard next < words.count else {
        throw failure("\(spelling) needs a value: \(option.placeholder ?? "VALUE")")
      }
      text = words[next]
      // No value begins like that, so it was forgotten; a file of such a name is given by '='.
      if text.hasPrefix("--") {
        throw failure(
          "\(spelling) needs a value: \(option.placeholder ?? "VALUE"); the next word is '\(text)'")
      }
      next += 1
    }
    given.append(option.long)
    texts.append((option.long, text))
    if option.long == "help" { wantsHelp = true }
    do {
      try option.apply(&bag, text)
    } catch {
      throw failure("\(spelling): \(error.why)")
    }
  }

  private func checkConflicts() throws(UsageError) {
    for option in options where given.contains(option.long) {
      if let other = option.excludes.first(where: given.contains) {
        throw failure("--\(option.long) and --\(other) exclude each other; give one of them")
      }
    }
    let output = bag.watch.output
    let files =
      [
        output.reportPath, output.summaryPath, output.baselinePath, output.historyPath,
        bag.watch.recordPath,
      ].compactMap { $0 }
      + output.exports.map(\.path)
    for (index, file) in files.enumerated() where files[..<index].contains(file) {
      throw failure("two outputs go to '\(file)'; name different files")
    }
    if command.name == .run, files.contains("-") {
      throw failure("stdout belongs to the program; name a file instead of '-'")
    }
    try checkHistory()
    if bag.watch.recordPath == "-" {
      throw failure("a recording cannot go to stdout; name a file instead of '-'")
    }
  }

  private func result() throws(UsageError) -> ParsedCommand {
    switch command.name {
    case .run:
      guard next < words.count else { throw failure("no program to run") }
      try checkRepeats()
      return .run(
        RunRequest(command: Array(words[next...]), firstWord: next, options: bag.watch))
    case .attach: return .attach(AttachRequest(target: try attachTarget(), options: bag.watch))
    case .dump:
      var options = bag.dump
      if bag.isJSON { options.format = .json }
      return .dump(ParsedDump(target: try attachTarget(), options: options))
    case .report:
      guard let file = operands.first else { throw failure("no recording to report") }
      try expectAtMostOne()
      return .report(
        ReportRequest(file: file, format: bag.format ?? "text", output: bag.watch.output))
    case .check:
      if bag.printsConfig {
        if let extra = operands.first { throw unexpected(extra) }
        return .printConfig
      }
      guard let file = operands.first else { throw failure("no summary to judge") }
      try expectAtMostOne()
      return .check(
        CheckRequest(
          file: file, budget: bag.watch.budget, baseline: bag.watch.baseline,
          output: bag.watch.output))
    case .compare:
      let (base, head) = try comparedOperands()
      var gates = ComparisonGates()
      gates.relative = bag.watch.baseline.regression
      if !bag.metrics.isEmpty { gates.metrics = bag.metrics }
      return .compare(
        CompareRequest(
          base: base, head: head, isOfCommands: bag.baseCommand != nil, options: bag.watch,
          showsOutput: bag.showsOutput, gates: gates, indeterminate: bag.watch.budget.indeterminate,
          isJSON: bag.isJSON,
          color: bag.watch.output.color))
    case .history:
      guard let file = operands.first else { throw failure("no history to show") }
      try expectAtMostOne()
      var filter = bag.history
      filter.labels = bag.watch.output.labels.map { ($0.key, $0.value) }
      return .history(
        HistoryRequest(
          file: file, filter: filter, metrics: bag.metrics.isEmpty ? nil : bag.metrics,
          isJSON: bag.isJSON, color: bag.watch.output.color))
    case .metrics:
      if let extra = operands.first { throw unexpected(extra) }
      return .metrics(isJSON: bag.isJSON)
    case .version:
      if let extra = operands.first { throw unexpected(extra) }
      return .version(isJSON: bag.isJSON)
    case .help:
      try expectAtMostOne()
      guard let topic = operands.first else { return .help(.overview) }
      if let name = CommandName(rawValue: topic) { return .help(.command(name)) }
      if let page = HelpPage(rawValue: topic) { return .help(.page(page)) }
      let known = CommandName.allCases.map(\.rawValue) + HelpPage.allCases.map(\.rawValue)
      let suggestion = Suggestion.nearest(to: topic, in: known).map { "; did you mean '\($0)'?" }
      throw Self.top("no help on '\(topic)'" + (suggestion ?? ""))
    }
  }

  /// What `compare` holds against each other: two operands, or two commands.
  private func comparedOperands() throws(UsageError) -> (base: String, head: String) {
    guard bag.baseCommand != nil || bag.headCommand != nil else {
      if let lone = options.first(where: {
        given.contains($0.long) && OptionTable.ofCommands.contains($0.long)
      }) {
        throw failure("--\(lone.long) is about commands; give them by --base and --head")
      }
      guard operands.count >= 2 else {
        throw failure("two summaries are needed, BASE and HEAD; or two commands, --base and --head")
      }
      if operands.count > 2 { throw unexpected(operands[2]) }
      return (operands[0], operands[1])
    }
    guard let base = bag.baseCommand, let head = bag.headCommand else {
      let (one, other) = bag.baseCommand == nil ? ("head", "base") : ("base", "head")
      throw failure("--\(one) needs a command to compare with: --\(other)")
    }
    if let extra = operands.first {
      throw failure(
        "unexpected argument '\(extra)'; a command with blanks is one word: --base 'CMD ARG'")
    }
    let (runs, most) = (bag.watch.repeats.runs, bag.watch.repeats.maxRounds)
    if let runs, let most, most < runs {
      throw failure("--max-rounds \(most) is less than the \(runs) of --runs")
    }
    return (base, head)
  }

  private func checkHistory() throws(UsageError) {
    guard command.name != .history, bag.watch.output.historyPath == nil else {
      if bag.watch.baseline.branch == "" {
        throw failure("--baseline: which branch? Write history:BRANCH, as in history:main")
      }
      return
    }
    if let branch = bag.watch.baseline.branch {
      throw failure("--baseline history:\(branch) needs the history: --history FILE")
    }
    if !bag.watch.output.labels.isEmpty {
      throw failure("--label is about runs in a history; name it by --history FILE")
    }
  }

  private func checkRepeats() throws(UsageError) {
    guard bag.watch.repeats.isRepeated else { return }
    if bag.watch.recordPath != nil {
      throw failure("a recording is of one run: --record does not go with --runs or --warmup")
    }
    if bag.watch.budget.abortsOnFail, bag.watch.budget.judge != .worst {
      throw failure("one run proves nothing about a median: --abort-on-fail needs --judge worst")
    }
  }

  /// Rules of the command line take the place of those of the configuration that have the same name or,
  /// without a name, the same metric.
  private static func merge(_ rules: [BudgetRule], from base: OptionBag) -> [BudgetRule] {
    let count = base.watch.budget.rules.count
    let own = rules.dropFirst(count)
    let kept = rules.prefix(count).filter { rule in
      !own.contains { $0.name == rule.name && (rule.name != nil || $0.metric == rule.metric) }
    }
    return kept + own
  }

  private func attachTarget() throws(UsageError) -> AttachRequest.Target {
    try expectAtMostOne()
    if let operand = operands.first {
      if given.contains("pid") || given.contains("name") { throw unexpected(operand) }
      do {
        return .pid(try Values.pid(operand))
      } catch {
        let isName = operand.first?.isLetter ?? false
        let hint =
          isName
          ? "; by name: perfwatch \(command.name.rawValue) --name \(SafeText.shellWord(operand))"
          : ""
        throw failure(error.why + hint)
      }
    }
    if let pid = bag.pid { return .pid(pid) }
    if let name = bag.name { return .name(name) }
    throw failure(
      "no process to \(command.name == .attach ? "attach to" : "dump"); give a PID or --name REGEX")
  }

  private func expectAtMostOne() throws(UsageError) {
    if operands.count > 1 { throw unexpected(operands[1]) }
  }

  private func unexpected(_ operand: String) -> UsageError {
    failure("unexpected argument '\(operand)'")
  }

  private func unknownOption(_ spelling: String, _ name: String) -> UsageError {
    var message = "unknown option '\(spelling)'"
    if let elsewhere = OptionTable.all.first(where: {
      "--" + $0.long == spelling || $0.short.map { "-\($0)" } == spelling
    }) {
      let homes = elsewhere.commands.map(\.rawValue).joined(separator: ", ")
      message += " for \(command.name.rawValue) (it belongs to: \(homes))"
    } else if let near = Suggestion.nearest(to: name, in: options.map(\.long)) {
      message += "; did you mean '--\(near)'?"
    }
    return failure(message)
  }

  private static func unknownCommand(_ word: String) -> UsageError {
    let names = CommandName.allCases.map(\.rawValue)
    if let near = Suggestion.nearest(to: word, in: names) {
      return top("unknown command '\(word)'; did you mean '\(near)'?")
    }
    let example = SafeText.shellWord(word)
    return top(
      "unknown command '\(word)'; to watch a program: `perfwatch run \(example)`")
  }

  /// The message may hold what the user typed; here it becomes safe to print.
  private func failure(_ message: String) -> UsageError {
    UsageError(
      message: SafeText.terminal(message) + "; see `perfwatch help \(command.name.rawValue)`",
      exitCode: command.usageExitCode)
  }

  private static func top(_ message: String) -> UsageError {
    UsageError(message: SafeText.terminal(message) + "; see `perfwatch --help`", exitCode: 125)
  }
}
