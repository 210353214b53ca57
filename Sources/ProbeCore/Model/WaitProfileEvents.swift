// The sums of a watched thread's waits as a fact: what was counted, not what it means.

/// Where a watched thread's off-CPU time went so far. A later one of the same thread adds to it: its
/// rows replace those with the same numbers.
public struct WaitProfileReading: Sendable, Equatable {
  /// One call on one object.
  public struct Row: Sendable, Equatable {
    /// Unique for the thread.
    public var number: Int
    /// The system call's name; `page fault` and `stopped` for what is no call.
    public var call: String
    public var category: WaitCategory
    /// What it waited for: a path, an address, a lock; nil where the call has no object.
    public var object: String?
    /// Time surely spent there.
    public var exact: Nanoseconds
    /// Its share of time between probes that saw different things, and how far that may be off.
    public var sampled: Nanoseconds
    public var sampledError: Nanoseconds
    /// Probes in short sleeps, and the time that they stand for.
    public var hits: Int
    public var hitTime: Nanoseconds
    /// Sleeps that were seen.
    public var seen: Int
    public var longest: Nanoseconds

    public init(
      number: Int, call: String, category: WaitCategory, object: String? = nil,
      exact: Nanoseconds, sampled: Nanoseconds = .zero, sampledError: Nanoseconds = .zero,
      hits: Int = 0, hitTime: Nanoseconds = .zero, seen: Int = 1, longest: Nanoseconds = .zero
    ) {
      self.number = number
      self.call = call
      self.category = category
      self.object = object
      self.exact = exact
      self.sampled = sampled
      self.sampledError = sampledError
      self.hits = hits
      self.hitTime = hitTime
      self.seen = seen
      self.longest = longest
    }
  }

  public var tid: ThreadID
  /// From the first probe to the last.
  public var length: Nanoseconds
  /// That time less CPU and run delay.
  public var blocked: Nanoseconds
  /// Of it, in sleeps too short for every one to be seen, shared out by `hitTime`.
  public var unseen: Nanoseconds
  public var rows: [Row]

  public init(
    tid: ThreadID, length: Nanoseconds, blocked: Nanoseconds, unseen: Nanoseconds, rows: [Row]
  ) {
    self.tid = tid
    self.length = length
    self.blocked = blocked
    self.unseen = unseen
    self.rows = rows
  }
}

/// The stack of a row of a wait profile; a later one of the same row replaces it.
public struct WaitStackReading: Sendable, Equatable {
  public var tid: ThreadID
  /// Number of the row.
  public var row: Int
  /// Numbers of code places, innermost first.
  public var places: [Int]
  public var truncation: StackTruncation?

  public init(tid: ThreadID, row: Int, places: [Int], truncation: StackTruncation?) {
    self.tid = tid
    self.row = row
    self.places = places
    self.truncation = truncation
  }
}

extension WaitStackReading {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(row)
    out.put(list: places) { $0.put($1) }
    out.put(optional: truncation) { $0.put($1.rawValue) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      tid: try reader.thread(), row: try reader.int(),
      places: try reader.list { (r) throws(WireError) in try r.int() },
      truncation: try reader.optional { (r) throws(WireError) in
        try r.word(StackTruncation.init(rawValue:))
      })
  }
}

extension WaitProfileReading {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(length)
    out.put(blocked)
    out.put(unseen)
    out.put(list: rows) { out, row in
      out.put(row.number)
      out.put(row.call)
      out.put(byte: row.category.rawValue)
      out.put(optional: row.object) { $0.put($1) }
      out.put(row.exact)
      out.put(row.sampled)
      out.put(row.sampledError)
      out.put(row.hits)
      out.put(row.hitTime)
      out.put(row.seen)
      out.put(row.longest)
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      tid: try reader.thread(), length: try reader.nanoseconds(),
      blocked: try reader.nanoseconds(), unseen: try reader.nanoseconds(),
      rows: try reader.list { (r) throws(WireError) in
        let (number, call, raw) = (try r.int(), try r.string(), try r.byte())
        guard let category = WaitCategory(rawValue: raw) else {
          throw .malformed("wait category \(raw)")
        }
        return Row(
          number: number, call: call, category: category,
          object: try r.optional { (r) throws(WireError) in try r.string() },
          exact: try r.nanoseconds(), sampled: try r.nanoseconds(),
          sampledError: try r.nanoseconds(), hits: try r.int(), hitTime: try r.nanoseconds(),
          seen: try r.int(), longest: try r.nanoseconds())
      })
  }
}
