// Bytes of the event stream: a writer that reuses one buffer, and a reader that survives any input.
// The stream is both the queue between our threads and the recording on disk, so one format serves.

/// Why bytes could not be read back.
public enum WireError: Error, Equatable, Sendable {
  /// The bytes end in the middle of a value. At the end of a recording this means it was cut.
  case truncated
  /// The bytes are no value of this kind.
  case malformed(String)
}

/// Appends values to a buffer that keeps its capacity between uses.
public struct ByteWriter: Sendable {
  public private(set) var bytes: [UInt8] = []

  public init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  public var count: Int { bytes.count }

  /// Empties the buffer and keeps its memory.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Cuts the buffer back to `count` bytes.
  public mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

  public mutating func put(byte: UInt8) { bytes.append(byte) }

  /// LEB128, seven bits a byte, lowest first.
  public mutating func put(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Zigzag, so that small negative numbers stay short.
  public mutating func put(_ value: Int64) {
    put(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  public mutating func put(_ value: Int) { put(Int64(value)) }
  public mutating func put(_ value: Int32) { put(Int64(value)) }
  public mutating func put(_ value: Bool) { put(byte: value ? 1 : 0) }
  public mutating func put(_ value: Nanoseconds) { put(value.rawValue) }
  public mutating func put(_ value: Instant) { put(value.nanoseconds) }

  public mutating func put(_ value: Double) { put(value.bitPattern) }

  public mutating func put(bytes value: [UInt8]) {
    put(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  public mutating func put(_ value: String) {
    let utf8 = Array(value.utf8)
    put(bytes: utf8)
  }

  /// A presence byte, then the value.
  public mutating func put<T>(optional value: T?, _ body: (inout ByteWriter, T) -> Void) {
    guard let value else { return put(byte: 0) }
    put(byte: 1)
    body(&self, value)
  }

  public mutating func put<T>(list: [T], _ body: (inout ByteWriter, T) -> Void) {
    put(UInt64(list.count))
    for element in list { body(&self, element) }
  }

  /// Writes one event frame: kind, length of the payload, payload.
  public mutating func frame(kind: UInt8, _ body: (inout ByteWriter) -> Void) {
    put(byte: kind)
    // The length is written with a fixed width of four bytes so that it can be filled in afterwards.
    let at = bytes.count
    bytes.append(contentsOf: (0, 0, 0, 0) as FourBytes)
    body(&self)
    let length = UInt32(bytes.count - at - 4)
    for index in 0..<4 { bytes[at + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
  }
}

private typealias FourBytes = (UInt8, UInt8, UInt8, UInt8)
extension [UInt8] {
  fileprivate mutating func append(contentsOf four: FourBytes) {
    append(four.0)
    append(four.1)
    append(four.2)
    append(four.3)
  }
}

/// Reads values from a slice of bytes; throws instead of trapping on every input.
public struct ByteReader: Sendable {
  private let bytes: [UInt8]
  public private(set) var position: Int
  private let end: Int

  public init(_ bytes: [UInt8]) { self.init(bytes, from: 0, to: bytes.count) }

  /// Reads from `from` up to but without `to`, both clamped to the bytes there are.
  public init(_ bytes: [UInt8], from: Int, to: Int) {
    self.bytes = bytes
    self.end = min(max(to, 0), bytes.count)
    self.position = min(max(from, 0), self.end)
  }

  public var isAtEnd: Bool { position >= end }
  public var remaining: Int { end - position }

  public mutating func byte() throws(WireError) -> UInt8 {
    guard position < end else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  public mutating func unsigned() throws(WireError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      guard shift < 64 else { throw .malformed("number longer than 64 bits") }
      value |= UInt64(next & 0x7f) << shift
      if next < 0x80 { return value }
      shift += 7
    }
  }

  public mutating func signed() throws(WireError) -> Int64 {
    let raw = try unsigned()
    return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
  }

  public mutating func int() throws(WireError) -> Int {
    Int(try signed())
  }

  public mutating func int32() throws(WireError) -> Int32 {
    guard let value = Int32(exactly: try signed()) else { throw .malformed("32-bit number") }
    return value
  }

  public mutating func bool() throws(WireError) -> Bool { try byte() != 0 }
  public mutating func nanoseconds() throws(WireError) -> Nanoseconds { Nanoseconds(try signed()) }
  public mutating func instant() throws(WireError) -> Instant {
    Instant(nanoseconds: try signed())
  }
  public mutating func double() throws(WireError) -> Double {
    Double(bitPattern: try unsigned())
  }

  public mutating func byteString() throws(WireError) -> [UInt8] {
    let count = try unsigned()
    guard count <= UInt64(remaining) else { throw .truncated }
    defer { position += Int(count) }
    return Array(bytes[position..<position + Int(count)])
  }

  public mutating func string() throws(WireError) -> String {
    String(decoding: try byteString(), as: UTF8.self)
  }

  public mutating func optional<T>(
    _ body: (inout ByteReader) throws(WireError) -> T
  ) throws(WireError) -> T? {
    try byte() == 0 ? nil : try body(&self)
  }

  public mutating func list<T>(
    _ body: (inout ByteReader) throws(WireError) -> T
  ) throws(WireError) -> [T] {
    let count = try unsigned()
    // Every element takes at least one byte, so a hostile count cannot reserve more than the file.
    guard count <= UInt64(remaining) else { throw .truncated }
    var result: [T] = []
    result.reserveCapacity(min(Int(count), 4096))
    for _ in 0..<count { result.append(try body(&self)) }
    return result
  }

  /// The next frame's kind and a reader limited to its payload; nil at the end of the bytes.
  ///
  /// - Throws: `truncated` if the frame is cut; the position is then where the frame began.
  public mutating func nextFrame() throws(WireError) -> (kind: UInt8, payload: ByteReader)? {
    guard !isAtEnd else { return nil }
    guard remaining >= 5 else { throw .truncated }
    var length = 0
    for index in 0..<4 { length |= Int(bytes[position + 1 + index]) << (8 * index) }
    guard length <= remaining - 5 else { throw .truncated }
    let kind = bytes[position]
    let start = position + 5
    position = start + length
    return (kind, ByteReader(bytes, from: start, to: start + length))
  }
}
