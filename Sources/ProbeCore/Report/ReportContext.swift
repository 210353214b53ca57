// What an output depends on beside the summary: where the repository is whose files it names.

/// Facts of the place where a report is made.
public struct ReportContext: Sendable, Equatable {
  /// The repository's folder, absolute; nil where it is not known.
  public var repository: String?

  public init(repository: String? = nil) { self.repository = repository }

  /// The path inside the repository of a source file, or nil when it is not in there.
  ///
  /// Debug information has the path at the time of building, and relative ones where the compiler was
  /// told so; those are taken as they are.
  func relative(_ file: String) -> String? {
    var parts: [Substring] = []
    for part in file.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    if file.hasPrefix("/") {
      guard let repository, repository != "/" else { return nil }
      let root = repository.split(separator: "/")
      guard parts.count > root.count, Array(parts.prefix(root.count)) == root else { return nil }
      parts.removeFirst(root.count)
    }
    guard let first = parts.first, first != ".." else { return nil }
    return parts.joined(separator: "/")
  }

  /// Where a broken rule points to in the repository.
  func place(of rule: Summary.RuleResult, in summary: Summary) -> (file: String, line: Int)? {
    guard let frames = Culprit(of: rule, in: summary)?.stack?.frames else { return nil }
    for frame in frames where frame.inApp {
      if let file = frame.file.flatMap(relative), let line = frame.line, line > 0 {
        return (file, line)
      }
    }
    return nil
  }
}

/// What a rule's result says beyond its first line, for outputs without a layout.
enum RuleDetails {
  /// Frames that are told. Chosen: what a reviewer reads.
  private static let framesTold = 20

  /// The sentence about the stall to blame and its stack; empty when there is none.
  static func lines(_ rule: Summary.RuleResult, _ summary: Summary) -> [String] {
    guard let culprit = Culprit(of: rule, in: summary) else { return [] }
    let stack = culprit.lines(isUnicode: true)
    var lines = [SafeText.terminal(culprit.sentence)]
    lines += stack.prefix(framesTold).map { "  " + $0.text }
    if stack.count > framesTold { lines.append("  and \(stack.count - framesTold) more") }
    return lines
  }

  /// The rule, the value, the margin and why, in one line that is safe to print.
  static func line(_ rule: Summary.RuleResult) -> String {
    SafeText.terminal(RuleText.text(rule, isUnicode: true))
  }

  /// A name for each rule; equal ones get numbers, as some readers drop what they have seen.
  static func names(_ rules: [Summary.RuleResult]) -> [String] {
    var names: [String] = []
    for rule in rules {
      let name = SafeText.terminal(RuleText.title(rule))
      var unique = name
      var number = 2
      while names.contains(unique) {
        unique = "\(name) (\(number))"
        number += 1
      }
      names.append(unique)
    }
    return names
  }
}
