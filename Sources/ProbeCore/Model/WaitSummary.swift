// The parts of the summary that tell of off-CPU time and of many threads.

extension Summary {
  /// Where the off-CPU time of one watched thread went, over the whole run.
  public struct WaitProfile: Sendable, Equatable, Codable {
    public var tid: Int32
    public var name: String
    /// How long it was looked at.
    public var length: Nanoseconds
    /// That time less CPU and run delay. The rows and `unseen` add up to it.
    public var blocked: Nanoseconds
    /// Blocked where no probe was and nothing tells in what.
    public var unseen: Nanoseconds
    /// Longest first.
    public var rows: [WaitRow]
  }

  /// One call on one object.
  public struct WaitRow: Sendable, Equatable, Codable {
    public var call: String
    /// `events`, `lock`, `disk`, `pipe`, `socket`, `sleep`, `child`, `pageFault`, `join`, `signal`, `other`.
    public var kind: String
    /// A path, an address, a process at the other end; nil where the call names none.
    public var object: String?
    public var time: Nanoseconds
    /// How far `time` may be off, to either side.
    public var error: Nanoseconds
    /// Sleeps that were seen; short ones may have been many more.
    public var seen: Int
    public var longest: Nanoseconds
    /// Where it was called from, longest first; empty unless asked for.
    public var stacks: [WaitStack]
  }

  /// A stack at a wait, with the time of all waits there.
  public struct WaitStack: Sendable, Equatable, Codable {
    public var time: Nanoseconds
    public var truncated: StackTruncation?
    /// Innermost first.
    public var frames: [Frame]
  }

  /// An episode of many threads.
  public struct ThreadAlarm: Sendable, Equatable, Codable {
    /// `limit` or `growth`.
    public var reason: String
    public var limit: Int
    /// Since `run.startMonotonic`.
    public var at: Nanoseconds
    /// nil where it went on to the end.
    public var endedAt: Nanoseconds?
    public var threads: Int
    public var peak: Int
    /// How many there were before, and how long it took; nil for those that were there from the start.
    public var grownFrom: Int?
    public var grownWithin: Nanoseconds?
    /// All of it in one line.
    public var sentence: String
    /// Threads that were looked at, and those of them that were blocked; nil where none were.
    public var looked: Int?
    public var blocked: Int?
    /// Largest first.
    public var parked: [ParkedThreads]
    /// Ready for a CPU without one, of the first watched thread: share of time in percent.
    public var runDelayBefore: Double?
    public var runDelayDuring: Double?
  }

  /// Threads blocked in one call with one stack.
  public struct ParkedThreads: Sendable, Equatable, Codable {
    public var count: Int
    public var call: String?
    public var truncated: StackTruncation?
    public var frames: [Frame]
  }
}
