// Locks on files, to learn which process holds the one that another waits for.

/// /proc/locks: `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`; who waits has a `->` behind its number.
public enum FileLocks {
  public struct Lock: Sendable, Equatable {
    /// In our own namespace; nil where the kernel does not tell (open file description locks, and
    /// processes of other namespaces).
    public var pid: Int32?
    public var device: UInt64
    public var inode: UInt64
  }

  /// The locks that are held, not those that are waited for.
  public static func held(_ bytes: Span<UInt8>) -> [Lock] {
    var scanner = ByteScanner(file: "locks")
    var result: [Lock] = []
    while !scanner.isAtEnd(bytes) {
      if let lock = try? lock(bytes, &scanner) { result.append(lock) }
      guard (try? scanner.finishLine(bytes)) != nil else { break }
    }
    return result
  }

  /// nil for one that is waited for.
  private static func lock(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> Lock? {
    scanner.skipField(bytes)  // number
    scanner.skipBlanks(bytes)
    if bytes.holds("->", at: scanner.position) { return nil }
    for _ in 0..<3 { scanner.skipField(bytes) }  // type, advisory, access
    let pid = try scanner.int32(bytes, "pid")
    let major = try scanner.hex(bytes, "major")
    try scanner.take(.colon, bytes, "minor")
    let minor = try scanner.hex(bytes, "minor")
    try scanner.take(.colon, bytes, "inode")
    let inode = try scanner.unsigned(bytes, "inode")
    return Lock(pid: pid > 0 ? pid : nil, device: major << 32 | minor, inode: inode)
  }

  /// A device number of stat(2) in the order that `Lock.device` has.
  public static func device(_ number: UInt64) -> UInt64 {
    let major = (number >> 8 & 0xfff) | (number >> 32 & 0xffff_f000)
    let minor = (number & 0xff) | (number >> 12 & 0xffff_ff00)
    return major << 32 | minor
  }
}
