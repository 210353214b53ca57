// What the terminal gets: colour, letters, live progress. Pure decisions, tested as tables.
// The executable asks the kernel and the environment, these say what follows from the answers.

/// When to use colour, as the user chose.
public enum ColorChoice: String, Sendable, CaseIterable {
  case auto, always, never
}

/// Decides about colour for one stream.
public enum ColorPolicy {
  /// `--color` goes first, then NO_COLOR (not empty), CLICOLOR_FORCE (not 0), CLICOLOR=0; else
  /// colour is for a terminal that is not `dumb`. The order is that of no-color.org and CMake.
  public static func isColored(
    choice: ColorChoice, environment: NamedTexts, isTerminal: Bool
  ) -> Bool {
    switch choice {
    case .always: return true
    case .never: return false
    case .auto: break
    }
    if environment["NO_COLOR"]?.isEmpty == false { return false }
    if let force = environment["CLICOLOR_FORCE"], !force.isEmpty, force != "0" { return true }
    if environment["CLICOLOR"] == "0" { return false }
    return isTerminal && environment["TERM"] != "dumb"
  }
}

/// Decides whether more than ASCII may be written.
public enum UnicodePolicy {
  /// True when the character set of the locale is UTF-8, by LC_ALL, LC_CTYPE, LANG: the first one
  /// set.
  public static func isUnicode(environment: NamedTexts) -> Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { environment[$0] }.first { !$0.isEmpty }
    // `en_US.UTF-8`, `C.utf8`: by bytes, as searching in strings loads a lot for one short word.
    let letters = (locale ?? "").utf8.filter { $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
    let wanted = Array("utf8".utf8)
    return letters.indices.contains { letters[$0...].starts(with: wanted) }
  }
}

/// How to show that watching goes on, as the user chose.
public enum ProgressChoice: String, Sendable, CaseIterable {
  case auto, tty, plain, none
}

/// How to show that watching goes on.
public enum ProgressMode: Sendable, Equatable {
  /// A block of lines redrawn in place.
  case block
  /// One line each period, and one when something happens.
  case lines(every: Nanoseconds)
  case none
}

/// What the decision depends on.
public struct ProgressSituation: Sendable {
  public var choice = ProgressChoice.auto
  public var isQuiet = false
  /// `--live`: the block even where the target writes to the same terminal.
  public var isLive = false
  /// Attached targets have their own terminal; a launched one has ours.
  public var isLaunched = false
  /// Our stderr, where progress goes, is a terminal.
  public var isTerminal = false
  /// The launched target's stdout or stderr is that same terminal.
  public var targetSharesTerminal = false
  public var environment: NamedTexts = [:]

  public init() {}
}

/// Decides how to show that watching goes on.
public enum ProgressPolicy {
  /// Chosen: often enough for someone who looks on, seldom enough between the target's own lines.
  static let terminalPeriod = Nanoseconds.seconds(5)
  /// Chosen: a log of an hour holds 120 lines.
  static let logPeriod = Nanoseconds.seconds(30)

  /// `--quiet` and `none` silence it; `--live` and `tty` ask for the block, given only to a
  /// terminal that can be redrawn; by itself the block comes only where it disturbs nobody's
  /// output, and never in CI.
  public static func mode(_ situation: ProgressSituation) -> ProgressMode {
    if situation.isQuiet || situation.choice == .none { return .none }
    let lines = ProgressMode.lines(every: situation.isTerminal ? terminalPeriod : logPeriod)
    let canRedraw = situation.isTerminal && situation.environment["TERM"] != "dumb"
    if !canRedraw { return lines }
    if situation.isLive || situation.choice == .tty { return .block }
    if situation.choice == .plain || isCI(situation.environment) { return lines }
    return situation.isLaunched && situation.targetSharesTerminal ? lines : .block
  }

  private static func isCI(_ environment: NamedTexts) -> Bool {
    ["CI", "GITHUB_ACTIONS"].contains { name in
      guard let value = environment[name] else { return false }
      return !["", "0", "false"].contains(value.lowercased())
    }
  }
}
