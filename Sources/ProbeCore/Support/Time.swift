// Points in time and lengths of time, as types.
// A bare integer could be milliseconds, ticks or a wall-clock second; these cannot be mixed up.

/// A length of time in nanoseconds; may be negative.
public struct Nanoseconds: Sendable, Hashable, Comparable, Codable {
  public var rawValue: Int64

  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  public static let zero = Nanoseconds(0)
  public static func microseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1_000) }
  public static func milliseconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1_000_000) }
  public static func seconds(_ count: Int64) -> Nanoseconds { Nanoseconds(count * 1_000_000_000) }

  /// The length in seconds, for division and display.
  public var inSeconds: Double { Double(rawValue) / 1e9 }
  /// The length in milliseconds, for display.
  public var inMilliseconds: Double { Double(rawValue) / 1e6 }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public static func + (left: Self, right: Self) -> Self { Self(left.rawValue &+ right.rawValue) }
  public static func - (left: Self, right: Self) -> Self { Self(left.rawValue &- right.rawValue) }
  public static func += (left: inout Self, right: Self) { left = left + right }
  public static func -= (left: inout Self, right: Self) { left = left - right }
  public static func * (left: Self, right: Int64) -> Self { Self(left.rawValue &* right) }
  public static func / (left: Self, right: Int64) -> Self { Self(left.rawValue / right) }

  /// One number in the summary file, so it is coded as one number.
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// A point on CLOCK_MONOTONIC, which stands still while the machine is suspended.
public struct Instant: Sendable, Hashable, Comparable {
  /// Nanoseconds since the clock's zero (about boot).
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  public static func - (left: Self, right: Self) -> Nanoseconds {
    let (length, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
    return Nanoseconds(overflow ? (left < right ? .min : .max) : length)
  }
  public static func + (left: Self, right: Nanoseconds) -> Self {
    // Saturates: a deadline a thousand years away is never, not now.
    Self(nanoseconds: left.nanoseconds.saturatedAdding(right.rawValue))
  }
}
