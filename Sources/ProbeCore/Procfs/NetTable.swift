// The sockets of a network namespace, to learn who is at the other end of one.

/// /proc/<pid>/net/{tcp,tcp6,udp,udp6}: one socket a line.
public enum NetTable {
  /// One socket; addresses as the kernel writes them, which is enough to compare.
  public struct Row: Sendable, Equatable {
    var local: [UInt8]
    var remote: [UInt8]
    /// TCP_ESTABLISHED is 1, TCP_SYN_SENT 2, TCP_LISTEN 10.
    public var state: UInt64
    public var inode: UInt64

    /// `10.0.0.5:5432`, `[::1]:80`; nil for no address.
    public var peer: String? { NetTable.text(remote) }

    /// Both ends have the same address, ports apart, so both are on this machine.
    public var isLocal: Bool {
      local.prefix { $0 != UInt8.colon } == remote.prefix { $0 != UInt8.colon }
    }
  }

  /// The first row that fits; what is no row is passed over.
  public static func first(
    _ bytes: Span<UInt8>, where fits: (_ inode: UInt64) -> Bool
  ) -> Row? {
    scan(bytes) { row in fits(row.inode) }
  }

  /// The socket at the other end of a connection on this machine.
  public static func otherEnd(of row: Row, in bytes: Span<UInt8>) -> Row? {
    scan(bytes) { $0.local == row.remote && $0.remote == row.local && $0.inode != row.inode }
  }

  private static func scan(_ bytes: Span<UInt8>, _ fits: (Row) -> Bool) -> Row? {
    var scanner = ByteScanner(file: "net")
    // The titles; an empty file has none.
    guard (try? scanner.finishLine(bytes)) != nil else { return nil }
    while !scanner.isAtEnd(bytes) {
      if let row = try? row(bytes, &scanner), fits(row) { return row }
      guard (try? scanner.finishLine(bytes)) != nil else { return nil }
    }
    return nil
  }

  private static func row(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> Row {
    scanner.skipField(bytes)  // sl
    let local = field(bytes, &scanner)
    let remote = field(bytes, &scanner)
    // In capital letters, which the scanner does not take.
    let state = UInt64(SafeText.decode(bytes.copy(field(bytes, &scanner))), radix: 16) ?? 0
    for _ in 0..<5 { scanner.skipField(bytes) }  // queues, timer, retransmits, uid, timeout
    return Row(
      local: bytes.copy(local), remote: bytes.copy(remote), state: state,
      inode: try scanner.unsigned(bytes, "inode"))
  }

  private static func field(_ bytes: Span<UInt8>, _ scanner: inout ByteScanner) -> Range<Int> {
    scanner.skipBlanks(bytes)
    let start = scanner.position
    scanner.skipField(bytes)
    return start..<scanner.position
  }

  /// The address is hexadecimal, each four bytes of it in the machine's (little) order; the port is not
  /// turned around.
  private static func text(_ raw: [UInt8]) -> String? {
    let parts = raw.split(separator: UInt8.colon)
    guard parts.count == 2 else { return nil }
    func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8] {
      let values = digits.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
      return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
    let words = bytes(parts[0])
    guard words.count == 4 || words.count == 16 else { return nil }
    let address = stride(from: 0, to: words.count, by: 4).flatMap { words[$0..<$0 + 4].reversed() }
    let port = bytes(parts[1]).reduce(0) { $0 << 8 | Int($1) }
    if address.allSatisfy({ $0 == 0 }), port == 0 { return nil }
    return SocketText.address(address, port: port)
  }
}

/// Addresses of sockets in words.
public enum SocketText {
  /// - Parameter address: four or sixteen bytes in the order of the network.
  public static func address(_ address: [UInt8], port: Int) -> String {
    if address.count == 4 { return dotted(address) + ":\(port)" }
    let mapped = address.prefix(10).allSatisfy { $0 == 0 } && address[10] == 255
    if mapped && address[11] == 255 { return dotted(Array(address.suffix(4))) + ":\(port)" }
    return "[\(groups(address))]:\(port)"
  }

  private static func dotted(_ bytes: [UInt8]) -> String {
    bytes.map { "\($0)" }.joined(separator: ".")
  }

  /// The longest run of zero groups is left out, as in RFC 5952.
  private static func groups(_ bytes: [UInt8]) -> String {
    let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    var best = 0..<0
    var start: Int?
    for index in 0...8 {
      if index < 8, groups[index] == 0 {
        if start == nil { start = index }
      } else if let begin = start {
        if index - begin > best.count { best = begin..<index }
        start = nil
      }
    }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard best.count > 1 else { return text(0..<8) }
    return text(0..<best.lowerBound) + "::" + text(best.upperBound..<8)
  }

  /// A `struct sockaddr` as a call was given it: an address with its port, or the path of a unix socket.
  public static func sockaddr(_ bytes: [UInt8]) -> (peer: String?, path: String?)? {
    guard bytes.count >= 2 else { return nil }
    switch Int(bytes[0]) | Int(bytes[1]) << 8 {
    case 2 where bytes.count >= 8:  // AF_INET
      return (address(Array(bytes[4..<8]), port: Int(bytes[2]) << 8 | Int(bytes[3])), nil)
    case 10 where bytes.count >= 24:  // AF_INET6
      return (address(Array(bytes[8..<24]), port: Int(bytes[2]) << 8 | Int(bytes[3])), nil)
    case 1:  // AF_UNIX
      return (nil, unixPath(bytes.dropFirst(2)))
    default: return nil
    }
  }

  /// A name that begins with NUL is abstract and shown with @.
  static func unixPath(_ raw: ArraySlice<UInt8>) -> String? {
    guard let first = raw.first else { return nil }
    if first == 0 {
      let name = raw.dropFirst()
      let end = name.lastIndex { $0 != 0 }.map { $0 + 1 } ?? name.startIndex
      return end > name.startIndex ? "@" + SafeText.decode(Array(name[..<end])) : nil
    }
    return SafeText.decode(Array(raw.prefix { $0 != 0 }))
  }
}
