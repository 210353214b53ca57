// The part of the summary that tells of loops and stalls. Detectors fill it; until one ran it is empty.

extension Summary {
  /// One watched loop thread.
  public struct Loop: Sendable, Equatable, Codable {
    public var tid: Int32
    public var name: String
    public var observer: String
    public var homes: [Home]
    public var turns: Int?
    public var longTurns: Int?
    public var blockingTime: Nanoseconds?
    public var longestTurn: Nanoseconds?
    /// From the start of the target to its first idle wait; nil if it was not seen.
    public var startup: Nanoseconds?
    /// Why stalls were not judged; nil when they were.
    public var verdictless: String?
    /// Time in which it could not be told whether the loop turned.
    public var undecided: Nanoseconds?
    /// Turn lengths, shortest first; nil where turns cannot be counted one by one.
    public var histogram: [TurnBucket]?
  }

  /// How many turns were shorter than `below` and not shorter than the bucket before.
  public struct TurnBucket: Sendable, Equatable, Codable {
    public var below: Nanoseconds
    public var count: Int
  }

  /// Where a loop thread parks when it has nothing to do.
  public struct Home: Sendable, Equatable, Codable {
    public var syscall: String
    public var stackPointer: String
    public var programCounter: String
    public var visits: Int
    public var symbol: String?
  }

  public struct Stall: Sendable, Equatable, Codable {
    public var id: Int
    public var tid: Int32
    public var thread: String
    public var kind: String
    public var level: String
    public var start: Nanoseconds
    public var duration: Nanoseconds
    public var error: Nanoseconds
    public var observer: String
    public var certainty: String
    public var cause: Cause
    public var blame: String?
    /// How much of its time without stops is the surroundings' share; nil where that is not known.
    public var environmentPercent: Double?
    public var blocker: Blocker?
    public var signature: String?
    public var group: Int?
    /// The user does not want it counted.
    public var ignored: Bool
    public var stacks: [Stack]
  }

  /// Sums over all stalls that are held against the program (kinds `stall` and `exit`), those that were
  /// not kept one by one included, those that the user wants ignored not; nil where no loop could be
  /// judged.
  public struct StallTotals: Sendable, Equatable, Codable {
    public var count: Int?
    public var total: Nanoseconds?
    public var longest: Nanoseconds?
  }

  public struct Cause: Sendable, Equatable, Codable {
    public var sentence: String
    public var parts: CauseParts
  }

  /// Where the time of a stall went; the parts add up to its length.
  public struct CauseParts: Sendable, Equatable, Codable {
    public var cpuUser = Nanoseconds.zero
    public var cpuSystem = Nanoseconds.zero
    public var runDelay = Nanoseconds.zero
    public var lock = Nanoseconds.zero
    public var disk = Nanoseconds.zero
    public var pipe = Nanoseconds.zero
    public var socket = Nanoseconds.zero
    public var sleep = Nanoseconds.zero
    public var child = Nanoseconds.zero
    public var pageFault = Nanoseconds.zero
    public var stopped = Nanoseconds.zero
    public var throttled = Nanoseconds.zero
    public var otherWait = Nanoseconds.zero
    public var unknown = Nanoseconds.zero

    public init() {}

    /// All parts, in the order of the summary file.
    static var fields: [WritableKeyPath<CauseParts, Nanoseconds>] {
      [
        \.cpuUser, \.cpuSystem, \.runDelay, \.lock, \.disk, \.pipe, \.socket, \.sleep, \.child,
        \.pageFault, \.stopped, \.throttled, \.otherWait, \.unknown,
      ]
    }
  }

  public struct Blocker: Sendable, Equatable, Codable {
    public var kind: String
    public var tid: Int32?
    public var name: String?
    public var path: String?
    public var peer: String?
    public var command: String?
    /// One sentence for each step: who waits for whom.
    public var chain: [String]
    /// Of the first holder.
    public var stack: [Frame]
    /// The threads of the chain, in its order; of a deadlock all its members but the stalled thread.
    public var holders: [Holder]
  }

  /// A thread that holds what others wait for.
  public struct Holder: Sendable, Equatable, Codable {
    public var tid: Int32
    public var name: String
    /// `in slow_under_lock`, `waiting for a mutex`.
    public var doing: String
    /// Innermost first; empty where none was taken.
    public var stack: [Frame]
  }

  public struct Stack: Sendable, Equatable, Codable {
    public var at: Nanoseconds
    public var weight: Nanoseconds
    public var stopTime: Nanoseconds
    public var truncated: StackTruncation?
    public var frames: [Frame]
  }

  public struct Frame: Sendable, Equatable, Codable {
    public var function: String?
    /// Bytes from the beginning of the function to `offset`; nil where the function is not known, and
    /// for one that was inlined.
    public var functionOffset: UInt64?
    public var module: String?
    public var offset: String?
    public var file: String?
    public var line: Int?
    public var inlined: Bool
    public var found: FrameSource
    /// The program's own code, not the system's.
    public var inApp: Bool

    public init(
      function: String?, functionOffset: UInt64? = nil, module: String?, offset: String?,
      file: String? = nil, line: Int? = nil, inlined: Bool = false, found: FrameSource,
      inApp: Bool = false
    ) {
      self.function = function
      self.functionOffset = functionOffset
      self.module = module
      self.offset = offset
      self.file = file
      self.line = line
      self.inlined = inlined
      self.found = found
      self.inApp = inApp
    }
  }

  public struct StallGroup: Sendable, Equatable, Codable {
    public var signature: String
    public var title: String
    public var count: Int
    public var total: Nanoseconds
    public var longest: Nanoseconds
    public var level: String
    public var blame: String?
    public var stallIds: [Int]
    public var heaviestStack: Stack?
    /// Starts of the first and the last one, since `run.startMonotonic`.
    public var first: Nanoseconds
    public var last: Nanoseconds
    /// Sums of the stalls' parts: where equal stalls have different causes, all are told.
    public var parts: CauseParts
    public var ignored: Bool
  }
}
