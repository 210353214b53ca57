// From program counters to rows, so that a warm step is one look-up. This is what makes us quicker
// than libunwind, whose cached step takes and gives back a lock with two calls of sigprocmask.

/// Rows by the address in the process that they were looked up with.
struct RowCache {
  private var rows: [FrameRow] = []
  private var plain: [PlainRow?] = []
  private var rowNumbers: [FrameRow: Int32] = [:]
  /// Open addressing; 0 is no address of code.
  private var addresses: [UInt64]
  private var values: [Int32]
  private var used = 0

  private static let firstSize = 512
  /// 12 bytes an entry: 768 KiB; then it starts anew (chosen).
  private static let lastSize = 1 << 16

  init() {
    addresses = []
    values = []
  }

  mutating func removeAll() { self = RowCache() }

  /// What is known of code without a table; numbers that no row has.
  enum Tableless: Int32 {
    case code = -1
    /// Where handlers return to.
    case signalReturn = -2
    /// What nobody called.
    case entry = -3
  }

  /// The row number, or one of `Tableless`; nil if not known yet.
  func number(of address: UInt64) -> Int32? {
    if addresses.isEmpty { return nil }
    let mask = addresses.count - 1
    var index = Self.hash(address) & mask
    while addresses[index] != 0 {
      if addresses[index] == address { return values[index] }
      index = (index + 1) & mask
    }
    return nil
  }

  /// The row with that number if it is a plain one.
  func plainRow(_ number: Int32) -> PlainRow? { plain[Int(number)] }
  func row(_ number: Int32) -> FrameRow { rows[Int(number)] }

  /// Keeps what was found out.
  mutating func insert(_ address: UInt64, _ row: FrameRow) -> Int32 {
    if used * 2 >= addresses.count { grow() }
    let value: Int32
    if let known = rowNumbers[row] {
      value = known
    } else {
      value = Int32(rows.count)
      rows.append(row)
      plain.append(PlainRow(row))
      rowNumbers[row] = value
    }
    place(address, value)
    return value
  }

  mutating func insert(_ address: UInt64, _ what: Tableless) -> Int32 {
    if used * 2 >= addresses.count { grow() }
    place(address, what.rawValue)
    return what.rawValue
  }

  private mutating func place(_ address: UInt64, _ value: Int32) {
    let mask = addresses.count - 1
    var index = Self.hash(address) & mask
    while addresses[index] != 0, addresses[index] != address { index = (index + 1) & mask }
    if addresses[index] == 0 { used += 1 }
    addresses[index] = address
    values[index] = value
  }

  private mutating func grow() {
    if addresses.count >= Self.lastSize { removeAll() }
    let old = (addresses, values)
    let size = max(Self.firstSize, addresses.count * 2)
    addresses = Array(repeating: 0, count: size)
    values = Array(repeating: 0, count: size)
    used = 0
    for index in old.0.indices where old.0[index] != 0 { place(old.0[index], old.1[index]) }
  }

  private static func hash(_ address: UInt64) -> Int {
    Int(truncatingIfNeeded: (address &* 0x9e37_79b9_7f4a_7c15) >> 32)
  }
}
