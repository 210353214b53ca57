// One mapping of a process's address space; its path may hold blanks, newlines and misleading
// words.

/// One line of /proc/<pid>/maps; reading it needs the right to trace the target.
public struct MapsLine: Sendable, Equatable {
  /// Addresses in the process: from `start` up to but without `end`.
  public var start: UInt64
  public var end: UInt64
  public var isReadable: Bool
  public var isWritable: Bool
  public var isExecutable: Bool
  /// MAP_SHARED; else private, copied on write.
  public var isShared: Bool
  /// Offset in the file, in bytes.
  public var offset: UInt64
  public var deviceMajor: UInt64
  public var deviceMinor: UInt64
  /// 0 for memory without a file.
  public var inode: UInt64
  /// The path, raw, or a name in brackets; empty for anonymous memory. The kernel writes a newline
  /// as `\012`, which is undone here; it leaves a backslash alone, so a file that really has `\012`
  /// in its name cannot be told apart by name: compare device and inode.
  public var path: [UInt8]

  private static let deletedMark = Array(" (deleted)".utf8)

  /// The path ends in ` (deleted)`. The kernel adds this for unlinked files, and a file can be
  /// named so: only if no file with that name, device and inode exists it is surely the mark.
  public var isMarkedDeleted: Bool { path.suffix(Self.deletedMark.count) == Self.deletedMark[...] }

  /// The path without a ` (deleted)` at its end.
  public var pathWithoutMark: [UInt8] {
    isMarkedDeleted ? path.dropLast(Self.deletedMark.count) : path
  }

  /// Reads the line at `position` and moves it to the next one.
  ///
  /// - Parameter position: a byte index, 0 for the first line.
  /// - Returns: nil at the end of the bytes.
  /// - Throws: where the line is not valid or was cut; the position then stays.
  public static func next(
    _ bytes: Span<UInt8>, at position: inout Int
  ) throws(ProcParseError) -> MapsLine? {
    var scanner = ByteScanner(file: "maps", position: position)
    if scanner.isAtEnd(bytes) { return nil }
    let line = try MapsLine(bytes, &scanner)
    position = scanner.position
    return line
  }

  private init(_ bytes: Span<UInt8>, _ scanner: inout ByteScanner) throws(ProcParseError) {
    start = try scanner.hex(bytes, "start")
    try scanner.take(.minus, bytes, "range")
    end = try scanner.hex(bytes, "end")
    guard end >= start else { throw scanner.failure(bytes, "range") }
    try scanner.take(.space, bytes, "permissions")
    isReadable = try Self.flag("r", "-", bytes, &scanner)
    isWritable = try Self.flag("w", "-", bytes, &scanner)
    isExecutable = try Self.flag("x", "-", bytes, &scanner)
    isShared = try Self.flag("s", "p", bytes, &scanner)
    try scanner.take(.space, bytes, "offset")
    offset = try scanner.hex(bytes, "offset")
    deviceMajor = try scanner.hex(bytes, "device")
    try scanner.take(.colon, bytes, "device")
    deviceMinor = try scanner.hex(bytes, "device")
    inode = try scanner.unsigned(bytes, "inode")
    scanner.skipBlanks(bytes)
    let pathStart = scanner.position
    try scanner.finishLine(bytes)
    path = Self.unescape(bytes.copy(pathStart..<scanner.position - 1))
  }

  private static func flag(
    _ set: Unicode.Scalar, _ clear: Unicode.Scalar, _ bytes: Span<UInt8>,
    _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> Bool {
    if scanner.peek(bytes) == UInt8(ascii: set) {
      scanner.position += 1
      return true
    }
    try scanner.take(UInt8(ascii: clear), bytes, "permissions")
    return false
  }

  private static func unescape(_ path: [UInt8]) -> [UInt8] {
    guard path.contains(UInt8(ascii: "\\")) else { return path }
    let escape = Array("\\012".utf8)
    var result: [UInt8] = []
    var rest = path[...]
    while let first = rest.first {
      let isEscape = rest.starts(with: escape)
      result.append(isEscape ? .newline : first)
      rest = rest.dropFirst(isEscape ? escape.count : 1)
    }
    return result
  }
}
