// How often a thread called read and write: a loop that turns does so at each turn.

/// /proc/<pid>/task/<tid>/io; reading it needs the right to trace the target.
enum TaskIO {
  /// syscr + syscw: read and write calls since the thread began; nil where the lines are missing.
  static func calls(_ bytes: Span<UInt8>) -> UInt64? {
    var scanner = ByteScanner(file: "io")
    var sum: UInt64?
    while !scanner.isAtEnd(bytes) {
      let key = scanner.key(bytes)
      if bytes.equals("syscr", in: key) || bytes.equals("syscw", in: key),
        let value = try? scanner.unsigned(bytes, "syscr")
      {
        sum = (sum ?? 0).addingReportingOverflow(value).partialValue
      }
      guard (try? scanner.finishLine(bytes)) != nil else { return sum }
    }
    return sum
  }
}
