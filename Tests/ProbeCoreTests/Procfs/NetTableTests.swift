// Sockets of /proc/net, and addresses as calls are given them.

import Testing

@testable import ProbeCore

@Suite struct NetTableTests {
  // Linux 6.18, `cat /proc/self/net/tcp` with one connection over the loopback; shortened.
  private static let tcp = Array(
    """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 700 1 0
       1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 701 1 0
       2: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 702 1 0
       3: 0500000A:9C40 0900A8C0:1538 02 00000001:00000000 01:00000064 00000000     0        0 703 2 0

    """.utf8)

  @Test func `a socket is found by its inode, with the address of its other end`() throws {
    let row = try #require(NetTable.first(Self.tcp.span) { $0 == 702 })
    #expect(row.peer == "127.0.0.1:8080" && row.state == 1)
    let waiting = try #require(NetTable.first(Self.tcp.span) { $0 == 703 })
    #expect(waiting.peer == "192.168.0.9:5432" && waiting.state == 2)
    let listening = try #require(NetTable.first(Self.tcp.span) { $0 == 700 })
    #expect(listening.peer == nil && listening.state == 10)
    #expect(NetTable.first(Self.tcp.span) { $0 == 999 } == nil)
  }

  @Test func `the other end on this machine is the socket with both addresses exchanged`() throws {
    let row = try #require(NetTable.first(Self.tcp.span) { $0 == 702 })
    #expect(NetTable.otherEnd(of: row, in: Self.tcp.span)?.inode == 701)
    let away = try #require(NetTable.first(Self.tcp.span) { $0 == 703 })
    #expect(NetTable.otherEnd(of: away, in: Self.tcp.span) == nil)
  }

  @Test func `a cut table never traps, and rows before the cut are found`() {
    for end in 0...Self.tcp.count {
      let cut = Array(Self.tcp[..<end])
      _ = NetTable.first(cut.span) { $0 == 999 }
      if end >= Self.tcp.count - 110 { #expect(NetTable.first(cut.span) { $0 == 700 } != nil) }
    }
  }

  @Test(arguments: [
    ("00000000000000000000000001000000:0050", "[::1]:80"),
    ("B80D0120000000000000000001000000:01BB", "[2001:db8::1]:443"),
    ("0000000000000000FFFF00000100007F:0050", "127.0.0.1:80"),
  ])
  func `addresses of version 6 are written short`(raw: String, text: String) {
    let line =
      "titles\n 0: \(raw) \(raw) 01 00000000:00000000 00:00000000 00000000 0 0 5 1\n"
    #expect(NetTable.first(Array(line.utf8).span) { $0 == 5 }?.peer == text)
  }

  @Test func `a sockaddr gives an address with its port, or a path`() {
    #expect(SocketText.sockaddr([2, 0, 0x15, 0x38, 10, 0, 0, 5, 0, 0])?.peer == "10.0.0.5:5432")
    #expect(SocketText.sockaddr([1, 0] + Array("/run/x\0junk".utf8))?.path == "/run/x")
    #expect(SocketText.sockaddr([1, 0, 0] + Array("bus\0".utf8))?.path == "@bus")
    let six: [UInt8] = [10, 0, 0, 80, 0, 0, 0, 0] + Array(repeating: 0, count: 15) + [1]
    #expect(SocketText.sockaddr(six + [0, 0, 0, 0])?.peer == "[::1]:80")
    for bytes: [UInt8] in [[], [2], [2, 0, 1], [10, 0, 1], [99, 0]] {
      #expect(SocketText.sockaddr(bytes)?.peer == nil)
    }
  }

  @Test func `held locks are told by process and file, waiting ones are not`() {
    let text = """
      1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF
      1: -> FLOCK  ADVISORY  WRITE 4712 08:01:131 0 EOF
      2: OFDLCK ADVISORY  READ -1 00:2a:7 0 EOF
      3: damaged

      """
    let locks = FileLocks.held(Array(text.utf8).span)
    #expect(locks.map(\.pid) == [4711, nil] && locks.map(\.inode) == [131, 7])
    // makedev(8, 1) and makedev(0, 42).
    #expect(locks.map(\.device) == [FileLocks.device(0x801), FileLocks.device(0x2a)])
    for end in 0..<text.utf8.count { _ = FileLocks.held(Array(text.utf8.prefix(end)).span) }
  }

  @Test func `the kernel's answer about a unix socket survives any bytes`() {
    func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * UInt32($0)) & 255) } }
    let head = [20, 0, 0, 0] + word(1) + word(0) + [1, 1, 1, 0] + word(77) + word(0) + word(0)
    let whole =
      word(52) + head + [8, 0, 2, 0] + word(78) + [12, 0, 0, 0] + Array("/run/a\0\0".utf8)
    #expect(UnixPeers.parse(whole)?.peer == 78)
    #expect(UnixPeers.parse(whole)?.name == Array("/run/a\0\0".utf8))
    for end in 0..<whole.count { _ = UnixPeers.parse(Array(whole[..<end])) }
    // An error: type 2.
    #expect(UnixPeers.parse(word(36) + [2, 0] + Array(repeating: 0, count: 30)) == nil)
  }
}
