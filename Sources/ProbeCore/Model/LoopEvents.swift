// What the detector tells of a loop thread: turns in sums, stalls one by one.

/// Who sees the turns of a loop.
public enum LoopObserver: String, Sendable, Codable, CaseIterable {
  case proc, kernel, agent
}

/// What kind of stall.
public enum StallKind: String, Sendable, Codable, CaseIterable {
  case stall, nested, startup, exit
}

/// Whether a stall is proved or only likely.
public enum Certainty: String, Sendable, Codable, CaseIterable {
  case exact, probable
}

/// How bad a stall of a length is.
public enum StallLevel: String, Sendable, Codable, CaseIterable, Comparable {
  case stall, hang, severe, unresponsive, stuck

  /// From this length on, whatever the threshold is.
  public var start: Nanoseconds {
    switch self {
    case .stall: .milliseconds(0)
    case .hang: .milliseconds(500)
    case .severe: .seconds(2)
    case .unresponsive: .seconds(5)
    case .stuck: .seconds(8)
    }
  }

  public init(_ length: Nanoseconds) {
    self = Self.allCases.last { length >= $0.start } ?? .stall
  }

  public static func < (left: Self, right: Self) -> Bool { left.start < right.start }
}

/// The standing of one loop, in sums since watching began; a later reading replaces an earlier one.
public struct LoopReading: Sendable, Equatable {
  public struct Home: Sendable, Equatable {
    public var site: WaitSite
    /// The call's name, as in its manual page.
    public var call: String
    public var visits: Int

    public init(site: WaitSite, call: String, visits: Int) {
      self.site = site
      self.call = call
      self.visits = visits
    }
  }

  public var tid: ThreadID
  public var observer: LoopObserver
  public var homes: [Home]
  /// nil where turns cannot be counted one by one.
  public var turns: Int?
  public var longTurns: Int
  public var blockingTime: Nanoseconds
  public var longestTurn: Nanoseconds?
  public var startup: Nanoseconds?
  /// Time in which it could not be told whether the loop turned.
  public var undecided: Nanoseconds
  /// Why stalls are not judged; nil when they are.
  public var verdictless: String?
  public var histogram: TurnHistogram?

  public init(tid: ThreadID, observer: LoopObserver) {
    self.tid = tid
    self.observer = observer
    homes = []
    longTurns = 0
    blockingTime = .zero
    undecided = .zero
  }
}

/// A stall that has reached the threshold and goes on.
public struct StallBegan: Sendable, Equatable {
  public var id: Int
  public var tid: ThreadID
  public var start: Instant
  public var kind: StallKind

  public init(id: Int, tid: ThreadID, start: Instant, kind: StallKind) {
    self.id = id
    self.tid = tid
    self.start = start
    self.kind = kind
  }
}

/// A stall with all that is known of it.
public struct StallReading: Sendable, Equatable {
  public var id: Int
  public var tid: ThreadID
  public var kind: StallKind
  public var start: Instant
  public var duration: Nanoseconds
  /// How far the length may be off, to either side.
  public var error: Nanoseconds
  public var observer: LoopObserver
  public var certainty: Certainty
  public var parts: Summary.CauseParts

  public init(
    id: Int, tid: ThreadID, kind: StallKind, start: Instant, duration: Nanoseconds,
    error: Nanoseconds, observer: LoopObserver, certainty: Certainty, parts: Summary.CauseParts
  ) {
    self.id = id
    self.tid = tid
    self.kind = kind
    self.start = start
    self.duration = duration
    self.error = error
    self.observer = observer
    self.certainty = certainty
    self.parts = parts
  }
}

/// Turn lengths in log-linear buckets: eight to each doubling, so a value is within 12.5 %. Two of them
/// add up by adding their counts.
public struct TurnHistogram: Sendable, Equatable {
  /// Count by bucket number; buckets that are empty are left out.
  public private(set) var counts: [Int: Int] = [:]

  public init() {}

  public init(counts: [Int: Int]) { self.counts = counts }

  public mutating func add(_ length: Nanoseconds) { counts[Self.bucket(length), default: 0] += 1 }

  /// The bucket of a length: below 8 ns one each, then eight to a doubling.
  public static func bucket(_ length: Nanoseconds) -> Int {
    let value = UInt64(max(0, length.rawValue))
    guard value >= 8 else { return Int(value) }
    let exponent = 63 - value.leadingZeroBitCount
    return (exponent - 2) * 8 + Int((value >> UInt64(exponent - 3)) & 7)
  }

  /// The smallest length that is in the next bucket.
  public static func upperBound(_ bucket: Int) -> Nanoseconds {
    let next = bucket.saturatedAdding(1)
    guard next >= 8 else { return Nanoseconds(Int64(next)) }
    let exponent = next / 8 + 2
    guard exponent < 62 else { return Nanoseconds(.max) }
    return Nanoseconds(Int64(8 + next % 8) << Int64(exponent - 3))
  }
}
