// Registers while a stack is walked: fixed size, no references, and always aware of what is unknown.

/// Register values by DWARF number.
struct RegisterState {
  private var values = InlineArray<33, UInt64>(repeating: 0)
  /// Bit n is set if register n is known.
  private(set) var known: UInt64

  init(_ registers: RegisterFile) {
    known = registers.known
    for (index, value) in registers.values.prefix(33).enumerated() { values[index] = value }
  }

  /// nil where not known.
  subscript(register: UInt8) -> UInt64? {
    get {
      guard register < 33, known & (1 << UInt64(register)) != 0 else { return nil }
      return values[Int(register)]
    }
    set {
      guard register < 33 else { return }
      if let newValue {
        values[Int(register)] = newValue
        known |= 1 << UInt64(register)
      } else {
        known &= ~(1 << UInt64(register))
      }
    }
  }

  /// Forgets all but these.
  mutating func keepOnly(_ mask: UInt64) { known &= mask }
}

/// The pieces of memory that were copied with the registers.
struct StackMemory {
  let regions: [MemoryRegion]

  func word(at address: UInt64) -> UInt64? {
    for index in regions.indices {
      if let word = regions[index].word(at: address) { return word }
    }
    return nil
  }

  /// A little-endian number of 1, 2, 4 or 8 bytes.
  func number(at address: UInt64, size: Int) -> UInt64? {
    if size == 8 { return word(at: address) }
    guard let region = regions.first(where: { $0.contains(address) }) else { return nil }
    let start = Int(address - region.start)
    guard start + size <= region.bytes.count else { return nil }
    var value: UInt64 = 0
    for index in 0..<size { value |= UInt64(region.bytes[start + index]) << UInt64(8 * index) }
    return value
  }

  /// Which region holds the address.
  func region(of address: UInt64) -> Int? { regions.firstIndex { $0.contains(address) } }
}
