// Pressure stall information: how long work on the machine or in a group had to wait for a
// resource.

/// /proc/pressure/{cpu,io,memory} or a control group's *.pressure file.
public struct Pressure: Sendable, Equatable {
  /// Time in which at least one task waited (total of `some`).
  public var some: Nanoseconds
  /// Time in which all tasks that were not idle waited (total of `full`); nil for cpu before Linux
  /// 5.13.
  public var full: Nanoseconds?

  /// Reads the file's bytes; does not allocate unless it throws.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "pressure")
    var some: Nanoseconds?
    while !scanner.isAtEnd(bytes) {
      if bytes.holds("some ", at: scanner.position) {
        some = try Self.total(bytes, &scanner, "some total")
      } else if bytes.holds("full ", at: scanner.position) {
        full = try Self.total(bytes, &scanner, "full total")
      }
      try scanner.finishLine(bytes)
    }
    guard let some else { throw scanner.failure(bytes, "some total") }
    self.some = some
  }

  /// The value of `total=` in the line; the averages before it are left to those who like them.
  private static func total(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner, _ field: String
  ) throws(ProcParseError) -> Nanoseconds {
    while let byte = scanner.peek(bytes), byte != .newline {
      scanner.skipBlanks(bytes)
      if bytes.holds("total=", at: scanner.position) {
        scanner.position += 6
        guard scanner.peek(bytes)?.decimalDigit != nil else { throw scanner.failure(bytes, field) }
        return try scanner.nanoseconds(bytes, field, times: 1_000)
      }
      scanner.skipField(bytes)
    }
    throw scanner.failure(bytes, field)
  }
}
