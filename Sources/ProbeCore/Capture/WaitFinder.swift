// What a stalled thread waits for, by name, and who holds it: reads of /proc and of the process's
// memory, while the thread is still there. Nothing is stopped for it.

/// A wait as it was found, and which threads of its chain are worth a stack.
struct FoundWait: Sendable, Equatable {
  var reading: WaitReading
  /// The line of the syscall file that all of it is true for.
  var line: SyscallLine
}

/// Looks at the waits of one process's threads. Belongs to pw-tracer.
struct WaitFinder {
  /// Longer chains are cut. Chosen: more than anybody reads.
  static let chainLimit = 16

  private let pid: ProcessID
  private let sockets: SocketPeers
  /// What cost most to learn, of the last wait: it holds while the thread stays in that call.
  private var known: (tid: ThreadID, call: SyscallLine.Call, object: WaitObject)?

  init(_ pid: ProcessID) {
    self.pid = pid
    sockets = SocketPeers(pid)
  }

  /// - Parameters:
  ///   - line: its syscall file, as when its stack was taken.
  ///   - at: when that was.
  ///   - turn: since when it is busy; a child that was started since then may be what it waits for.
  /// - Returns: nil where it does not wait in a call, or does not any more.
  mutating func find(
    _ tid: ThreadID, _ line: SyscallLine, at: Instant, turn: Instant? = nil
  ) -> FoundWait? {
    guard case .inside(let call) = line else { return nil }
    let wait = describe(call)
    var object: WaitObject
    if let known, known.tid == tid, known.call == call {
      object = known.object
    } else {
      object = WaitObjects(pid, tid, sockets).object(of: wait, call, withNeighbours: true)
      if object.kind == .events, let turn {
        object.process = Neighbours(pid, tid).child(startedSince: turn)
      }
      known = (tid, call, object)
    }
    WaitObjects(pid, tid, sockets).addDetails(to: &object, of: wait, call)
    // Another owner may have another kind of lock to tell; the rest stays.
    object.lock = wait.lock ?? object.lock
    var reading = WaitReading(tid: tid, at: at, call: wait.call, object: object)
    if let first = wait.owner ?? wait.joins { follow(first, from: tid, call, &reading) }
    // What was read while it moved on is of no moment.
    guard self.line(of: tid) == line else {
      known = nil
      return nil
    }
    return FoundWait(reading: reading, line: line)
  }

  /// Whether the first of the chain still holds what the stalled thread waits for.
  func isStillHeld(_ found: FoundWait) -> Bool {
    guard case .inside(let call) = found.line, line(of: found.reading.tid) == found.line else {
      return false
    }
    let wait = describe(call)
    return (wait.owner ?? wait.joins) == found.reading.chain.first?.tid.rawValue
  }

  // MARK: Chains

  private func follow(
    _ first: Int32, from tid: ThreadID, _ call: SyscallLine.Call, _ reading: inout WaitReading
  ) {
    var lines: [SyscallLine?] = []
    var next: Int32? = first
    while let number = next, reading.chain.count < Self.chainLimit {
      let owner = ThreadID(number)
      if owner == tid {
        reading.cycle = -1
        break
      }
      if let member = reading.chain.firstIndex(where: { $0.tid == owner }) {
        reading.cycle = member
        break
      }
      let line = self.line(of: owner)
      lines.append(line)
      var link = WaitLink(tid: owner, name: name(of: owner), call: nil, object: nil)
      next = nil
      if case .inside(let inner)? = line {
        let wait = describe(inner)
        link.call = wait.call
        link.object = WaitObjects(pid, owner, sockets).object(
          of: wait, inner, withNeighbours: false)
        next = wait.owner ?? wait.joins
      }
      reading.chain.append(link)
    }
    verify(lines, call, first, &reading)
  }

  /// All of it was read one after the other from a living process. Who waits in a cycle can never go on, so
  /// a cycle that is one must look the same again.
  private func verify(
    _ lines: [SyscallLine?], _ call: SyscallLine.Call, _ first: Int32, _ reading: inout WaitReading
  ) {
    var holds = holder(describe(call)) == first
    if let cycle = reading.cycle {
      for index in reading.chain.indices {
        guard case .inside(let inner)? = lines[index],
          line(of: reading.chain[index].tid) == lines[index]
        else {
          holds = false
          break
        }
        let isLast = index + 1 == reading.chain.count
        let next =
          isLast
          ? (cycle < 0 ? reading.tid : reading.chain[cycle].tid) : reading.chain[index + 1].tid
        if holder(describe(inner)) != next.rawValue { holds = false }
      }
      if !holds { reading.cycle = nil }
    }
    if !holds { reading.isProbable = true }
  }

  private func holder(_ wait: DumpedThread.Wait) -> Int32? { wait.owner ?? wait.joins }

  // MARK: The process

  private func describe(_ call: SyscallLine.Call) -> DumpedThread.Wait {
    let pid = pid
    return BlockedCall.describe(
      call,
      ProcessQuestions(
        memory: { ProcessMemory.copy(pid, at: $0, count: $1) },
        link: { descriptor in
          (try? Syscalls.readLink("/proc/\(pid)/fd/\(descriptor)")).map(SafeText.decode)
        },
        isThread: { (try? Syscalls.status("/proc/\(pid)/task/\($0)")) != nil },
        now: { Clock.time(of: Int32(truncatingIfNeeded: $0)) }))
  }

  private func line(of tid: ThreadID) -> SyscallLine? {
    guard let bytes = try? InputFile.read("/proc/\(pid)/task/\(tid)/syscall", limit: 512) else {
      return nil
    }
    return try? SyscallLine(bytes.span)
  }

  private func name(of tid: ThreadID) -> String {
    let bytes = (try? InputFile.read("/proc/\(pid)/task/\(tid)/comm", limit: 64)) ?? []
    return SafeText.decode(Comm.name(bytes.span))
  }
}
