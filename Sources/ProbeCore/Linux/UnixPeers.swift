// Which unix socket is at the other end of one: the kernel tells by NETLINK_SOCK_DIAG, /proc does not.
// Safety: buffers are local arrays, passed with their true sizes for one call each.

internal import Glibc

/// Asks the kernel about unix sockets of our own network namespace.
enum UnixPeers {
  struct Answer: Equatable {
    /// 0 where there is none any more.
    var peer: UInt64
    /// The name that this socket is bound to; its first byte is NUL for an abstract one.
    var name: [UInt8]?
  }

  /// One socket by its inode. Source: sock_diag(7), UNIX_DIAG. nil where it is not known here: another
  /// namespace, a kernel without it.
  static func ask(_ inode: UInt64) -> Answer? {
    guard inode <= UInt64(UInt32.max) else { return nil }
    // AF_NETLINK 16, NETLINK_SOCK_DIAG 4.
    let raw = socket(16, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 4)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: raw)
    let request = message(UInt32(inode))
    let sent = unsafe request.withUnsafeBytes { space in
      Syscalls.retrying { unsafe send(descriptor.raw, space.baseAddress, space.count, 0) }
    }
    guard sent == request.count else { return nil }
    var buffer = [UInt8](repeating: 0, count: 8192)
    // The kernel answers inside of `send`, so this never waits.
    let flags = Int32(MSG_DONTWAIT)
    let count = unsafe buffer.withUnsafeMutableBytes { space in
      Syscalls.retrying { unsafe recv(descriptor.raw, space.baseAddress, space.count, flags) }
    }
    guard count > 0 else { return nil }
    return parse(Array(buffer[..<count]))
  }

  /// struct nlmsghdr: length, type 20 (SOCK_DIAG_BY_FAMILY), flags 1 (NLM_F_REQUEST), sequence, port;
  /// struct unix_diag_req: family 1, protocol, pad, states, inode, what to show, cookie of all ones.
  private static func message(_ inode: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    func put(_ value: UInt32) {
      for shift in 0..<4 { bytes.append(UInt8(value >> (8 * UInt32(shift)) & 0xff)) }
    }
    put(40)
    bytes += [20, 0, 1, 0]
    put(1)
    put(0)
    bytes += [1, 0, 0, 0]
    put(.max)
    put(inode)
    put(0x1 | 0x4)  // UDIAG_SHOW_NAME, UDIAG_SHOW_PEER
    put(.max)
    put(.max)
    return bytes
  }

  /// struct unix_diag_msg is 16 bytes behind the header, then attributes: 0 is the name, 2 the peer.
  static func parse(_ bytes: [UInt8]) -> Answer? {
    func word(_ at: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) }
    }
    guard bytes.count >= 32, bytes[4] == 20, bytes[5] == 0 else { return nil }
    let end = min(bytes.count, Int(word(0)))
    var answer = Answer(peer: 0)
    var at = 32
    while at + 4 <= end {
      let length = Int(bytes[at]) | Int(bytes[at + 1]) << 8
      let type = Int(bytes[at + 2]) | Int(bytes[at + 3]) << 8
      guard length >= 4, at + length <= end else { break }
      if type == 0, length > 4 { answer.name = Array(bytes[at + 4..<at + length]) }
      if type == 2, length >= 8 { answer.peer = UInt64(word(at + 4)) }
      at += (length + 3) & ~3
    }
    return answer
  }
}
