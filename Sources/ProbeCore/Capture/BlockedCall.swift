// What a blocked thread waits for, from its system call's arguments: descriptors, locks, times,
// children. Pure but for four questions about the process, each of which may go unanswered.

/// The questions.
struct ProcessQuestions {
  /// Bytes of its memory; nil if not all of them can be had.
  var memory: (_ address: UInt64, _ count: Int) -> [UInt8]?
  /// What a descriptor is, as its link in /proc says.
  var link: (_ descriptor: Int) -> String?
  var isThread: (ThreadID) -> Bool
  var now: (_ clock: UInt64) -> Nanoseconds?
}

/// Reads the arguments of one system call.
struct BlockedCall {
  private let call: SyscallLine.Call
  private let questions: ProcessQuestions
  private var wait: DumpedThread.Wait

  /// As many are told of one call. Chosen: more do not fit a line.
  static let descriptorLimit = 8
  /// Of a poll's array so much is read.
  private static let pollLimit = 64

  static func describe(
    _ call: SyscallLine.Call, _ questions: ProcessQuestions
  ) -> DumpedThread.Wait {
    var blocked = BlockedCall(call, questions)
    blocked.readArguments()
    return blocked.wait
  }

  private init(_ call: SyscallLine.Call, _ questions: ProcessQuestions) {
    self.call = call
    self.questions = questions
    wait = DumpedThread.Wait(call: SystemCalls.name(call.number))
  }

  private mutating func readArguments() {
    let arguments = call.arguments
    switch wait.call {
    case "read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "pwritev", "recvfrom",
      "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect",
      "fsync", "fdatasync", "flock", "ioctl", "fcntl", "getdents64", "ftruncate", "fallocate",
      "splice", "sendfile", "io_uring_enter", "close", "sync_file_range", "copy_file_range":
      add(arguments.first)
      setAddress()
    case "open", "stat", "lstat", "access", "unlink", "mkdir", "rmdir", "truncate", "chdir",
      "rename", "link", "execve", "statfs", "readlink", "creat":
      wait.path = text(at: arguments.first)
    case "openat", "openat2", "newfstatat", "statx", "unlinkat", "mkdirat", "renameat", "renameat2",
      "faccessat", "faccessat2", "readlinkat", "execveat":
      wait.path = text(at: arguments.second)
    case "epoll_wait", "epoll_pwait":
      add(arguments.first)
      setMilliseconds(arguments.fourth)
    case "epoll_pwait2":
      add(arguments.first)
      setTime(at: arguments.fourth)
    case "poll":
      addPolled(arguments.first, count: arguments.second)
      setMilliseconds(arguments.third)
    case "ppoll":
      addPolled(arguments.first, count: arguments.second)
      // The kernel writes back what is left, but only at the end.
      setTime(at: arguments.third)
    case "select", "pselect6":
      addSelected()
      setTime(at: arguments.fifth, isMicroseconds: wait.call == "select")
    case "rt_sigtimedwait": setTime(at: arguments.third)
    case "nanosleep": setTime(at: arguments.first)
    case "clock_nanosleep":
      setTime(at: arguments.third, since: arguments.second & 1 == 1 ? arguments.first : nil)
    case "futex": readFutex()
    case "wait4": wait.child = Int32(truncatingIfNeeded: arguments.first)
    case "waitid":
      // P_PID is 1, P_ALL 0.
      wait.child = arguments.first == 1 ? Int32(truncatingIfNeeded: arguments.second) : -1
    default: break
    }
  }

  // MARK: Descriptors

  private mutating func add(_ raw: UInt64) {
    let number = Int(Int32(truncatingIfNeeded: raw))
    guard number >= 0 else { return }
    guard wait.descriptors.count < Self.descriptorLimit else {
      wait.moreDescriptors += 1
      return
    }
    wait.descriptors.append(.init(number: number, object: questions.link(number)))
  }

  /// struct pollfd: descriptor 4 bytes, two event masks of 2.
  private mutating func addPolled(_ address: UInt64, count: UInt64) {
    let read = Int(min(count, UInt64(Self.pollLimit)))
    guard read > 0, let bytes = questions.memory(address, read * 8) else {
      wait.moreDescriptors = Int(clamping: count)
      return
    }
    for index in 0..<read {
      let number = Int32(truncatingIfNeeded: Self.number(bytes, index * 8, 4))
      if number >= 0 { add(UInt64(number)) }
    }
    wait.moreDescriptors += Int(clamping: count) - read
  }

  /// Three bit sets, of which each may be missing. The kernel works on copies of them.
  private mutating func addSelected() {
    let arguments = call.arguments
    let count = Int(min(arguments.first, 1024))
    var wanted: Set<Int> = []
    for address in [arguments.second, arguments.third, arguments.fourth] where address != 0 {
      guard let bytes = questions.memory(address, (count + 63) / 64 * 8) else { continue }
      for number in 0..<count where bytes[number / 8] & 1 << UInt8(number % 8) != 0 {
        wanted.insert(number)
      }
    }
    for number in wanted.sorted() { add(UInt64(number)) }
  }

