// How much memory the machine has.

/// The first line of /proc/meminfo.
public enum MemoryTotal {
  /// `MemTotal` in bytes; nil where the line is another one.
  public static func parse(_ bytes: Span<UInt8>) -> UInt64? {
    guard bytes.holds("MemTotal:", at: 0) else { return nil }
    var scanner = ByteScanner(file: "meminfo")
    scanner.position = 9
    scanner.skipBlanks(bytes)
    guard let kibibytes = try? scanner.unsigned(bytes, "MemTotal") else { return nil }
    let (total, isTooMuch) = kibibytes.multipliedReportingOverflow(by: 1024)
    return isTooMuch ? nil : total
  }
}
