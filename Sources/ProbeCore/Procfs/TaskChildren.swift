// The children that one thread has forked and that are still there.

/// /proc/<pid>/task/<tid>/children: pids with a blank after each, no newline. Needs
/// CONFIG_PROC_CHILDREN.
///
/// The kernel promises a complete list only while nothing forks or exits, so a child can be
/// missing.
public enum TaskChildren {
  /// - Throws: where something else than a number stands, or the last number lacks its blank (cut).
  public static func parse(_ bytes: Span<UInt8>) throws(ProcParseError) -> [ProcessID] {
    var scanner = ByteScanner(file: "children")
    var result: [ProcessID] = []
    while true {
      scanner.skipBlanks(bytes)
      if scanner.isAtEnd(bytes) { return result }
      let child = try scanner.int32(bytes, "pid")
      guard child > 0 else { throw scanner.failure(bytes, "pid") }
      result.append(ProcessID(child))
    }
  }
}
