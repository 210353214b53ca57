// Rules as people type them: `ui:warn: stall.longest < 250ms`, `cpu.sustained<80%/60s`.

/// Reads budgets. No input traps: what is no rule throws a `RuleError`.
public enum RuleParser {
  /// Chosen: longer than any rule that is meant.
  private static let longest = 500

  /// One rule of the form `[name:][warn:|error:] metric op value[/window]`.
  public static func rule(_ text: String) throws(RuleError) -> BudgetRule {
    guard text.utf8.count <= longest else {
      throw RuleError("a rule is at most \(longest) bytes long")
    }
    guard let sign = text.firstIndex(where: { "<>=!".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[sign...].hasPrefix($0.rawValue) })
    else { throw noComparison(text) }
    let after = text[sign...].dropFirst(comparison.rawValue.count)
    let head = try head(text[..<sign], of: text)
    let metric = try metric(trimmed(head.metric), of: text)
    var value = trimmed(after)
    guard !value.isEmpty, let first = value.first, !"<>=!".contains(first) else {
      throw RuleError("'\(text)' has no limit after '\(comparison.rawValue)'")
    }
    var window: Nanoseconds?
    let limitText = value
    if metric.window != nil, let slash = value.lastIndex(of: "/") {
      window = try duration(trimmed(value[value.index(after: slash)...]), of: text)
      value = trimmed(value[..<slash])
    }
    return BudgetRule(
      name: head.name, level: head.level, metric: metric.key, comparison: comparison,
      limit: try limit(value, metric.unit, of: text), limitText: limitText, window: window)
  }

  private static func head(
    _ text: Substring, of rule: String
  ) throws(RuleError) -> (name: String?, level: BudgetLevel, metric: Substring) {
    var parts = text.split(separator: ":", omittingEmptySubsequences: false)
    // There is at least one part, if an empty one.
    let metric = parts.removeLast()
    var level: BudgetLevel?
    var name: String?
    for part in parts {
      let word = trimmed(part)
      guard !word.isEmpty else { throw RuleError("'\(rule)' has an empty word before a colon") }
      if let known = BudgetLevel(rawValue: word), level == nil {
        level = known
      } else if name == nil, level == nil {
        name = word
      } else {
        throw RuleError(
          "'\(rule)': only a name and a level can stand before the metric, as in "
            + "ui:warn:stall.longest<250ms")
      }
    }
    return (name, level ?? .error, metric)
  }

  private static func metric(_ key: String, of rule: String) throws(RuleError) -> Metric {
    if let metric = MetricCatalog.metric(key) { return metric }
    if key.isEmpty { throw RuleError("'\(rule)' has no metric, as in stall.longest<250ms") }
    let near = Suggestion.nearest(to: key, in: MetricCatalog.all.map(\.key) + Array(others.keys))
      .map { ", did you mean '\(others[$0] ?? $0)'?" }
    throw RuleError("no metric is named '\(key)'\(near ?? ""); `perfwatch metrics` lists them")
  }

  /// What people call metrics elsewhere.
  private static let others: KeyedNames = [
    ("cpu.avg", "cpu.average"), ("cpu.max", "cpu.peak"), ("cpu.time", "cpu.seconds"),
    ("rss.peak", "resident.peak"), ("memory.peak", "footprint.peak"),
    ("stall.max", "stall.longest"),
    ("stalls", "stall.count"), ("threads.max", "threads.peak"), ("exit", "exit.code"),
    ("duration", "wall"), ("startup", "startup.firstIdle"),
  ]

  private typealias KeyedNames = [(name: String, key: String)]

  private static func noComparison(_ text: String) -> RuleError {
    if text.contains("=") {
      return RuleError("'\(text)' has no comparison; for equal write '==', as in exit.code==0")
    }
    return RuleError("'\(text)' has no comparison, as in stall.longest<250ms or cpu.average<80%")
  }

  /// The limit in the unit of its metric.
  private static func limit(
    _ text: String, _ unit: MetricUnit, of rule: String
  ) throws(RuleError) -> Double {
    let isNegative = text.first == "-" && [.bytesPerSecond, .count, .perSecond].contains(unit)
    let plain = isNegative ? trimmed(text.dropFirst()) : text
    let value: Double
    do throws(UnitError) {
      switch unit {
      case .seconds: value = try Units.duration(plain).inSeconds
      case .bytes: value = Double(try Units.size(plain))
      case .percent: value = plain == "0" ? 0 : try Units.share(plain)
      case .perSecond: value = try Units.rate(plain)
      case .count:
        guard let number = Double(plain), number.isFinite, plain.allSatisfy(isDigitOrPoint) else {
          throw UnitError(quantity: .rate, text: plain, reason: .notANumber)
        }
        value = number
      case .bytesPerSecond: value = try growth(plain)
      }
    } catch {
      let why = unit == .count ? "'\(plain)' is not a plain number" : error.message
      throw RuleError("'\(rule)': \(why)")
    }
    return isNegative ? -value : value
  }

  /// `1MiB/min`, `10kB/s`, `0`.
  private static func growth(_ text: String) throws(UnitError) -> Double {
    if text == "0" { return 0 }
    guard let slash = text.lastIndex(of: "/") else {
      throw UnitError(quantity: .growth, text: text, reason: .missingUnit)
    }
    let size = try Units.size(trimmed(text[..<slash]))
    let unit = trimmed(text[text.index(after: slash)...])
    let seconds: Double
    switch unit {
    case "s": seconds = 1
    case "min", "m": seconds = 60
    case "h": seconds = 3600
    default:
      throw UnitError(
        quantity: .growth, text: text, reason: .unknownUnit("/" + unit, suggestion: nil))
    }
    return Double(size) / seconds
  }

  private static func duration(_ text: String, of rule: String) throws(RuleError) -> Nanoseconds {
    do {
      let value = try Units.duration(text)
      guard value > .zero else { throw RuleError("'\(rule)': the time after '/' is zero") }
      return value
    } catch let error as UnitError {
      throw RuleError("'\(rule)': \(error.message)")
    } catch let error as RuleError {
      throw error
    } catch {
      throw RuleError("'\(rule)': \(error)")
    }
  }

  private static func isDigitOrPoint(_ character: Character) -> Bool {
    character == "." || ("0"..."9").contains(character)
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    var text = Substring(text)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}

extension [(name: String, key: String)] {
  fileprivate var keys: [String] { map(\.name) }
  fileprivate subscript(name: String) -> String? { first { $0.name == name }?.key }
}
