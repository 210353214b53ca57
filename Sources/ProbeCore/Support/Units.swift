// Quantities that people type: durations, sizes, shares of a core, rates.
// One parser for options, configuration and budgets, so that `250ms` means the same everywhere.

/// What a text with a unit measures.
public enum Quantity: String, Sendable, CaseIterable {
  case duration, size, share, rate, growth

  /// The accepted forms, for messages and help.
  public var accepted: String {
    switch self {
    case .duration: "ns us ms s m h d, as in 250ms, 1.5s or 1m30s; a bare number is seconds"
    case .size: "B, K M G T and KiB MiB GiB TiB (1024), kB MB GB TB (1000); a bare number is bytes"
    case .share: "% of one core or cpu, as in 80% or 1.5cpu"
    case .rate: "Hz, /s, /min, /h, as in 10Hz or 5/min; a bare number is Hz"
    case .growth: "a size and /s, /min or /h, as in 1MiB/min"
    }
  }
}

/// A text that is not a quantity, and why.
public struct UnitError: Error, Sendable, Equatable {
  public enum Reason: Sendable, Equatable {
    case empty
    /// No number where one has to be; `nan`, `1e3` and `0x10` are such.
    case notANumber
    case negative
    case missingUnit
    /// The unit and, where one is close, what may have been meant.
    case unknownUnit(String, suggestion: String?)
    /// `1s1m` or `1s1s`: the parts of a compound duration go from large to small.
    case unitOrder
    case tooLarge
  }

  public var quantity: Quantity
  public var text: String
  public var reason: Reason

  /// One line: what, why, what may have been meant, what is accepted. Safe for a terminal.
  public var message: String {
    let why =
      switch reason {
      case .empty: "it is empty"
      case .notANumber: "it has no number where one belongs"
      case .negative: "it is negative"
      case .missingUnit: "it needs a unit"
      case .unknownUnit(let unit, let suggestion):
        "unknown unit '\(SafeText.terminal(unit))'"
          + (suggestion.map { ", did you mean '\($0)'?" } ?? "")
      case .unitOrder: "its units must go from large to small"
      case .tooLarge: "it is too large"
      }
    return
      "'\(SafeText.terminal(text))' is not a \(quantity): \(why) (accepted: \(quantity.accepted))"
  }
}

/// Reads quantities. No input traps: whatever is not a quantity throws a `UnitError`.
public enum Units {
  /// A length of time, such as `250ms`, `1.5 s` or `1m30s`.
  /// - Parameter allowsBareNumber: take a number without unit as seconds, as timeout(1) does.
  /// - Returns: zero or more; at most 2^63-1 ns (292 years).
  public static func duration(
    _ text: String, allowsBareNumber: Bool = true
  ) throws(UnitError) -> Nanoseconds {
    var scanner = QuantityScanner(.duration, text)
    var total: UInt64 = 0
    var smallest = UInt64.max
    try scanner.begin()
    repeat {
      let number = try scanner.number()
      let unit = scanner.unit()
      let scale: UInt64
      if unit.isEmpty {
        guard allowsBareNumber, smallest == .max, scanner.isAtEnd else {
          throw scanner.error(.missingUnit)
        }
        scale = 1_000_000_000
      } else {
        guard let known = durationUnits.first(where: { $0.name == unit }) else {
          throw scanner.error(.unknownUnit(unit, suggestion: durationAliases[unit.lowercased()]))
        }
        scale = known.scale
      }
      guard scale < smallest else { throw scanner.error(.unitOrder) }
      smallest = scale
      guard let part = number.scaled(by: scale) else { throw scanner.error(.tooLarge) }
      let (sum, isOver) = total.addingReportingOverflow(part)
      guard !isOver, sum <= UInt64(Int64.max) else { throw scanner.error(.tooLarge) }
      total = sum
    } while !scanner.isAtEnd
    return Nanoseconds(Int64(total))
  }

  /// A number of bytes, such as `512MiB`, `1.5 GB`, `64K` or `4096`.
  public static func size(_ text: String, allowsBareNumber: Bool = true) throws(UnitError) -> UInt64
  {
    let (number, unit, scanner) = try single(.size, text)
    if unit.isEmpty && !allowsBareNumber { throw scanner.error(.missingUnit) }
    guard let known = sizeUnits.first(where: { $0.name == unit || unit.isEmpty }) else {
      let suggestion = sizeUnits.first { $0.name.lowercased() == unit.lowercased() }?.name
      throw scanner.error(.unknownUnit(unit, suggestion: suggestion))
    }
    guard let bytes = number.scaled(by: known.scale) else { throw scanner.error(.tooLarge) }
    return bytes
  }

  /// A share of CPU, such as `80%` (of one core) or `1.5cpu`.
  /// - Returns: percent of one core; 150 for `1.5cpu`.
  public static func share(_ text: String) throws(UnitError) -> Double {
    let (number, unit, scanner) = try single(.share, text)
    switch unit {
    case "%": return number.value
    case "cpu": return number.value * 100
    case "": throw scanner.error(.missingUnit)
    case "cpus", "core", "cores", "CPU", "CPUs":
      throw scanner.error(.unknownUnit(unit, suggestion: "cpu"))
    default: throw scanner.error(.unknownUnit(unit, suggestion: nil))
    }
  }

