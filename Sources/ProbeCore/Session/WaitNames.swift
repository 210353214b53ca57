// What the rows of a wait profile are called: the objects behind descriptors and addresses. Looked up
// once for each row, when the thread is first seen there; other processes a second later.

/// Names the objects of waits.
enum WaitNames {
  /// What is known of one row's object.
  enum Name: Sendable, Equatable {
    case none
    case text(String)
    /// A pipe or a socket by its link, whose other end was not looked for.
    case link([UInt8])
  }

  /// Looks for other ends; bounded, whatever a program opens.
  final class Peers {
    private let pid: ProcessID
    private let sockets: SocketPeers
    /// A search costs 0.4 ms at most. Chosen.
    private var left = 16

    init(_ pid: ProcessID) {
      self.pid = pid
      sockets = SocketPeers(pid)
    }

    /// `pipe from indexer (pid 812)`, `socket to 10.0.0.5:5432 (postgres, pid 9)`.
    func text(_ link: [UInt8], _ tid: ThreadID, isWriting: Bool) -> String {
      let link = SafeText.decode(link)
      let isPipe = link.hasPrefix("pipe:")
      let plain = isPipe ? "pipe" : link.hasPrefix("socket:") ? "socket" : link
      guard left > 0 else { return plain }
      left -= 1
      if isPipe {
        let other = Neighbours(pid, tid).holder(of: link, isWriting ? .reading : .writing)
        let way = isWriting ? "to" : "from"
        return other.map { "pipe \(way) \($0.name) (pid \($0.pid))" } ?? plain
      }
      guard link.hasPrefix("socket:["), let inode = UInt64(link.dropFirst(8).dropLast()) else {
        return plain
      }
      var object = WaitObject(.socket)
      sockets.describe(inode, seenFrom: tid, &object)
      let process = object.process.map { "\($0.name), pid \($0.pid)" }
      if let peer = object.peer ?? object.path {
        return "socket to \(peer)" + (process.map { " (\($0))" } ?? "")
      }
      return process.map { "socket of \($0)" } ?? plain
    }
  }

  static func name(_ key: WaitLedger.Key, _ source: borrowing ProcSource) -> Name {
    guard let handle = key.handle else { return .none }
    if WaitCalls.isFutex(key.call) { return .text("lock 0x" + String(handle, radix: 16)) }
    guard handle < 1 << 20,
      let link = key.link ?? (try? Syscalls.readLink(source.path("fd/\(handle)")))
    else { return .none }
    if link.starts(with: "/".utf8) { return .text(SafeText.decode(link)) }
    if link.starts(with: "anon_inode:".utf8) {
      return .text(SafeText.decode(Array(link.dropFirst(11))))
    }
    return .link(link)
  }

  static func call(_ key: WaitLedger.Key) -> String {
    switch key.call {
    case WaitLedger.Key.pageFault.call: "page fault"
    case WaitLedger.Key.stopped.call: "stopped"
    case WaitSite.unknownCall: "(unknown call)"
    default: WaitCalls.named(key.call)?.name ?? SystemCalls.name(Int64(max(0, key.call)))
    }
  }

  static func isWriting(_ call: String) -> Bool {
    call.contains("write") || call.hasPrefix("send") || call == "connect"
  }
}

extension WatchedLoop {
  /// Names what is new, while the thread is there.
  func nameWaits(_ source: borrowing ProcSource) {
    let rows = detector.waits.rows
    guard waitNames.count < rows.count else { return }
    for row in rows[waitNames.count...] { waitNames.append(WaitNames.name(row.key, source)) }
  }
}

extension LoopWatcher {
  /// The waits of a loop that have grown.
  ///
  /// - Returns: how many events were written.
  func tellWaits(
    _ loop: WatchedLoop, _ source: borrowing ProcSource, into out: inout ByteWriter
  ) -> Int {
    // Rows that came with the last records.
    loop.nameWaits(source)
    let news = loop.detector.waits.takeNews()
    guard !news.isEmpty, let since = loop.detector.waits.since,
      let last = loop.detector.waits.last
    else { return 0 }
    let tid = loop.sampler.tid
    let rows = news.map { number, row in
      let call = WaitNames.call(row.key)
      if case .link(let link) = loop.waitNames[number] {
        loop.waitNames[number] = .text(
          waitPeers.text(link, tid, isWriting: WaitNames.isWriting(call)))
      }
      var told = WaitProfileReading.Row(
        number: number, call: call, category: row.key.category, exact: row.exact,
        sampled: row.sampled, sampledError: Nanoseconds(Int64(row.squares.squareRoot())),
        hits: row.hits, hitTime: row.hitTime, seen: row.seen, longest: row.longest)
      if case .text(let text) = loop.waitNames[number] { told.object = text }
      return told
    }
    let waits = loop.detector.waits
    EventCodec.encode(
      .waitProfile(
        WaitProfileReading(
          tid: tid, length: last.at - since, blocked: waits.blocked, unseen: waits.unseen,
          rows: rows)), into: &out)
    return 1
  }
}
