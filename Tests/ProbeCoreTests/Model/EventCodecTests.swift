import Testing

@testable import ProbeCore

@Suite struct EventCodecTests {
  /// Everything that can be read, and the error that ended it.
  private func decodeAll(_ bytes: [UInt8]) -> (events: [ProbeEvent], error: WireError?) {
    var reader = ByteReader(bytes)
    var events: [ProbeEvent] = []
    do {
      while let event = try EventCodec.decode(&reader) { events.append(event) }
      return (events, nil)
    } catch {
      return (events, error)
    }
  }

  @Test func `the samples hold an event of every kind`() {
    let kinds = Set(
      SampleEvents.all.map { event in
        var out = ByteWriter()
        EventCodec.encode(event, into: &out)
        return out.bytes[0]
      })
    #expect(kinds == Set((1...255).filter { EventCodec.Kind(rawValue: $0) != nil }))
    #expect(EventCodec.Kind(rawValue: 0) == nil)
  }

  @Test func `every event comes back as it was`() {
    for event in SampleEvents.all {
      var out = ByteWriter()
      EventCodec.encode(event, into: &out)
      let (events, error) = decodeAll(out.bytes)
      #expect(events == [event])
      #expect(error == nil)
    }
  }

  @Test func `a stream comes back in order`() {
    let (events, error) = decodeAll(SampleEvents.stream().bytes)
    #expect(events == SampleEvents.all)
    #expect(error == nil)
  }

  @Test func `a stream cut anywhere gives the whole events before the cut`() {
    let (bytes, ends) = SampleEvents.stream()
    for count in 0...bytes.count {
      let (events, error) = decodeAll(Array(bytes.prefix(count)))
      let whole = ends.count { $0 <= count }
      #expect(events == Array(SampleEvents.all.prefix(whole)), "cut at \(count)")
      #expect(
        error == (count == 0 || ends.contains(count) ? nil : .truncated), "cut at \(count)")
    }
  }

  @Test func `a payload cut inside a whole frame is malformed, and the next event still comes`()
    throws
  {
    for event in SampleEvents.all {
      var out = ByteWriter()
      EventCodec.encode(event, into: &out)
      let kind = try #require(EventCodec.Kind(rawValue: out.bytes[0]))
      let payload = Array(out.bytes.dropFirst(5))
      for count in 0..<payload.count {
        var cut = ByteWriter()
        cut.frame(kind: kind.rawValue) { out in
          for byte in payload.prefix(count) { out.put(byte: byte) }
        }
        EventCodec.encode(.stopped(true, at: Instant(nanoseconds: 1)), into: &cut)
        var reader = ByteReader(cut.bytes)
        #expect(throws: WireError.malformed("event of kind \(kind)")) {
          _ = try EventCodec.decode(&reader)
        }
        let next = try EventCodec.decode(&reader)
        #expect(next == .stopped(true, at: Instant(nanoseconds: 1)))
      }
    }
  }

  @Test func `frames of unknown kinds are passed over`() {
    var out = ByteWriter()
    for (index, event) in SampleEvents.all.enumerated() {
      out.frame(kind: index % 2 == 0 ? 0 : 255) { out in
        for _ in 0..<index { out.put(byte: 0xff) }
      }
      EventCodec.encode(event, into: &out)
    }
    out.frame(kind: 254) { $0.put("the end") }
    let (events, error) = decodeAll(out.bytes)
    #expect(events == SampleEvents.all)
    #expect(error == nil)
  }

  @Test func `fields that a later version adds at the end of a payload are passed over`() {
    var out = ByteWriter()
    for event in SampleEvents.all {
      var one = ByteWriter()
      EventCodec.encode(event, into: &one)
      out.frame(kind: one.bytes[0]) { out in
        for byte in one.bytes.dropFirst(5) { out.put(byte: byte) }
        out.put("more")
      }
    }
    #expect(decodeAll(out.bytes).events == SampleEvents.all)
  }

  @Test func `a tick written piece by piece has the same bytes`() {
    let tick = SampleEvents.tick
    var whole = ByteWriter()
    EventCodec.encode(.tick(tick), into: &whole)
    var pieces = ByteWriter()
    EventCodec.encodeTick(
      at: tick.at, late: tick.late, skipped: tick.skipped, processCPU: tick.processCPU,
      threadCount: tick.threadCount, changed: tick.threads.count, into: &pieces
    ) { out in
      for reading in tick.threads { EventCodec.encodeThread(reading, into: &out) }
    }
    #expect(pieces.bytes == whole.bytes)
  }

  @Test func `each flipped bit gives events or an error, never a trap`() {
    let bytes = SampleEvents.stream().bytes
    var differing = 0
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        if readOn(damaged) != SampleEvents.all { differing += 1 }
      }
    }
    // Nearly every bit means something; the rest are other spellings of a boolean.
    #expect(differing > bytes.count * 7)
  }

  @Test func `many wild bytes at once never trap`() {
    let bytes = SampleEvents.stream().bytes
    var dice = Dice(seed: 11)
    for _ in 0..<500 {
      var damaged = bytes
      for _ in 0...dice.below(40) {
        damaged[dice.below(damaged.count)] = UInt8(truncatingIfNeeded: dice.next())
      }
      _ = readOn(damaged)
    }
    for _ in 0..<500 {
      _ = readOn((0..<dice.below(200)).map { _ in UInt8(truncatingIfNeeded: dice.next()) })
    }
  }

  @Test func `a list that claims more elements than there are bytes reserves nothing`() {
    var out = ByteWriter()
    out.frame(kind: EventCodec.Kind.tick.rawValue) { out in
      out.put(Instant(nanoseconds: 1))
      out.put(Nanoseconds.zero)
      out.put(0)
      out.put(byte: 0)
      out.put(1)
      out.put(UInt64.max)
    }
    #expect(decodeAll(out.bytes).error == .malformed("event of kind tick"))
  }

  /// All events, going on after malformed ones as a reader of a damaged recording would.
  private func readOn(_ bytes: [UInt8]) -> [ProbeEvent] {
    var reader = ByteReader(bytes)
    var events: [ProbeEvent] = []
    while true {
      do {
        guard let event = try EventCodec.decode(&reader) else { return events }
        events.append(event)
      } catch WireError.malformed {
        continue
      } catch {
        return events
      }
    }
  }
}
