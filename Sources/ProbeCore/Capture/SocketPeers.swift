// Who is at the other end of a socket: asked of the kernel, or looked for in its tables, within a budget.

/// The sockets of one process that were asked about. Belongs to pw-tracer.
final class SocketPeers {
  private struct Peer {
    var address: String?
    var path: String?
    var process: NeighbourProcess?
  }

  /// Longer tables are not searched. Chosen: 1700 sockets.
  private static let tableLimit = 256 << 10
  private static let knownLimit = 64

  private let pid: ProcessID
  private let began = Clock.now()
  /// By inode; a connection's other end never changes.
  private var known: [UInt64: Peer] = [:]
  private var spent = Nanoseconds.zero

  init(_ pid: ProcessID) { self.pid = pid }

  /// Adds address and process, as far as they can be learnt.
  func describe(_ inode: UInt64, seenFrom tid: ThreadID, _ object: inout WaitObject) {
    let peer: Peer?
    if let old = known[inode] {
      peer = old
    } else {
      peer = find(inode, tid)
      // One without a process may get one: a connection that is being made.
      if let peer, peer.process != nil || peer.address != nil {
        if known.count >= Self.knownLimit { known.removeAll() }
        known[inode] = peer
      }
    }
    guard let peer else { return }
    object.peer = object.peer ?? peer.address
    object.path = object.path ?? peer.path
    object.process = peer.process
  }

  private func find(_ inode: UInt64, _ tid: ThreadID) -> Peer? {
    // Unix sockets of another namespace are not known here: then the tables tell, or nothing does.
    if let answer = UnixPeers.ask(inode) {
      guard answer.peer != 0 else { return nil }
      let name = UnixPeers.ask(answer.peer)?.name
      return Peer(
        address: nil, path: name.flatMap { SocketText.unixPath($0[...]) },
        process: Neighbours(pid, tid).holder(of: "socket:[\(answer.peer)]", .any))
    }
    // To walk the kernel's table takes 1 to 2 ms (measured), however few sockets there are.
    guard spent <= .milliseconds(4) + (Clock.now() - began) / 2000 else { return nil }
    let start = Clock.threadCPU()
    defer { spent += Clock.threadCPU() - start }
    for table in ["tcp", "tcp6", "udp", "udp6"] {
      guard let bytes = try? InputFile.read("/proc/\(pid)/net/\(table)", limit: Self.tableLimit),
        let row = NetTable.first(bytes.span, where: { $0 == inode })
      else { continue }
      var peer = Peer(address: row.peer)
      if let other = NetTable.otherEnd(of: row, in: bytes.span), other.inode != 0 {
        peer.process = Neighbours(pid, tid).holder(of: "socket:[\(other.inode)]", .any)
      }
      return peer
    }
    return nil
  }
}
