// Stacks as events: what code an address is, and which addresses were on a thread's stack.
// Most stacks of a stall share most of their frames, so a frame's names are written once.

/// The frames that one code address stands for: functions inlined there, innermost first, and the
/// function itself. A later one with the same number replaces it (with lines, which take longer).
public struct CodePlaceReading: Sendable, Equatable {
  /// Unique in a run.
  public var number: Int
  public var frames: [Summary.Frame]

  public init(number: Int, frames: [Summary.Frame]) {
    self.number = number
    self.frames = frames
  }
}

/// A thread's stack at one moment of a stall.
public struct StackReading: Sendable, Equatable {
  public var tid: ThreadID
  public var at: Instant
  /// How long the thread was stopped for it; zero if it was not.
  public var stopTime: Nanoseconds
  /// Why it does not go to the outermost frame; nil if it does.
  public var truncation: StackTruncation?
  /// Numbers of code places, innermost first; each was told of before.
  public var places: [Int]

  public init(
    tid: ThreadID, at: Instant, stopTime: Nanoseconds, truncation: StackTruncation?, places: [Int]
  ) {
    self.tid = tid
    self.at = at
    self.stopTime = stopTime
    self.truncation = truncation
    self.places = places
  }
}

/// What captures have cost the target so far.
public struct CaptureCosts: Sendable, Equatable {
  /// Stops made, how long they were together, and the longest of them.
  public var stops = 0
  public var stopTotal = Nanoseconds.zero
  public var stopLongest = Nanoseconds.zero
  public var withoutStop = 0

  public init() {}

  /// Adds one capture; zero for one without a stop.
  public mutating func add(_ stopTime: Nanoseconds) {
    guard stopTime > .zero else {
      withoutStop += 1
      return
    }
    stops += 1
    stopTotal += stopTime
    stopLongest = max(stopLongest, stopTime)
  }
}

extension CodePlaceReading {
  func encode(into out: inout ByteWriter) {
    out.put(number)
    out.put(list: frames) { out, frame in
      out.put(optional: frame.function) { $0.put($1) }
      out.put(optional: frame.functionOffset) { $0.put($1) }
      out.put(optional: frame.module) { $0.put($1) }
      out.put(optional: frame.offset) { $0.put($1) }
      out.put(optional: frame.file) { $0.put($1) }
      out.put(optional: frame.line) { $0.put($1) }
      out.put(frame.inlined)
      out.put(frame.found.rawValue)
      out.put(frame.inApp)
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    func text(_ r: inout ByteReader) throws(WireError) -> String? {
      try r.optional { (r) throws(WireError) in try r.string() }
    }
    number = try reader.int()
    frames = try reader.list { (r) throws(WireError) in
      let function = try text(&r)
      let start = try r.optional { (r) throws(WireError) in try r.unsigned() }
      let module = try text(&r)
      let offset = try text(&r)
      let file = try text(&r)
      return Summary.Frame(
        function: function, functionOffset: start, module: module, offset: offset, file: file,
        line: try r.optional { (r) throws(WireError) in try r.int() }, inlined: try r.bool(),
        found: try r.word(FrameSource.init(rawValue:)), inApp: try r.bool())
    }
  }
}

extension StackReading {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(at)
    out.put(stopTime)
    out.put(optional: truncation) { $0.put($1.rawValue) }
    out.put(list: places) { $0.put($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    tid = try reader.thread()
    at = try reader.instant()
    stopTime = try reader.nanoseconds()
    truncation = try reader.optional { (r) throws(WireError) in
      try r.word(StackTruncation.init(rawValue:))
    }
    places = try reader.list { (r) throws(WireError) in try r.int() }
  }
}

extension CaptureCosts {
  func encode(into out: inout ByteWriter) {
    out.put(stops)
    out.put(stopTotal)
    out.put(stopLongest)
    out.put(withoutStop)
  }

  init(from reader: inout ByteReader) throws(WireError) {
    stops = try reader.int()
    stopTotal = try reader.nanoseconds()
    stopLongest = try reader.nanoseconds()
    withoutStop = try reader.int()
  }
}
