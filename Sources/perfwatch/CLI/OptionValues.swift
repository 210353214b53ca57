// How an option's text becomes a value, with the reason when it does not.

internal import ProbeCore

enum Values {
  /// A length of time that is not zero.
  static func duration(_ text: String) throws(ValueProblem) -> Nanoseconds {
    let value: Nanoseconds
    do { value = try Units.duration(text) } catch { throw ValueProblem(why: error.message) }
    guard value > .zero else { throw ValueProblem(why: "'\(text)' is zero") }
    return value
  }

  /// A metrics tick within its bounds.
  static func interval(_ text: String) throws(ValueProblem) -> Nanoseconds {
    try bounded(try duration(text), text)
  }

  /// A metrics tick from a rate.
  static func intervalOfRate(_ text: String) throws(ValueProblem) -> Nanoseconds {
    let rate: Double
    do { rate = try Units.rate(text) } catch { throw ValueProblem(why: error.message) }
    guard rate > 0 else { throw ValueProblem(why: "'\(text)' is zero") }
    // Capped before the conversion, which could trap; a day is beyond the bound anyway.
    return try bounded(Nanoseconds(Int64(min(1e9 / rate, 86_400e9).rounded())), text)
  }

  static func pid(_ text: String) throws(ValueProblem) -> ProcessID {
    guard let number = Int32(text), number > 0, text.first != "+" else {
      throw ValueProblem(why: "'\(text)' is not a process id (a number from 1 up)")
    }
    return ProcessID(number)
  }

  /// nil for never.
  static func threadAlarm(_ text: String) throws(ValueProblem) -> Int? {
    guard let number = Int(text), (0...1_000_000).contains(number), text.first != "+",
      number != 1
    else {
      throw ValueProblem(why: "'\(text)' is not a number of threads (from 2 up, or 0 for never)")
    }
    return number == 0 ? nil : number
  }

  static func pattern(_ text: String) throws(ValueProblem) -> String {
    guard NamePattern(text) != nil else {
      throw ValueProblem(why: "'\(text)' is not a regular expression")
    }
    return text
  }

  static func file(_ text: String) throws(ValueProblem) -> String {
    guard !text.isEmpty else { throw ValueProblem(why: "the file name is empty") }
    return text
  }

  static func format(_ text: String) throws(ValueProblem) -> String {
    let names = ReporterCatalog.all.map(\.name)
    guard names.contains(text) else { throw notOneOf(names, text) }
    return text
  }

  static func export(_ text: String) throws(ValueProblem) -> OutputOptions.Export {
    guard let equals = text.firstIndex(of: "=") else {
      throw ValueProblem(why: "'\(text)' has no '='; write FORMAT=FILE, as in text=report.txt")
    }
    let format = try format(String(text[..<equals]))
    return .init(format: format, path: try file(String(text[text.index(after: equals)...])))
  }

  static func choice<T: CaseIterable & RawRepresentable<String>>(
    _ text: String
  ) throws(ValueProblem) -> T {
    guard let value = T(rawValue: text) else { throw notOneOf(T.allCases.map(\.rawValue), text) }
    return value
  }

  private static func notOneOf(_ words: [String], _ text: String) -> ValueProblem {
    let suggestion = Suggestion.nearest(to: text, in: words).map { ", did you mean '\($0)'?" }
    let list = words.joined(separator: ", ")
    return ValueProblem(why: "'\(text)' is not one of: \(list)\(suggestion ?? "")")
  }

  private static func bounded(
    _ interval: Nanoseconds, _ text: String
  ) throws(ValueProblem) -> Nanoseconds {
    if interval < WatchOptions.shortestInterval {
      throw ValueProblem(why: "'\(text)' is too often; at most every 10ms (100Hz)")
    }
    if interval > WatchOptions.longestInterval {
      throw ValueProblem(why: "'\(text)' is too seldom; at least every hour")
    }
    return interval
  }
}

/// A process name to look for. Not Sendable, as a regular expression is not; made where it is used.
struct NamePattern {
  private let regex: Regex<AnyRegexOutput>

  /// nil when the text is not a regular expression.
  init?(_ text: String) {
    do { regex = try Regex(text) } catch { return nil }
  }

  /// Whether the expression matches anywhere in the name.
  func matches(_ name: String) -> Bool { name.contains(regex) }
}
