// A process that has got many threads, as facts: how many and how fast, and what those that were looked at
// were blocked in.

/// An episode of many threads. A later one with the same number replaces it.
public struct ThreadAlarmReading: Sendable, Equatable {
  public enum Reason: String, Sendable, CaseIterable {
    /// The limit was reached.
    case limit
    /// Half the limit was added within a second.
    case growth
  }

  /// Ready for a CPU without one, of the first watched thread, over a time.
  public struct Delay: Sendable, Equatable {
    public var delay: Nanoseconds
    public var length: Nanoseconds

    public init(_ delay: Nanoseconds, over length: Nanoseconds) {
      self.delay = delay
      self.length = length
    }
  }

  /// From 1 up.
  public var number: Int
  public var at: Instant
  public var reason: Reason
  public var limit: Int
  /// Threads at that time, and the most since.
  public var threads: Int
  public var peak: Int
  /// How many were there when they began to grow, and when that was; nil if they were there from the
  /// start of watching.
  public var grown: (from: Int, since: Instant)?
  /// nil while it goes on.
  public var endedAt: Instant?
  /// Whose delay it is.
  public var watched: ThreadID?
  /// Before the growth; nil where that was not seen.
  public var before: Delay?
  /// Since the growth began.
  public var during: Delay?

  public init(number: Int, at: Instant, reason: Reason, limit: Int, threads: Int) {
    self.number = number
    self.at = at
    self.reason = reason
    self.limit = limit
    self.threads = threads
    peak = threads
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.number == right.number && left.at == right.at && left.reason == right.reason
      && left.limit == right.limit && left.threads == right.threads && left.peak == right.peak
      && left.grown?.from == right.grown?.from && left.grown?.since == right.grown?.since
      && left.endedAt == right.endedAt && left.watched == right.watched
      && left.before == right.before && left.during == right.during
  }
}

/// Where the threads of an alarm were parked. A later one of the same alarm replaces it.
public struct ParkedReading: Sendable, Equatable {
  /// Threads blocked in one call with one stack.
  public struct Group: Sendable, Equatable {
    public var count: Int
    /// The system call's name; nil where it was blocked in none.
    public var call: String?
    /// Numbers of code places, innermost first.
    public var places: [Int]
    public var truncation: StackTruncation?

    public init(count: Int, call: String?, places: [Int], truncation: StackTruncation? = nil) {
      self.count = count
      self.call = call
      self.places = places
      self.truncation = truncation
    }
  }

  /// Threads blocked on one lock or descriptor.
  public struct Object: Sendable, Equatable {
    public var count: Int
    /// What one of them waits for.
    public var wait: WaitReading

    public init(count: Int, wait: WaitReading) {
      self.count = count
      self.wait = wait
    }
  }

  /// Number of the alarm.
  public var alarm: Int
  public var at: Instant
  /// Threads that were looked at, and how many of them were blocked: the others ran.
  public var looked: Int
  public var blocked: Int
  /// Largest first.
  public var groups: [Group]
  public var objects: [Object]

  public init(
    alarm: Int, at: Instant, looked: Int, blocked: Int, groups: [Group], objects: [Object]
  ) {
    self.alarm = alarm
    self.at = at
    self.looked = looked
    self.blocked = blocked
    self.groups = groups
    self.objects = objects
  }
}

extension ThreadAlarmReading {
  func encode(into out: inout ByteWriter) {
    out.put(number)
    out.put(at)
    out.put(reason.rawValue)
    out.put(limit)
    out.put(threads)
    out.put(peak)
    out.put(optional: grown) { out, grown in
      out.put(grown.from)
      out.put(grown.since)
    }
    out.put(optional: endedAt) { $0.put($1) }
    out.put(optional: watched) { $0.put($1.rawValue) }
    for delay in [before, during] {
      out.put(optional: delay) { out, delay in
        out.put(delay.delay)
        out.put(delay.length)
      }
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      number: try reader.int(), at: try reader.instant(),
      reason: try reader.word(Reason.init(rawValue:)), limit: try reader.int(),
      threads: try reader.int())
    peak = try reader.int()
    grown = try reader.optional { (r) throws(WireError) in (try r.int(), try r.instant()) }
    endedAt = try reader.optional { (r) throws(WireError) in try r.instant() }
    watched = try reader.optional { (r) throws(WireError) in try r.thread() }
    before = try Self.delay(&reader)
    during = try Self.delay(&reader)
  }

  private static func delay(_ reader: inout ByteReader) throws(WireError) -> Delay? {
    try reader.optional { (r) throws(WireError) in
      Delay(try r.nanoseconds(), over: try r.nanoseconds())
    }
  }
}

extension ParkedReading {
  func encode(into out: inout ByteWriter) {
    out.put(alarm)
    out.put(at)
    out.put(looked)
    out.put(blocked)
    out.put(list: groups) { out, group in
      out.put(group.count)
      out.put(optional: group.call) { $0.put($1) }
      out.put(list: group.places) { $0.put($1) }
      out.put(optional: group.truncation) { $0.put($1.rawValue) }
    }
    out.put(list: objects) { out, object in
      out.put(object.count)
      object.wait.encode(into: &out)
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      alarm: try reader.int(), at: try reader.instant(), looked: try reader.int(),
      blocked: try reader.int(),
      groups: try reader.list { (r) throws(WireError) in
        Group(
          count: try r.int(), call: try r.optional { (r) throws(WireError) in try r.string() },
          places: try r.list { (r) throws(WireError) in try r.int() },
          truncation: try r.optional { (r) throws(WireError) in
            try r.word(StackTruncation.init(rawValue:))
          })
      },
      objects: try reader.list { (r) throws(WireError) in
        Object(count: try r.int(), wait: try WaitReading(from: &r))
      })
  }
}
