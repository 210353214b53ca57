import Testing

@testable import ProbeCore

@Suite struct WireFormatTests {
  /// One value of every kind, and how it is read back.
  private func stream() -> (bytes: [UInt8], ends: [Int]) {
    var out = ByteWriter()
    var ends: [Int] = []
    func end() { ends.append(out.count) }
    out.put(UInt64.max)
    end()
    out.put(Int64.min)
    end()
    out.put(Int32(-7))
    end()
    out.put(true)
    end()
    out.put(1.5)
    end()
    out.put("naïve\u{0}")
    end()
    out.put(optional: 300) { $0.put($1) }
    end()
    out.put(optional: Int?.none) { $0.put($1) }
    end()
    out.put(list: [1, 2, 300]) { $0.put($1) }
    end()
    out.put(Nanoseconds(-5))
    end()
    return (out.bytes, ends)
  }

  /// How many values come back whole.
  private func readAll(_ bytes: [UInt8]) -> (values: Int, error: WireError?) {
    var reader = ByteReader(bytes)
    var count = 0
    do throws(WireError) {
      #expect(try reader.unsigned() == .max)
      count += 1
      #expect(try reader.signed() == .min)
      count += 1
      #expect(try reader.int32() == -7)
      count += 1
      #expect(try reader.bool())
      count += 1
      #expect(try reader.double() == 1.5)
      count += 1
      #expect(try reader.string() == "naïve\u{0}")
      count += 1
      let some = try reader.optional { (r) throws(WireError) in try r.int() }
      #expect(some == 300)
      count += 1
      let none = try reader.optional { (r) throws(WireError) in try r.int() }
      #expect(none == nil)
      count += 1
      let list = try reader.list { (r) throws(WireError) in try r.int() }
      #expect(list == [1, 2, 300])
      count += 1
      #expect(try reader.nanoseconds() == Nanoseconds(-5))
      count += 1
      #expect(reader.isAtEnd && reader.remaining == 0)
      return (count, nil)
    } catch {
      return (count, error)
    }
  }

  @Test func `every kind comes back, and every prefix gives the whole values before the cut`() {
    let (bytes, ends) = stream()
    for count in 0...bytes.count {
      let result = readAll(Array(bytes.prefix(count)))
      #expect(result.values == ends.count { $0 <= count }, "cut at \(count)")
      #expect(result.error == (count == bytes.count ? nil : .truncated), "cut at \(count)")
    }
  }

  @Test func `frames cut anywhere leave the reader at the frame's beginning`() throws {
    var out = ByteWriter()
    out.frame(kind: 7) { $0.put("first") }
    let first = out.count
    out.frame(kind: 8) { _ in }
    let second = out.count
    out.frame(kind: 9) { $0.put("third") }
    for count in 0...out.count {
      var reader = ByteReader(Array(out.bytes.prefix(count)))
      var kinds: [UInt8] = []
      do {
        while let frame = try reader.nextFrame() { kinds.append(frame.kind) }
      } catch {
        #expect(error == .truncated)
        #expect(reader.position == (count < first ? 0 : count < second ? first : second))
      }
      let whole = count < first ? 0 : count < second ? 1 : count < out.count ? 2 : 3
      #expect(kinds == Array([7, 8, 9].prefix(whole)))
    }
  }

  @Test func `a number of more than 64 bits and a number that does not fit are malformed`() {
    var long = ByteReader(Array(repeating: 0x80, count: 11) + [0])
    #expect(throws: WireError.malformed("number longer than 64 bits")) { try long.unsigned() }
    var out = ByteWriter()
    out.put(Int64(Int32.max) + 1)
    var wide = ByteReader(out.bytes)
    #expect(throws: WireError.malformed("32-bit number")) { try wide.int32() }
  }

  @Test func `a length or count beyond the bytes reserves nothing`() {
    for count in [UInt64(2), 1 << 40, .max] {
      var out = ByteWriter()
      out.put(count)
      out.put(byte: 1)
      var text = ByteReader(out.bytes)
      #expect(throws: WireError.truncated) { try text.byteString() }
      var list = ByteReader(out.bytes)
      #expect(throws: WireError.truncated) {
        try list.list { (r) throws(WireError) in try r.byte() }
      }
    }
  }

  @Test func `bounds outside the bytes are drawn in`() {
    for (from, to) in [(-5, 2), (0, 99), (3, 1), (.min, .max), (.max, .min)] {
      let reader = ByteReader([1, 2, 3], from: from, to: to)
      #expect(reader.remaining >= 0 && reader.remaining <= 3)
    }
  }

  @Test func `a writer is emptied and cut back without losing its order`() {
    var out = ByteWriter()
    out.put(byte: 1)
    let mark = out.count
    out.put("thrown away")
    out.truncate(to: mark)
    out.put(byte: 2)
    #expect(out.bytes == [1, 2])
    out.removeAll()
    #expect(out.count == 0)
  }
}

@Suite struct TimeTests {
  @Test func `a point far away is never, not in the past`() {
    let now = Instant(nanoseconds: 5)
    #expect(now + Nanoseconds(.max) == Instant(nanoseconds: .max))
    #expect(Instant(nanoseconds: -5) + Nanoseconds(.min) == Instant(nanoseconds: .min))
    #expect(now + .seconds(1) - now == .seconds(1))
  }

  @Test func `sums and products stop at the ends of their type`() {
    #expect(Int64.max.saturatedAdding(1) == .max && Int64.min.saturatedAdding(-1) == .min)
    #expect(Int64(3).saturatedAdding(-5) == -2)
    #expect(UInt64.max.saturatedAdding(1) == .max && UInt8(250).saturatedAdding(5) == 255)
    #expect(Int64.max.saturatedMultiplying(by: 2) == .max)
    #expect(Int64.max.saturatedMultiplying(by: -2) == .min)
    #expect(Int64.min.saturatedMultiplying(by: -1) == .max)
    #expect(UInt64(7).saturatedMultiplying(by: 6) == 42)
  }
}
