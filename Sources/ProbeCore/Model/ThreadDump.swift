// The threads of one process at one moment: what `perfwatch dump` found, before it is text or JSON.

/// A dump. Its JSON keys are described by Docs/dump.schema.json.
public struct ThreadDump: Sendable, Equatable {
  public static let schemaName = "perfwatch.dump/1"

  /// The process.
  public struct Target: Sendable, Equatable, Encodable {
    public var pid: Int32
    /// Its comm.
    public var name: String
    /// nil where it cannot be read.
    public var executable: String?
    /// How many threads it had, also if not all were asked for.
    public var threads: Int

    public init(pid: Int32, name: String, executable: String?, threads: Int) {
      self.pid = pid
      self.name = name
      self.executable = executable
      self.threads = threads
    }
  }

  /// A stack, and who is there.
  public struct Stack: Sendable, Equatable {
    /// Innermost first.
    public var frames: [Summary.Frame]
    /// nil if it goes to the outermost frame.
    public var truncation: StackTruncation?
    public var threads: [Int32]

    public init(frames: [Summary.Frame], truncation: StackTruncation?, threads: [Int32]) {
      self.frames = frames
      self.truncation = truncation
      self.threads = threads
    }
  }

  /// What the dump did to the process and to us.
  public struct Cost: Sendable, Equatable, Encodable {
    /// Threads whose stacks were copied without a stop.
    public var withoutStop = 0
    /// Threads that were stopped, each for itself.
    public var stopped = 0
    public var stops = 0
    public var stopTotal = Nanoseconds.zero
    public var stopLongest = Nanoseconds.zero
    /// From the first capture to the last one, wall clock.
    public var captureTime = Nanoseconds.zero
    /// All of it, names and lines included.
    public var time = Nanoseconds.zero
    /// Ours, helpers included.
    public var cpu = Nanoseconds.zero

    public init() {}
  }

  public var build: Summary.Build
  public var target: Target
  /// ISO 8601, UTC.
  public var takenAt: String
  /// CLOCK_MONOTONIC.
  public var monotonic: Instant
  /// Main first, then by number.
  public var threads: [DumpedThread]
  /// Equal ones once; in the order in which they are shown.
  public var stacks: [Stack]
  public var cost: Cost
  /// Sentences about what is missing.
  public var notes: [String]

  public init(
    build: Summary.Build, target: Target, takenAt: String, monotonic: Instant,
    threads: [DumpedThread], stacks: [Stack], cost: Cost, notes: [String]
  ) {
    self.build = build
    self.target = target
    self.takenAt = takenAt
    self.monotonic = monotonic
    self.threads = threads
    self.stacks = stacks
    self.cost = cost
    self.notes = notes
  }
}

/// One thread of a dump.
public struct DumpedThread: Sendable, Equatable, Encodable {
  public var tid: Int32
  public var name: String
  public var state: State
  /// What it waits for; nil if it does not, and where that is not told.
  public var wait: Wait?
  /// Index into `stacks`; nil if there is none.
  public var stack: Int?
  /// Why there is no stack, or why no more of it.
  public var missing: String?
  /// 0 if it was not stopped.
  public var stopTime: Nanoseconds

  public init(
    tid: Int32, name: String, state: State, wait: Wait? = nil, stack: Int? = nil,
    missing: String? = nil, stopTime: Nanoseconds = .zero
  ) {
    self.tid = tid
    self.name = name
    self.state = state
    self.wait = wait
    self.stack = stack
    self.missing = missing
    self.stopTime = stopTime
  }

  /// As the state letter of /proc has it.
  public enum State: String, Sendable, Equatable, Encodable {
    /// On a CPU or ready for one.
    case running
    case sleeping
    /// Uninterruptibly: disk, page fault, vfork, an old freezer.
    case uninterruptible
    /// By job control.
    case stopped
    /// Stopped by a debugger.
    case traced
    /// Ended; a process's main thread stays so while others live.
    case ended
    /// Of a frozen control group.
    case frozen
    case unknown

    public init(letter: UInt8) {
      switch letter {
      case UInt8(ascii: "R"): self = .running
      case UInt8(ascii: "S"), UInt8(ascii: "I"): self = .sleeping
      case UInt8(ascii: "D"): self = .uninterruptible
      case UInt8(ascii: "T"): self = .stopped
      case UInt8(ascii: "t"): self = .traced
      case UInt8(ascii: "Z"), UInt8(ascii: "X"): self = .ended
      default: self = .unknown
      }
    }
  }

  /// A blocked system call, as far as /proc and the process's memory tell.
  public struct Wait: Sendable, Equatable, Encodable {
    /// Its name.
    public var call: String
    /// The descriptors that it waits for, at most eight.
    public var descriptors: [Descriptor] = []
    /// How many more there are.
    public var moreDescriptors = 0
    /// Of a futex, in the process.
    public var address: String?
    /// The thread that holds the lock, where the lock says so.
    public var owner: Int32?
    /// The thread whose end is waited for.
    public var joins: Int32?
    /// The child that is waited for; -1 for any.
    public var child: Int32?
    /// How long the call takes at most; nil for no limit, or where it is not known.
    public var timeout: Nanoseconds?
    /// `timeout` is what is left of it, not the whole.
    public var isRest = false
    /// The kernel's function it sleeps in, for an uninterruptible one.
    public var kernelFunction: String?

    public init(call: String) { self.call = call }
  }

  /// An open file of the process.
  public struct Descriptor: Sendable, Hashable, Encodable {
    public var number: Int
    /// A path, `pipe:[inode]`, `socket:[inode]`, `anon_inode:[eventpoll]`; nil where it is not told.
    public var object: String?

    public init(number: Int, object: String?) {
      self.number = number
      self.object = object
    }
  }
}

extension ThreadDump: Encodable {
  private enum Key: String, CodingKey {
    case schema, perfwatch, target, takenAt, monotonic, threads, stacks, cost, notes
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(Self.schemaName, forKey: .schema)
    try container.encode(build, forKey: .perfwatch)
    try container.encode(target, forKey: .target)
    try container.encode(takenAt, forKey: .takenAt)
    try container.encode(monotonic.nanoseconds, forKey: .monotonic)
    try container.encode(threads, forKey: .threads)
    try container.encode(stacks, forKey: .stacks)
    try container.encode(cost, forKey: .cost)
    try container.encode(notes, forKey: .notes)
  }
}

extension ThreadDump.Stack: Encodable {
  private enum Key: String, CodingKey { case threads, truncated, frames }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(threads, forKey: .threads)
    try container.encodeIfPresent(truncation, forKey: .truncated)
    try container.encode(frames, forKey: .frames)
  }
}