  /// How often something happens, such as `10Hz`, `5/min` or `2.5/s`.
  /// - Returns: times a second.
  public static func rate(_ text: String) throws(UnitError) -> Double {
    let (number, unit, scanner) = try single(.rate, text)
    switch unit {
    case "", "Hz", "/s": return number.value
    case "kHz": return number.value * 1000
    case "/min", "/m": return number.value / 60
    case "/h": return number.value / 3600
    default:
      let suggestion = ["Hz", "kHz", "/s", "/min", "/h"].first {
        $0.lowercased() == unit.lowercased()
      }
      throw scanner.error(.unknownUnit(unit, suggestion: suggestion))
    }
  }

  private static func single(
    _ quantity: Quantity, _ text: String
  ) throws(UnitError) -> (Decimal, String, QuantityScanner) {
    var scanner = QuantityScanner(quantity, text)
    try scanner.begin()
    let number = try scanner.number()
    let unit = scanner.unit()
    guard scanner.isAtEnd else { throw scanner.error(.notANumber) }
    return (number, unit, scanner)
  }
}

private let durationUnits: [(name: String, scale: UInt64)] = [
  ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000),
  ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000),
  ("\u{b5}s", 1000), ("\u{3bc}s", 1000),  // micro sign and Greek mu: keyboards have either
  ("ns", 1),
]

/// What people write elsewhere; refused, as `M` or `min` may mean two things, but understood.
private let durationAliases = [
  "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
  "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
  "msec": "ms", "msecs": "ms", "usec": "us", "nsec": "ns", "s": "s", "m": "m", "h": "h", "d": "d",
  "ms": "ms", "us": "us", "ns": "ns",
]

private let sizeUnits: [(name: String, scale: UInt64)] = [
  ("B", 1),
  ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ("K", 1 << 10), ("k", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40),
  ("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
]

/// A number as typed, kept exact: 0.1 s is 100 000 000 ns and not one less.
private struct Decimal {
  var whole: UInt64
  var fraction: UInt64
  /// A power of ten, at most 10^18; `fraction` is in parts of it.
  var divisor: UInt64

  var value: Double { Double(whole) + Double(fraction) / Double(divisor) }

  /// The number times `scale`, to the nearest whole; nil when it does not fit.
  func scaled(by scale: UInt64) -> UInt64? {
    let (wholePart, isOver) = whole.multipliedReportingOverflow(by: scale)
    // fraction < divisor, so the quotient is below `scale` and the division cannot overflow.
    let wide = fraction.multipliedFullWidth(by: scale)
    let (quotient, remainder) = divisor.dividingFullWidth(wide)
    let (sum, isSumOver) = wholePart.addingReportingOverflow(
      quotient + (remainder >= divisor - remainder ? 1 : 0))
    return isOver || isSumOver ? nil : sum
  }
}

private struct QuantityScanner {
  let quantity: Quantity
  let text: String
  private var rest: Substring

  init(_ quantity: Quantity, _ text: String) {
    self.quantity = quantity
    self.text = text
    rest = text[...]
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    skipBlanks()
  }

  var isAtEnd: Bool { rest.isEmpty }

  func error(_ reason: UnitError.Reason) -> UnitError {
    UnitError(quantity: quantity, text: text, reason: reason)
  }

  func begin() throws(UnitError) {
    if rest.isEmpty { throw error(.empty) }
    if rest.first == "-" { throw error(.negative) }
  }

  mutating func number() throws(UnitError) -> Decimal {
    var result = Decimal(whole: 0, fraction: 0, divisor: 1)
    var digits = 0
    while let digit = nextDigit() {
      let (product, isOver) = result.whole.multipliedReportingOverflow(by: 10)
      let (sum, isSumOver) = product.addingReportingOverflow(digit)
      if isOver || isSumOver { throw error(.tooLarge) }
      result.whole = sum
      digits += 1
    }
    if rest.first == "." {
      rest.removeFirst()
      var fractionDigits = 0
      while let digit = nextDigit() {
        fractionDigits += 1
        guard fractionDigits <= 18 else { continue }  // finer than any unit; 10^18 still fits
        result.fraction = result.fraction * 10 + digit
        result.divisor *= 10
      }
      if fractionDigits == 0 { throw error(.notANumber) }
      digits += fractionDigits
    }
    if digits == 0 { throw error(.notANumber) }
    return result
  }

  /// Everything up to the next digit, without blanks around it; empty at the end.
  mutating func unit() -> String {
    skipBlanks()
    let unit = rest.prefix { !isDigit($0) && $0 != " " && $0 != "\t" && $0 != "." }
    rest = rest.dropFirst(unit.count)
    skipBlanks()
    return String(unit)
  }

  private mutating func nextDigit() -> UInt64? {
    guard let first = rest.first, isDigit(first), let value = first.wholeNumberValue else {
      return nil
    }
    rest.removeFirst()
    return UInt64(value)
  }

  private mutating func skipBlanks() {
    while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
  }

  private func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
