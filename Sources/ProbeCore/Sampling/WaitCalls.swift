// The system calls that threads wait in: which are a loop's idle wait, which may be, which never are.
// Numbers differ by architecture, so each call is listed with both.

/// What a wait call means.
struct WaitCall: NumberedCall {
  let name: String
  let x86: Int32?
  let arm: Int32?
  let waitClass: WaitClass
  let category: WaitCategory
}

/// The table of wait calls; one line each.
enum WaitCalls {
  static let all: [WaitCall] = [
    .init(name: "poll", x86: 7, arm: nil, waitClass: .idle, category: .idle),
    .init(name: "ppoll", x86: 271, arm: 73, waitClass: .idle, category: .idle),
    .init(name: "select", x86: 23, arm: nil, waitClass: .idle, category: .idle),
    .init(name: "pselect6", x86: 270, arm: 72, waitClass: .idle, category: .idle),
    .init(name: "epoll_wait", x86: 232, arm: nil, waitClass: .idle, category: .idle),
    .init(name: "epoll_pwait", x86: 281, arm: 22, waitClass: .idle, category: .idle),
    .init(name: "epoll_pwait2", x86: 441, arm: 441, waitClass: .idle, category: .idle),
    .init(name: "io_uring_enter", x86: 426, arm: 426, waitClass: .idle, category: .idle),
    .init(name: "io_getevents", x86: 208, arm: 4, waitClass: .idle, category: .idle),
    .init(name: "rt_sigtimedwait", x86: 128, arm: 137, waitClass: .idle, category: .signal),
    .init(name: "rt_sigsuspend", x86: 130, arm: 133, waitClass: .idle, category: .signal),
    .init(name: "pause", x86: 34, arm: nil, waitClass: .idle, category: .signal),
    .init(name: "futex", x86: 202, arm: 98, waitClass: .learnable, category: .lock),
    .init(name: "futex_wait", x86: 455, arm: 455, waitClass: .learnable, category: .lock),
    .init(name: "futex_waitv", x86: 449, arm: 449, waitClass: .learnable, category: .lock),
    .init(name: "nanosleep", x86: 35, arm: 101, waitClass: .learnable, category: .sleep),
    .init(name: "clock_nanosleep", x86: 230, arm: 115, waitClass: .learnable, category: .sleep),
    .init(name: "read", x86: 0, arm: 63, waitClass: .learnable, category: .disk),
    .init(name: "readv", x86: 19, arm: 65, waitClass: .learnable, category: .disk),
    .init(name: "recvfrom", x86: 45, arm: 207, waitClass: .learnable, category: .socket),
    .init(name: "recvmsg", x86: 47, arm: 212, waitClass: .learnable, category: .socket),
    .init(name: "recvmmsg", x86: 299, arm: 243, waitClass: .learnable, category: .socket),
    .init(name: "accept", x86: 43, arm: 202, waitClass: .learnable, category: .socket),
    .init(name: "accept4", x86: 288, arm: 242, waitClass: .learnable, category: .socket),
    .init(name: "msgrcv", x86: 70, arm: 188, waitClass: .learnable, category: .other),
    .init(name: "semop", x86: 65, arm: 193, waitClass: .learnable, category: .lock),
    .init(name: "semtimedop", x86: 220, arm: 192, waitClass: .learnable, category: .lock),
    .init(name: "mq_timedreceive", x86: 243, arm: 183, waitClass: .learnable, category: .other),
    .init(name: "wait4", x86: 61, arm: 260, waitClass: .never, category: .child),
    .init(name: "waitid", x86: 247, arm: 95, waitClass: .never, category: .child),
    .init(name: "vfork", x86: 58, arm: nil, waitClass: .never, category: .child),
    .init(name: "clone", x86: 56, arm: 220, waitClass: .never, category: .child),
    .init(name: "clone3", x86: 435, arm: 435, waitClass: .never, category: .child),
    .init(name: "write", x86: 1, arm: 64, waitClass: .never, category: .disk),
    .init(name: "writev", x86: 20, arm: 66, waitClass: .never, category: .disk),
    .init(name: "pread64", x86: 17, arm: 67, waitClass: .never, category: .disk),
    .init(name: "pwrite64", x86: 18, arm: 68, waitClass: .never, category: .disk),
    .init(name: "fsync", x86: 74, arm: 82, waitClass: .never, category: .disk),
    .init(name: "fdatasync", x86: 75, arm: 83, waitClass: .never, category: .disk),
    .init(name: "sync", x86: 162, arm: 81, waitClass: .never, category: .disk),
    .init(name: "flock", x86: 73, arm: 32, waitClass: .never, category: .lock),
    .init(name: "fcntl", x86: 72, arm: 25, waitClass: .never, category: .lock),
    .init(name: "open", x86: 2, arm: nil, waitClass: .never, category: .disk),
    .init(name: "openat", x86: 257, arm: 56, waitClass: .never, category: .disk),
    .init(name: "msync", x86: 26, arm: 227, waitClass: .never, category: .disk),
    .init(name: "fallocate", x86: 285, arm: 47, waitClass: .never, category: .disk),
    .init(name: "ftruncate", x86: 77, arm: 46, waitClass: .never, category: .disk),
    .init(name: "getdents64", x86: 217, arm: 61, waitClass: .never, category: .disk),
    .init(name: "rename", x86: 82, arm: nil, waitClass: .never, category: .disk),
    .init(name: "unlink", x86: 87, arm: nil, waitClass: .never, category: .disk),
    .init(name: "unlinkat", x86: 263, arm: 35, waitClass: .never, category: .disk),
    .init(name: "newfstatat", x86: 262, arm: 79, waitClass: .never, category: .disk),
    .init(name: "statx", x86: 332, arm: 291, waitClass: .never, category: .disk),
    .init(name: "syncfs", x86: 306, arm: 267, waitClass: .never, category: .disk),
    .init(name: "sendfile", x86: 40, arm: 71, waitClass: .never, category: .disk),
    .init(name: "connect", x86: 42, arm: 203, waitClass: .never, category: .socket),
    .init(name: "sendto", x86: 44, arm: 206, waitClass: .never, category: .socket),
    .init(name: "sendmsg", x86: 46, arm: 211, waitClass: .never, category: .socket),
  ]

