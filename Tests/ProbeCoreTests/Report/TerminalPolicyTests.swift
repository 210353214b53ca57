import Testing

@testable import ProbeCore

@Suite struct TerminalPolicyTests {
  @Test(
    arguments: [
      (ColorChoice.auto, [:], true, true),
      (.auto, [:], false, false),
      (.auto, ["TERM": "dumb"], true, false),
      (.auto, ["TERM": "xterm"], true, true),
      (.auto, ["NO_COLOR": "1"], true, false),
      (.auto, ["NO_COLOR": ""], true, true),
      (.auto, ["CLICOLOR_FORCE": "1"], false, true),
      (.auto, ["CLICOLOR_FORCE": "0"], false, false),
      (.auto, ["CLICOLOR_FORCE": "1", "CLICOLOR": "0"], false, true),
      (.auto, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], true, false),
      (.auto, ["CLICOLOR": "0"], true, false),
      (.auto, ["CLICOLOR": "1"], false, false),
      (.always, ["NO_COLOR": "1", "TERM": "dumb"], false, true),
      (.never, ["CLICOLOR_FORCE": "1"], true, false),
    ] as [(ColorChoice, NamedTexts, Bool, Bool)])
  func `colour follows option, environment, terminal in this order`(
    choice: ColorChoice, environment: NamedTexts, isTerminal: Bool, expected: Bool
  ) {
    #expect(
      ColorPolicy.isColored(choice: choice, environment: environment, isTerminal: isTerminal)
        == expected)
  }

  @Test(
    arguments: [
      ([:], false), (["LANG": "C"], false), (["LANG": "C.UTF-8"], true),
      (["LANG": "de_DE.utf8"], true),
      (["LC_ALL": "C", "LANG": "C.UTF-8"], false), (["LC_ALL": "", "LC_CTYPE": "C.utf8"], true),
    ] as [(NamedTexts, Bool)])
  func `letters beyond ASCII need a UTF-8 locale`(environment: NamedTexts, expected: Bool) {
    #expect(UnicodePolicy.isUnicode(environment: environment) == expected)
  }

  struct Case: Sendable {
    var mode: ProgressMode
    var edit: @Sendable (inout ProgressSituation) -> Void
    init(_ mode: ProgressMode, _ edit: @escaping @Sendable (inout ProgressSituation) -> Void) {
      self.mode = mode
      self.edit = edit
    }
  }

  static let every5 = ProgressMode.lines(every: .seconds(5))
  static let every30 = ProgressMode.lines(every: .seconds(30))
  /// Each starts from an attached target, stderr a terminal.
  static let cases: [Case] = [
    Case(.block) { _ in },
    Case(every30) { $0.isTerminal = false },
    Case(every5) {
      $0.isLaunched = true; $0.targetSharesTerminal = true
    },
    Case(.block) { $0.isLaunched = true },
    Case(every30) {
      $0.isLaunched = true; $0.isTerminal = false
    },
    Case(.block) {
      $0.isLaunched = true; $0.targetSharesTerminal = true; $0.isLive = true
    },
    Case(.block) {
      $0.isLaunched = true; $0.targetSharesTerminal = true; $0.choice = .tty
    },
    Case(every30) {
      $0.isTerminal = false; $0.isLive = true
    },
    Case(every30) {
      $0.isTerminal = false; $0.choice = .tty
    },
    Case(every5) { $0.choice = .plain },
    Case(.none) { $0.choice = .none },
    Case(.none) { $0.isQuiet = true },
    Case(.none) {
      $0.isQuiet = true; $0.isLive = true
    },
    Case(every5) { $0.environment["CI"] = "true" },
    Case(every5) { $0.environment["GITHUB_ACTIONS"] = "true" },
    Case(.block) { $0.environment["CI"] = "false" },
    Case(every30) {
      $0.environment["CI"] = "1"; $0.isTerminal = false
    },
    Case(.block) {
      $0.environment["CI"] = "1"; $0.choice = .tty
    },
    Case(every5) { $0.environment["TERM"] = "dumb" },
    Case(every5) {
      $0.environment["TERM"] = "dumb"; $0.isLive = true
    },
  ]

  @Test(arguments: cases.indices)
  func `progress disturbs nobody and is a block only where one can be redrawn`(index: Int) {
    var situation = ProgressSituation()
    situation.isTerminal = true
    Self.cases[index].edit(&situation)
    #expect(ProgressPolicy.mode(situation) == Self.cases[index].mode, "\(situation)")
  }
}
