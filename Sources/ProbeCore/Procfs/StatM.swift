// A process's memory in seven numbers: cheaper than status, but without the parts that make a
// footprint.

/// /proc/<pid>/statm, in pages of getpagesize() bytes; all zero for kernel threads and zombies.
public struct StatM: Sendable, Equatable {
  /// Address space (field 1).
  public var sizePages: UInt64
  /// Resident pages (field 2); may lag by some pages per CPU.
  public var residentPages: UInt64
  /// Resident pages of files and shared memory (field 3).
  public var sharedPages: UInt64
  /// Code (field 4).
  public var textPages: UInt64
  /// Data and stacks (field 6).
  public var dataPages: UInt64

  /// Reads the file's bytes; does not allocate unless it throws.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "statm")
    sizePages = try scanner.unsigned(bytes, "size")
    residentPages = try scanner.unsigned(bytes, "resident")
    sharedPages = try scanner.unsigned(bytes, "shared")
    textPages = try scanner.unsigned(bytes, "text")
    _ = try scanner.unsigned(bytes, "lib")  // always 0 since Linux 2.6
    dataPages = try scanner.unsigned(bytes, "data")
    _ = try scanner.unsigned(bytes, "dt")  // always 0 since Linux 2.6
    try scanner.take(.newline, bytes, "end of line")
  }
}
