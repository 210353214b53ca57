// The system calls that answer EINTR to a stop, though no signal was sent: never stop a thread there.
// Most calls go on unnoticed after a stop; these do not, by signal(7) and by our own measurement.

/// One call that a stop by ptrace can make fail in the program's sight.
struct InterruptedCall: NumberedCall {
  let name: String
  let x86: Int32?
  let arm: Int32?
  let when: When
  /// Whether beginning it anew is the same as having gone on, but for a time-out that starts again.
  let isRestartable: Bool

  enum When: Sendable {
    case always
    /// On a socket with a time-out (SO_RCVTIMEO, SO_SNDTIMEO), which is not to be seen from outside;
    /// the descriptor is the first argument.
    case onSockets
  }

  init(_ name: String, x86: Int32?, arm: Int32?, _ when: When, isRestartable: Bool = true) {
    self.name = name
    self.x86 = x86
    self.arm = arm
    self.when = when
    self.isRestartable = isRestartable
  }
}

/// The table; one line a call.
enum InterruptedCalls {
  static let all: [InterruptedCall] = [
    .init("epoll_wait", x86: 232, arm: nil, .always),
    .init("epoll_pwait", x86: 281, arm: 22, .always),
    .init("epoll_pwait2", x86: 441, arm: 441, .always),
    .init("rt_sigtimedwait", x86: 128, arm: 137, .always),
    .init("semop", x86: 65, arm: 193, .always),
    .init("semtimedop", x86: 220, arm: 192, .always),
    .init("io_getevents", x86: 208, arm: 4, .always),
    .init("io_uring_enter", x86: 426, arm: 426, .always),
    // Each driver answers as it likes.
    .init("ioctl", x86: 16, arm: 29, .always, isRestartable: false),
    .init("read", x86: 0, arm: 63, .onSockets),
    .init("readv", x86: 19, arm: 65, .onSockets),
    .init("write", x86: 1, arm: 64, .onSockets),
    .init("writev", x86: 20, arm: 66, .onSockets),
    .init("sendfile", x86: 40, arm: 71, .onSockets),
    .init("recvfrom", x86: 45, arm: 207, .onSockets),
    .init("recvmsg", x86: 47, arm: 212, .onSockets),
    .init("recvmmsg", x86: 299, arm: 243, .onSockets),
    .init("sendto", x86: 44, arm: 206, .onSockets),
    .init("sendmsg", x86: 46, arm: 211, .onSockets),
    .init("sendmmsg", x86: 307, arm: 269, .onSockets),
    .init("accept", x86: 43, arm: 202, .onSockets),
    .init("accept4", x86: 288, arm: 242, .onSockets),
    // Begun anew, it says that it is under way already.
    .init("connect", x86: 42, arm: 203, .onSockets, isRestartable: false),
  ]

  private static let byNumber: [Int64: InterruptedCall] = Dictionary(
    all.compactMap { call in call.number.map { (Int64($0), call) } },
    uniquingKeysWith: { first, _ in first })

  /// nil for a call that goes on unnoticed after a stop.
  static func named(_ number: Int64) -> InterruptedCall? { byNumber[number] }

  /// The numbers of those that may be begun anew.
  static let restartable = all.filter(\.isRestartable).compactMap(\.number)
}
