// One load of eight bytes from a copied stack: the innermost step of unwinding.
// Safety: the offset is checked against the count of the bytes right before the load.

extension MemoryRegion {
  /// The little-endian word at an address of the target; nil where it was not copied.
  func word(at address: UInt64) -> UInt64? {
    let offset = address &- start
    guard bytes.count >= 8, offset <= UInt64(bytes.count - 8) else { return nil }
    return unsafe bytes.withUnsafeBytes {
      unsafe UInt64(
        littleEndian: $0.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self))
    }
  }

  /// Whether the address was copied.
  func contains(_ address: UInt64) -> Bool { address &- start < UInt64(bytes.count) }
}
