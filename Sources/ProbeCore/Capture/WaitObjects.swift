// From a call's arguments to the object in words that a user knows: a path, an address, a command.

/// The objects of one thread's waits.
struct WaitObjects {
  private let pid: ProcessID
  private let tid: ThreadID
  private let sockets: SocketPeers

  init(_ pid: ProcessID, _ tid: ThreadID, _ sockets: SocketPeers) {
    self.pid = pid
    self.tid = tid
    self.sockets = sockets
  }

  private static let polls: Set<String> = ["poll", "ppoll", "select", "pselect6"]
  private static let writers: Set<String> = [
    "write", "writev", "pwrite64", "pwritev", "sendto", "sendmsg", "sendmmsg", "sendfile", "splice",
  ]

  /// - Parameter withNeighbours: also other processes are looked for, which takes more reads.
  func object(
    of wait: DumpedThread.Wait, _ call: SyscallLine.Call, withNeighbours: Bool
  ) -> WaitObject {
    switch wait.call {
    case "futex", "futex_wait", "futex_waitv", "semop", "semtimedop":
      var object = WaitObject(wait.joins == nil ? .lock : .join)
      object.lock = wait.call.hasPrefix("sem") ? "semaphore" : wait.lock
      return object
    case "nanosleep", "clock_nanosleep": return WaitObject(.sleep)
    case "rt_sigtimedwait", "rt_sigsuspend", "pause": return WaitObject(.signal)
    case "wait4", "waitid", "vfork", "clone", "clone3": return child(wait.child ?? -1)
    case "epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter", "io_getevents":
      return WaitObject(.events)
    default: break
    }
    guard let first = wait.descriptors.first else {
      if Self.polls.contains(wait.call) { return WaitObject(.sleep) }
      var object = WaitObject(wait.path == nil ? .other : .file)
      object.path = wait.path
      return object
    }
    var object = describe(first, isWriting: Self.writers.contains(wait.call), wait, withNeighbours)
    object.others = wait.descriptors.count - 1 + wait.moreDescriptors
    if isFileLock(wait.call, call) {
      object.kind = .fileLock
      if withNeighbours { object.process = FileLockHolder.find(pid, first.number, waiter: tid) }
    }
    return object
  }

  /// flock, and fcntl with F_SETLKW (7) or F_OFD_SETLKW (38).
  private func isFileLock(_ name: String, _ call: SyscallLine.Call) -> Bool {
    name == "flock" || name == "fcntl" && [7, 38].contains(call.arguments.second)
  }

  private func describe(
    _ descriptor: DumpedThread.Descriptor, isWriting: Bool, _ wait: DumpedThread.Wait,
    _ withNeighbours: Bool
  ) -> WaitObject {
    let link = descriptor.object ?? ""
    if link.hasPrefix("pipe:") {
      var object = WaitObject(.pipe)
      object.isWriting = isWriting
      if withNeighbours {
        object.process = Neighbours(pid, tid).holder(of: link, isWriting ? .reading : .writing)
      }
      return object
    }
    if link.hasPrefix("socket:[") {
      var object = WaitObject(.socket)
      object.isWriting = isWriting
      object.peer = wait.peer
      object.path = wait.path
      if withNeighbours, let inode = UInt64(link.dropFirst(8).dropLast()) {
        sockets.describe(inode, seenFrom: tid, &object)
      }
      return object
    }
    if link.hasPrefix("/dev/pts/") || link.hasPrefix("/dev/tty") || link == "/dev/console" {
      var object = WaitObject(.terminal)
      object.path = link
      return object
    }
    guard link.hasPrefix("/") else {
      return WaitObject(link.hasPrefix("anon_inode:") ? .events : .other)
    }
    // S_IFIFO: a pipe with a name.
    let mode = (try? Syscalls.cachedStatus("/proc/\(pid)/fd/\(descriptor.number)"))?.mode ?? 0
    var object = WaitObject(mode & 0o170000 == 0o010000 ? .pipe : .file)
    object.isWriting = isWriting
    object.path = link
    // A file may really be called so; then the path with the mark leads to it.
    let mark = " (deleted)"
    if link.hasSuffix(mark), (try? Syscalls.cachedStatus("/proc/\(pid)/root\(link)")) == nil {
      object.path = String(link.dropLast(mark.count))
      object.isDeleted = true
    }
    return object
  }

  private static let movers: Set<String> = ["read", "readv", "write", "writev", "getdents64"]
  /// Their place is an argument.
  private static let placed: Set<String> = ["pread64", "preadv", "pwrite64", "pwritev"]

  /// What changes while the object is the same: the place in a file, the kernel's function, the
  /// operations of a ring. Sources: fdinfo, wchan.
  func addDetails(
    to object: inout WaitObject, of wait: DumpedThread.Wait, _ call: SyscallLine.Call
  ) {
    switch object.kind {
    case .file:
      if Self.placed.contains(wait.call) {
        object.offset = call.arguments.fourth
      } else if Self.movers.contains(wait.call), let first = wait.descriptors.first {
        object.offset = info(first.number)?.position
      }
      object.kernelFunction = KernelPlace.function(pid, tid)
    case .other: object.kernelFunction = KernelPlace.function(pid, tid)
    case .events:
      guard wait.call == "io_uring_enter", let ring = wait.descriptors.first,
        let info = info(ring.number)
      else { return }
      object.operations = info.operations
      // Which of several they are for is not told.
      if info.files.count == 1 { object.path = info.files.first }
    default: break
    }
  }

  private func info(_ descriptor: Int) -> DescriptorInfo? {
    (try? InputFile.head(of: "/proc/\(pid)/fdinfo/\(descriptor)", limit: 8192)).map(
      DescriptorInfo.init)
  }

  private func child(_ number: Int32) -> WaitObject {
    var object = WaitObject(.child)
    if number > 0 {
      object.process = Neighbours.process(ProcessID(number))
      return object
    }
    let children = Neighbours(pid, tid).children
    object.process = children.last.flatMap { Neighbours.process($0) }
    object.others = max(0, children.count - 1)
    return object
  }
}

/// Where in the kernel a thread waits.
enum KernelPlace {
  /// wchan; nil where the kernel does not tell (it then says 0) or the thread runs.
  static func function(_ pid: ProcessID, _ tid: ThreadID) -> String? {
    guard let bytes = try? InputFile.read("/proc/\(pid)/task/\(tid)/wchan", limit: 256),
      !bytes.isEmpty, bytes != [UInt8(ascii: "0")]
    else { return nil }
    return SafeText.decode(bytes)
  }
}

/// Who holds a lock on a file.
enum FileLockHolder {
  /// Source: /proc/locks, and the file's device and number.
  static func find(_ pid: ProcessID, _ descriptor: Int, waiter: ThreadID) -> NeighbourProcess? {
    guard let status = try? Syscalls.cachedStatus("/proc/\(pid)/fd/\(descriptor)"),
      let bytes = try? InputFile.read("/proc/locks", limit: 256 << 10)
    else { return nil }
    let device = FileLocks.device(status.device)
    let held = FileLocks.held(bytes.span).filter { $0.inode == status.inode }
    // Some file systems show another device number here than stat does.
    let lock = held.first { $0.device == device } ?? (held.count == 1 ? held.first : nil)
    return lock?.pid.flatMap { Neighbours.process(ProcessID($0)) }
  }
}
