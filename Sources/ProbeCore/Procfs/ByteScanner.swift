// Walks over the bytes of a /proc file: numbers, keys, lines. Never traps and never allocates
// unless it throws. The bytes are handed in at each call because a span cannot be stored.

/// A position in a /proc file and the file's name for errors.
struct ByteScanner {
  let file: String
  var position: Int

  init(file: String, position: Int = 0) {
    self.file = file
    self.position = max(position, 0)
  }

  func isAtEnd(_ bytes: Span<UInt8>) -> Bool { position >= bytes.count }

  /// The byte at the position; nil at the end.
  func peek(_ bytes: Span<UInt8>) -> UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  /// Passes over spaces and tabs.
  mutating func skipBlanks(_ bytes: Span<UInt8>) {
    while let byte = peek(bytes), byte == .space || byte == .tab { position += 1 }
  }

  /// Passes over one field and the blanks before it.
  mutating func skipField(_ bytes: Span<UInt8>) {
    skipBlanks(bytes)
    while let byte = peek(bytes), !byte.isSeparator { position += 1 }
  }

  /// Takes exactly this byte.
  mutating func take(
    _ byte: UInt8, _ bytes: Span<UInt8>, _ field: String
  ) throws(ProcParseError) {
    guard peek(bytes) == byte else { throw failure(bytes, field) }
    position += 1
  }

  /// Goes to the start of the next line. A last line without its newline was cut, so it throws.
  mutating func finishLine(_ bytes: Span<UInt8>) throws(ProcParseError) {
    let start = position
    while let byte = peek(bytes) {
      position += 1
      if byte == .newline { return }
    }
    position = start
    throw failure(bytes, "end of line")
  }

  /// The range of a line's key up to `:`; the position is then after the colon. Lines without a
  /// colon give an empty range and leave the position at their newline.
  mutating func key(_ bytes: Span<UInt8>) -> Range<Int> {
    let start = position
    while let byte = peek(bytes), byte != .newline {
      position += 1
      if byte == .colon { return start..<position - 1 }
    }
    return start..<start
  }

  /// A decimal number after any blanks. It must be followed by a blank or a newline: a number at
  /// the very end of the bytes may have been cut.
  mutating func unsigned(_ bytes: Span<UInt8>, _ field: String) throws(ProcParseError) -> UInt64 {
    skipBlanks(bytes)
    let start = position
    if let value = digits(bytes), let next = peek(bytes), next.isSeparator { return value }
    position = start
    throw failure(bytes, field)
  }

  /// As `unsigned`, with an optional minus sign.
  mutating func signed(_ bytes: Span<UInt8>, _ field: String) throws(ProcParseError) -> Int64 {
    skipBlanks(bytes)
    let start = position
    let isNegative = peek(bytes) == .minus
    if isNegative { position += 1 }
    if let magnitude = digits(bytes), let next = peek(bytes), next.isSeparator {
      if !isNegative, let value = Int64(exactly: magnitude) { return value }
      if isNegative, magnitude <= 1 << 63 { return Int64(truncatingIfNeeded: 0 &- magnitude) }
    }
    position = start
    throw failure(bytes, field)
  }

  mutating func int32(_ bytes: Span<UInt8>, _ field: String) throws(ProcParseError) -> Int32 {
    skipBlanks(bytes)
    let start = position
    if let value = Int32(exactly: try signed(bytes, field)) { return value }
    position = start
    throw failure(bytes, field)
  }

  /// An unsigned count of nanoseconds that fits into our signed type.
  mutating func nanoseconds(
    _ bytes: Span<UInt8>, _ field: String, times factor: UInt64 = 1
  ) throws(ProcParseError) -> Nanoseconds {
    skipBlanks(bytes)
    let start = position
    let (product, overflow) = try unsigned(bytes, field).multipliedReportingOverflow(by: factor)
    if !overflow, let value = Int64(exactly: product) { return Nanoseconds(value) }
    position = start
    throw failure(bytes, field)
  }

  /// A size as `  123 kB`, in bytes. More than 2^60 bytes is refused, so that sums cannot overflow.
  mutating func kilobytes(_ bytes: Span<UInt8>, _ field: String) throws(ProcParseError) -> UInt64 {
    skipBlanks(bytes)
    let start = position
    let count = try unsigned(bytes, field)
    skipBlanks(bytes)
    if count <= 1 << 50, bytes.holds("kB\n", at: position) { return count * 1024 }
    position = start
    throw failure(bytes, field)
  }

  /// Hexadecimal digits after any blanks, without a prefix and with anything behind them but the
  /// end.
  mutating func hex(_ bytes: Span<UInt8>, _ field: String) throws(ProcParseError) -> UInt64 {
    skipBlanks(bytes)
    let start = position
    var value: UInt64 = 0
    while let digit = peek(bytes)?.hexDigit {
      guard value >> 60 == 0 else { break }
      value = value << 4 | UInt64(digit)
      position += 1
    }
    if position > start, let next = peek(bytes), next.hexDigit == nil { return value }
    position = start
    throw failure(bytes, field)
  }

  /// The error for the field at the position.
  func failure(_ bytes: Span<UInt8>, _ field: String) -> ProcParseError {
    var text: [UInt8] = []
    var index = position
    while index < bytes.count, text.count < 40, !bytes[index].isSeparator {
      text.append(bytes[index])
      index += 1
    }
    return ProcParseError(file: file, field: field, value: SafeText.decode(text))
  }

  /// Decimal digits; nil where there is none or the number needs more than 64 bits.
  private mutating func digits(_ bytes: Span<UInt8>) -> UInt64? {
    let start = position
    var value: UInt64 = 0
    while let digit = peek(bytes)?.decimalDigit {
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
      if isTooLarge || carries { return nil }
      value = sum
      position += 1
    }
    return position > start ? value : nil
  }
}

extension UInt8 {
  static var space: UInt8 { UInt8(ascii: " ") }
  static var tab: UInt8 { UInt8(ascii: "\t") }
  static var newline: UInt8 { UInt8(ascii: "\n") }
  static var colon: UInt8 { UInt8(ascii: ":") }
  static var minus: UInt8 { UInt8(ascii: "-") }

  /// A blank or the end of a line.
  var isSeparator: Bool { self == .space || self == .newline || self == .tab }

  var decimalDigit: UInt8? {
    let digit = self &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }

  /// Lower case only, as the kernel writes it.
  var hexDigit: UInt8? {
    if let digit = decimalDigit { return digit }
    let letter = self &- UInt8(ascii: "a")
    return letter < 6 ? letter + 10 : nil
  }
}

extension Span<UInt8> {
  /// Whether this text stands at the index; false where it would reach over the end.
  func holds(_ text: String, at index: Int) -> Bool {
    var index = index
    for byte in text.utf8 {
      guard index >= 0, index < count, self[index] == byte else { return false }
      index += 1
    }
    return true
  }

  /// Whether the range holds exactly this text.
  func equals(_ text: String, in range: Range<Int>) -> Bool {
    range.count == text.utf8.count && holds(text, at: range.lowerBound)
  }

  /// A copy of the bytes in the range, cut to what there is.
  func copy(_ range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    for index in range { result.append(self[index]) }
    return result
  }
}