  /// connect(descriptor, address, length) and sendto(..., address, length).
  private mutating func setAddress() {
    let arguments = call.arguments
    let (address, length) =
      switch wait.call {
      case "connect": (arguments.second, arguments.third)
      case "sendto": (arguments.fifth, arguments.sixth)
      default: (UInt64(0), UInt64(0))
      }
    guard address != 0, 2...128 ~= length, let bytes = questions.memory(address, Int(length)),
      let known = SocketText.sockaddr(bytes)
    else { return }
    wait.peer = known.peer
    wait.path = known.path
  }

  /// Text up to its NUL; of a long one the beginning. Never beyond the page, which may be the last one.
  private func text(at address: UInt64) -> String? {
    let page = 4096 - Int(address & 4095)
    guard address != 0, var bytes = questions.memory(address, min(page, 256)) else { return nil }
    if !bytes.contains(0), page < 256,
      let more = questions.memory(address + UInt64(page), 256 - page)
    {
      bytes += more
    }
    return SafeText.decode(Array(bytes.prefix { $0 != 0 }))
  }

  // MARK: Times

  private mutating func setMilliseconds(_ raw: UInt64) {
    let value = Int32(truncatingIfNeeded: raw)
    if value >= 0 { wait.timeout = .milliseconds(Int64(value)) }
  }

  /// - Parameter clock: the time is a moment on this clock.
  private mutating func setTime(
    at address: UInt64, isMicroseconds: Bool = false, since clock: UInt64? = nil
  ) {
    guard address != 0, let bytes = questions.memory(address, 16) else { return }
    let seconds = Int64(bitPattern: Self.number(bytes, 0, 8))
    let part = Int64(bitPattern: Self.number(bytes, 8, 8))
    guard 0..<1 << 33 ~= seconds, 0..<1_000_000_000 ~= part else { return }
    let time = Nanoseconds(seconds * 1_000_000_000 + part * (isMicroseconds ? 1000 : 1))
    guard let clock else {
      wait.timeout = time
      return
    }
    guard let now = questions.now(clock) else { return }
    wait.timeout = max(.zero, time - now)
    wait.isRest = true
  }

  // MARK: Locks

  private mutating func readFutex() {
    let arguments = call.arguments
    wait.address = "0x" + String(arguments.first, radix: 16)
    let operation = arguments.second & 0x7f
    switch operation {
    case 0: setTime(at: arguments.fourth)  // FUTEX_WAIT
    case 9, 11:  // FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI; on the real-time clock by a flag
      setTime(at: arguments.fourth, since: arguments.second & 256 != 0 ? 0 : 1)
    case 6, 13: setTime(at: arguments.fourth, since: operation == 6 ? 0 : 1)  // FUTEX_LOCK_PI
    default: break
    }
    guard
      let bytes = questions.memory(arguments.first, 20) ?? questions.memory(arguments.first, 12)
        ?? (operation == 9 ? questions.memory(arguments.first, 4) : nil)
    else { return }
    if bytes.count > 4 { readOwner(bytes, isInheriting: operation == 6 || operation == 13) }
    if operation == 9, wait.owner == nil { wait.joins = joined(bytes) }
  }

  /// Where locks keep their owner's number, which is believed only if that is a thread of the process:
  /// one that inherits priority in the word, glibc's others 8 bytes on while there is a 2 in the word
  /// (held, and waited for); robust ones and musl's recursive ones in the word with the highest bit set;
  /// a read-write lock's writer 16 bytes behind the word that most wait at, 12 behind that of writers.
  private mutating func readOwner(_ bytes: [UInt8], isInheriting: Bool) {
    let word = Self.number(bytes, 0, 4)
    let expected = call.arguments.third & 0xffff_ffff
    if isInheriting {
      wait.owner = thread(word & 0x3fff_ffff)
      wait.lock = "priority-inheriting mutex"
    } else if word == expected, word & 0x8000_0000 != 0 {
      wait.owner = thread(word & 0x3fff_ffff)
      if wait.owner != nil { wait.lock = "mutex" }
    } else if word == 2, expected == 2 {
      wait.owner = thread(Self.number(bytes, 8, 4))
      if wait.owner != nil { wait.lock = "mutex" }
    } else if word == 3, expected == 3, bytes.count == 20 {
      wait.owner = thread(Self.number(bytes, 16, 4)) ?? thread(Self.number(bytes, 12, 4))
      if wait.owner != nil { wait.lock = "read-write lock" }
    }
  }

  private func thread(_ number: UInt64) -> Int32? {
    let value = Int32(truncatingIfNeeded: number)
    return value > 0 && questions.isThread(ThreadID(value)) ? value : nil
  }

  /// pthread_join waits until the kernel clears the thread's number in its descriptor.
  private func joined(_ bytes: [UInt8]) -> Int32? {
    let word = Self.number(bytes, 0, 4)
    let thread = Int32(truncatingIfNeeded: word)
    return word == call.arguments.third & 0xffff_ffff && questions.isThread(ThreadID(thread))
      ? thread : nil
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
  }
}
