// Walks over the bytes of unwind tables. They may be hostile: every step is checked, and a step that
// cannot be made is nil.

/// A position in little-endian bytes whose first byte stands at `base` of the module.
struct ByteCursor {
  let bytes: [UInt8]
  /// The module-relative address of the first byte, for pointers relative to themselves.
  let base: UInt64
  private(set) var position = 0

  init(_ bytes: [UInt8], base: UInt64 = 0) {
    self.bytes = bytes
    self.base = base
  }

  var isAtEnd: Bool { position >= bytes.count }
  var remaining: Int { bytes.count - position }

  mutating func byte() -> UInt8? {
    guard position < bytes.count else { return nil }
    defer { position += 1 }
    return bytes[position]
  }

  /// An unsigned number of 1, 2, 4 or 8 bytes.
  mutating func number(_ size: Int) -> UInt64? {
    guard size <= remaining else { return nil }
    var value: UInt64 = 0
    for index in 0..<size { value |= UInt64(bytes[position + index]) << UInt64(8 * index) }
    position += size
    return value
  }

  mutating func signed(_ size: Int) -> Int64? {
    guard let value = number(size) else { return nil }
    let shift = Int64(64 - 8 * size)
    return (Int64(bitPattern: value) << shift) >> shift
  }

  /// ULEB128 of at most ten bytes; bits over 64 are dropped.
  mutating func unsignedLEB() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = byte() else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  /// SLEB128, as above.
  mutating func signedLEB() -> Int64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = byte() else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      guard byte >= 0x80 else {
        if byte & 0x40 != 0, shift + 7 < 64 { value |= ~0 << (shift + 7) }
        return Int64(bitPattern: value)
      }
    }
    return nil
  }

  /// A block with its ULEB128 length before it.
  mutating func block() -> [UInt8]? {
    guard let length = unsignedLEB(), length <= UInt64(remaining) else { return nil }
    return take(Int(length))
  }

  mutating func take(_ count: Int) -> [UInt8]? {
    guard count >= 0, count <= remaining else { return nil }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func skip(_ count: Int) -> Bool {
    guard count >= -position, count <= remaining else { return false }
    position += count
    return true
  }

  /// Text up to a zero byte, without it.
  mutating func cString() -> [UInt8]? {
    guard let end = bytes[position...].firstIndex(of: 0) else { return nil }
    defer { position = end + 1 }
    return Array(bytes[position..<end])
  }

  /// A pointer in one of the DW_EH_PE encodings; nil for those that no linker writes here
  /// (indirect, aligned, relative to text or function) and on which libunwind 1.6.2 gives up.
  ///
  /// - Parameter dataBase: what DW_EH_PE_datarel counts from.
  mutating func pointer(encoding: UInt8, dataBase: UInt64 = 0) -> UInt64? {
    let place = base &+ UInt64(position)
    let value: UInt64?
    switch encoding & 0x0f {
    case 0x00, 0x04, 0x0c: value = number(8)
    case 0x01: value = unsignedLEB()
    case 0x02: value = number(2)
    case 0x03: value = number(4)
    case 0x09: value = signedLEB().map(UInt64.init(bitPattern:))
    case 0x0a: value = signed(2).map(UInt64.init(bitPattern:))
    case 0x0b: value = signed(4).map(UInt64.init(bitPattern:))
    default: value = nil
    }
    guard let value else { return nil }
    switch encoding & 0xf0 {
    case 0x00: return value
    case 0x10: return place &+ value
    case 0x30: return dataBase &+ value
    default: return nil
    }
  }
}
