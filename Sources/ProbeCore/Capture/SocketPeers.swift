// Who is at the other end of a socket: asked of the kernel, or looked for in its tables, within a budget.

/// The sockets of one process that were asked about. Belongs to pw-tracer.
final class SocketPeers {
  private struct Peer {
    var address: String?
    var path: String?
    var process: NeighbourProcess?
    /// The other end is on this machine, or may be one day, so that its process may be found next time:
    /// a connection that nobody has accepted yet, one that is being made, a search that took too long.
    var isOpen = false
    var tries = 0
  }

  /// So often a process that was not found is looked for. Chosen: each may walk the table again.
  private static let tryLimit = 3

  /// Longer tables are not searched. Chosen: 1700 sockets.
  private static let tableLimit = 256 << 10
  private static let knownLimit = 64

  private let pid: ProcessID
  private let began = Clock.now()
  /// By inode; a connection's other end never changes, but its owner may.
  private var known: [UInt64: Peer] = [:]
  private var spent = Nanoseconds.zero

  init(_ pid: ProcessID) { self.pid = pid }

  /// Adds address and process, as far as they can be learnt.
  func describe(_ inode: UInt64, seenFrom tid: ThreadID, _ object: inout WaitObject) {
    var peer = known[inode]
    if peer?.isOpen ?? true, peer?.tries ?? 0 < Self.tryLimit, var found = find(inode, tid) {
      found.tries = (peer?.tries ?? 0) + 1
      if known.count >= Self.knownLimit { known.removeAll() }
      known[inode] = found
      peer = found
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
      let process = Neighbours(pid, tid).holder(of: "socket:[\(answer.peer)]", .any)
      return Peer(
        path: name.flatMap { SocketText.unixPath($0[...]) }, process: process,
        isOpen: process == nil)
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
      let other = NetTable.otherEnd(of: row, in: bytes.span)
      // The number is 0 until the connection is accepted.
      if let inode = other?.inode, inode != 0 {
        peer.process = Neighbours(pid, tid).holder(of: "socket:[\(inode)]", .any)
      }
      // The kernel writes the table in pieces: a line can be missing where others come and go.
      peer.isOpen = peer.process == nil && (other != nil || row.isLocal || row.state != 1)
      return peer
    }
    return nil
  }
}
