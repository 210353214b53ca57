// Which control group a process is in, for version 1, version 2 and machines that mount both.

/// One line of /proc/<pid>/cgroup.
public struct CGroupPath: Sendable, Equatable {
  /// 0 for version 2.
  public var hierarchy: UInt64
  /// Version 1: the controllers of the hierarchy (`cpu`, `cpuacct`) or `name=...`; empty for
  /// version 2.
  public var controllers: [[UInt8]]
  /// The path below the mount point of the hierarchy, as our own namespace sees it; may hold
  /// colons. A group that was removed ends in ` (deleted)`.
  public var path: [UInt8]

  public var isVersion2: Bool { hierarchy == 0 && controllers.isEmpty }

  /// All lines of the file.
  public static func parse(_ bytes: Span<UInt8>) throws(ProcParseError) -> [CGroupPath] {
    var scanner = ByteScanner(file: "cgroup")
    var result: [CGroupPath] = []
    while !scanner.isAtEnd(bytes) {
      result.append(try line(bytes, &scanner))
    }
    return result
  }

  private static func line(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> CGroupPath {
    var hierarchy: UInt64 = 0
    let start = scanner.position
    while let digit = scanner.peek(bytes)?.decimalDigit {
      guard hierarchy < 1 << 32 else { break }
      hierarchy = hierarchy * 10 + UInt64(digit)
      scanner.position += 1
    }
    guard scanner.position > start else { throw scanner.failure(bytes, "hierarchy") }
    try scanner.take(.colon, bytes, "hierarchy")
    let names = scanner.key(bytes)
    // `key` also gives an empty range for a line without a colon; then the position is not behind
    // one.
    guard scanner.position > 0, bytes[scanner.position - 1] == .colon,
      scanner.position == names.upperBound + 1
    else { throw scanner.failure(bytes, "controllers") }
    let pathStart = scanner.position
    guard scanner.peek(bytes) == UInt8(ascii: "/") else { throw scanner.failure(bytes, "path") }
    try scanner.finishLine(bytes)
    return CGroupPath(
      hierarchy: hierarchy,
      controllers: bytes.copy(names).split(separator: UInt8(ascii: ",")).map(Array.init),
      path: bytes.copy(pathStart..<scanner.position - 1))
  }
}
