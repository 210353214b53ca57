// What a metric is: a named number of a summary, how well it is known, and what it takes to have it.

/// The unit of a metric's value.
public enum MetricUnit: String, Sendable, CaseIterable {
  case seconds = "s"
  case bytes
  case bytesPerSecond = "bytes/s"
  /// Of one core.
  case percent = "%"
  case count
  case perSecond = "/s"

  /// A value in this unit, as people read it.
  public func text(_ value: Double) -> String {
    guard value.isFinite else { return Units.notMeasured }
    // Bounded, so that the conversions cannot trap on a value from a hand-made file.
    let bounded = min(max(value, -9e9), 9e9)
    switch self {
    case .seconds: return Units.text(Nanoseconds(Int64(bounded * 1e9)))
    case .bytes: return Units.text(bytes: UInt64(min(max(value, 0), 9e18)))
    case .bytesPerSecond: return Units.text(bytesPerSecond: value)
    case .percent: return Units.text(percent: value)
    case .perSecond: return Units.fixed(bounded, decimals: abs(bounded) < 100 ? 2 : 0) + " /s"
    case .count:
      return value == bounded.rounded() && value >= 0
        ? Units.text(count: UInt64(bounded)) : Units.fixed(value, decimals: 2)
    }
  }

  /// A distance between two values, with the sign that it is given: no size is below zero, a
  /// distance may be.
  public func text(distance: Double) -> String {
    switch self {
    case .bytes: (distance < 0 ? "-" : "") + text(abs(distance))
    case .bytesPerSecond:
      (distance < 0 ? "-" : "") + Units.text(bytes: UInt64(min(abs(distance), 9e18))) + "/s"
    case .percent: (distance < 0 ? "-" : "") + text(abs(distance))
    case .seconds, .perSecond, .count: text(distance)
    }
  }
}

/// Which direction is an improvement.
public enum MetricDirection: String, Sendable {
  case lower, higher, none
}

/// Which part of a run a metric is taken of.
public struct MetricScope: Sendable, Equatable {
  /// What happened this soon after the start of watching is left out.
  public var grace = Nanoseconds.zero
  /// Whether time for which the machine is to blame counts as the program's.
  public var countsEnvironment = true
  /// The length of time of a metric that takes one; nil for the metric's own.
  public var window: Nanoseconds?
  /// From which length on a turn is a stall; nil where only the summary is at hand.
  public var stallThreshold: Nanoseconds?
  /// The stalls of earlier runs; nil where there is no baseline.
  public var knownStalls: KnownStalls?

  public init() {}

  /// The whole run, all time.
  public static let whole = MetricScope()
}

/// A metric's value and how far it can be trusted.
public struct Measurement: Sendable, Equatable {
  /// In the metric's unit; nil when it was not measured.
  public var value: Double?
  /// How far the true value may be from it, to either side, in the metric's unit.
  public var error: Double
  /// Why there is no value, or why a good one proves nothing; one clause.
  public var doubt: String?
  /// What was left out or assumed; one clause.
  public var note: String?
  /// The number of the stall that the value is mostly about.
  public var stall: Int?

  init(
    _ value: Double?, error: Double = 0, doubt: String? = nil, note: String? = nil,
    stall: Int? = nil
  ) {
    self.value = value.flatMap { $0.isFinite ? $0 : nil }
    self.error = error.isFinite ? abs(error) : 0
    self.doubt = doubt
    self.note = note
    self.stall = stall
  }
}

/// One named number of a summary.
public struct Metric: Sendable {
  /// Lower-case and dotted; stable once released.
  public let key: String
  public let title: String
  public let unit: MetricUnit
  public let better: MetricDirection
  /// What it takes to measure it; empty when it is always there.
  public let needs: String
  /// It can only grow while a run goes on, so that a limit once passed stays passed.
  public let grows: Bool
  /// While a run goes on its value is no more than a guess: what it counts gets its name late.
  public let isKnownLate: Bool
  /// The length of time that it is taken over unless a rule says another; nil where none belongs.
  public let window: Nanoseconds?
  /// A change smaller than this does not matter, in `unit`; nil for metrics that are compared only when
  /// they are asked for.
  public let floor: Double?
  private let body: @Sendable (Summary, MetricScope) -> Measurement

  /// - Parameter error: how far off the value may be, in `unit`.
  init(
    _ key: String, _ title: String, _ unit: MetricUnit, better: MetricDirection = .lower,
    needs: String = "", grows: Bool = false, floor: Double? = nil,
    error: @escaping @Sendable (Summary) -> Double = { _ in 0 },
    read: @escaping @Sendable (Summary) -> Double?
  ) {
    self.init(measured: key, title, unit, better: better, needs: needs, grows: grows, floor: floor)
    {
      summary, _ in Measurement(read(summary), error: error(summary))
    }
  }

  init(
    measured key: String, _ title: String, _ unit: MetricUnit, better: MetricDirection = .lower,
    needs: String = "", grows: Bool = false, isKnownLate: Bool = false,
    window: Nanoseconds? = nil, floor: Double? = nil,
    body: @escaping @Sendable (Summary, MetricScope) -> Measurement
  ) {
    self.key = key
    self.title = title
    self.unit = unit
    self.better = better
    self.needs = needs
    self.grows = grows
    self.isKnownLate = isKnownLate
    self.window = window
    self.floor = floor
    self.body = body
  }

  /// The value over the whole run; nil when it was not measured (or is no finite number).
  public func value(from summary: Summary) -> Double? { measure(summary).value }

  /// The value with all that is known about it.
  public func measure(_ summary: Summary, _ scope: MetricScope = .whole) -> Measurement {
    body(summary, scope)
  }
}
