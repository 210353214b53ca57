// Loop and stall events to bytes and back; the frames themselves are `EventCodec`'s.

extension LoopReading {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(observer.rawValue)
    out.put(list: homes) { out, home in
      out.put(home.site.call)
      out.put(home.site.stackPointer)
      out.put(home.site.programCounter)
      out.put(home.call)
      out.put(home.visits)
    }
    out.put(optional: turns) { $0.put($1) }
    out.put(longTurns)
    out.put(blockingTime)
    out.put(optional: longestTurn) { $0.put($1) }
    out.put(optional: startup) { $0.put($1) }
    out.put(undecided)
    out.put(optional: verdictless) { $0.put($1) }
    out.put(optional: histogram) { out, histogram in
      out.put(list: histogram.counts.keys.sorted()) { out, bucket in
        out.put(bucket)
        out.put(histogram.counts[bucket] ?? 0)
      }
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      tid: try reader.thread(), observer: try reader.word(LoopObserver.init(rawValue:)))
    homes = try reader.list { (r) throws(WireError) in
      Home(
        site: WaitSite(
          call: try r.int32(), stackPointer: try r.unsigned(), programCounter: try r.unsigned()),
        call: try r.string(), visits: try r.int())
    }
    turns = try reader.optional { (r) throws(WireError) in try r.int() }
    longTurns = try reader.int()
    blockingTime = try reader.nanoseconds()
    longestTurn = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    startup = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    undecided = try reader.nanoseconds()
    verdictless = try reader.optional { (r) throws(WireError) in try r.string() }
    histogram = try reader.optional { (r) throws(WireError) in
      let pairs = try r.list { (r) throws(WireError) in (try r.int(), try r.int()) }
      return TurnHistogram(counts: Dictionary(pairs, uniquingKeysWith: { $1 }))
    }
  }
}

extension StallBegan {
  func encode(into out: inout ByteWriter) {
    out.put(id)
    out.put(tid.rawValue)
    out.put(start)
    out.put(kind.rawValue)
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      id: try reader.int(), tid: try reader.thread(), start: try reader.instant(),
      kind: try reader.word(StallKind.init(rawValue:)))
  }
}

extension StallReading {
  func encode(into out: inout ByteWriter) {
    out.put(id)
    out.put(tid.rawValue)
    out.put(kind.rawValue)
    out.put(start)
    out.put(duration)
    out.put(error)
    out.put(observer.rawValue)
    out.put(certainty.rawValue)
    for field in Summary.CauseParts.fields { out.put(parts[keyPath: field]) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      id: try reader.int(), tid: try reader.thread(),
      kind: try reader.word(StallKind.init(rawValue:)), start: try reader.instant(),
      duration: try reader.nanoseconds(), error: try reader.nanoseconds(),
      observer: try reader.word(LoopObserver.init(rawValue:)),
      certainty: try reader.word(Certainty.init(rawValue:)), parts: Summary.CauseParts())
    for field in Summary.CauseParts.fields { parts[keyPath: field] = try reader.nanoseconds() }
  }
}

extension ByteReader {
  /// A value that is written as its name.
  mutating func word<T>(_ make: (String) -> T?) throws(WireError) -> T {
    let text = try string()
    guard let value = make(text) else { throw .malformed("the word \(text)") }
    return value
  }
}