  private static let byNumber: NumberIndex = {
    var index = NumberIndex()
    for (place, call) in all.enumerated() {
      // read has the number 0, which is no key: all are one higher.
      if let number = call.number, index[number + 1] == nil { index[number + 1] = place }
    }
    return index
  }()

  /// nil for a call that is not in the table: it blocks, but is no loop's wait.
  static func named(_ number: Int32) -> WaitCall? {
    byNumber[number &+ 1].map { all[$0] }
  }

  static func name(_ number: Int32) -> String { named(number)?.name ?? "syscall \(number)" }

  /// The numbers of the calls that can be homes.
  static let possibleHomes = all.filter { $0.waitClass != .never }.compactMap(\.number)
  static let idleHomes = all.filter { $0.waitClass == .idle }.compactMap(\.number)

  /// exit and exit_group: the end of a turn that never comes home.
  #if arch(arm64)
    static let exits: [Int32] = [93, 94]
  #else
    static let exits: [Int32] = [60, 231]
  #endif

  /// IORING_ENTER_GETEVENTS: without it, or with nothing to wait for, the call does not wait.
  static func isWaiting(ring arguments: (minimum: UInt64, flags: UInt64)) -> Bool {
    arguments.minimum > 0 && arguments.flags & 1 != 0
  }

  static let ringEnter: Int32 = 426

  /// Calls whose first argument is the descriptor of what they wait on: the epolls and the ring.
  static let queues = Set(
    all.filter { $0.name.hasPrefix("epoll_") || $0.number == ringEnter }.compactMap(\.number))

  /// Calls whose first argument is what they wait for: a descriptor, or a lock's address.
  static let naming = Set(
    all.filter { call in
      let isPath = [
        "open", "openat", "rename", "unlink", "unlinkat", "newfstatat", "statx", "sync",
      ]
      return switch call.category {
      case .lock: !call.name.hasPrefix("sem") && call.name != "futex_waitv"
      case .disk: !isPath.contains(call.name) && call.name != "msync"
      case .socket: true
      case .idle, .pipe, .sleep, .child, .pageFault, .join, .other, .signal: false
      }
    }.compactMap(\.number))

  /// Whether the first argument is the address of a lock in memory.
  static func isFutex(_ number: Int32) -> Bool {
    named(number).map { $0.name.hasPrefix("futex") } ?? false
  }

  static let futex = all.first { $0.name == "futex" }?.number

  /// futex(2) waits with some operations and wakes others with the rest. FUTEX_WAIT, LOCK_PI,
  /// WAIT_BITSET, WAIT_REQUEUE_PI and LOCK_PI2, without the flags above the low seven bits.
  static func isWaiting(futex operation: UInt64) -> Bool {
    [0, 6, 9, 11, 13].contains(operation & 0x7f)
  }

  /// What is traced beside the waits themselves.
  static var control: [Int32] { exits + [restart] }

  /// restart_syscall: how the kernel goes on with a wait that a stop or a signal interrupted.
  #if arch(arm64)
    static let restart: Int32 = 128
  #else
    static let restart: Int32 = 219
  #endif
}
