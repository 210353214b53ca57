// Signals to perfwatch, read as data on the main thread. No handler is ever installed, so the target
// inherits the dispositions that we were started with.
// Safety: the one sigset_t is local and lives through the call that reads it.

internal import CProbe
internal import Glibc

/// A signal that arrived, and from whom.
public struct ReceivedSignal: Sendable, Equatable {
  public var number: Int32
  /// True when the kernel sent it (a key on the terminal, a hang-up), false when a process did.
  public var isFromKernel: Bool
  /// For SIGCHLD the child.
  public var sender: ProcessID
  /// SIGCHLD because the child has ended (si_code CLD_EXITED, CLD_KILLED, CLD_DUMPED).
  public var isEndOfChild: Bool

  public init(
    number: Int32, isFromKernel: Bool, sender: ProcessID, isEndOfChild: Bool = false
  ) {
    self.number = number
    self.isFromKernel = isFromKernel
    self.sender = sender
    self.isEndOfChild = isEndOfChild
  }
}

/// The signals that we take instead of dying of them.
public struct SignalChannel: ~Copyable, Sendable {
  public static let watched: [Int32] = [
    SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
    SIGWINCH, SIGCHLD,
  ]

  /// Those that ask for an end.
  public static let ends: [Int32] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]

  let descriptor: FileDescriptor

  /// Opens the channel. The signals must be blocked in every thread before (`SignalMask.blockAll`).
  public init() throws(SystemError) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in Self.watched { unsafe sigaddset(&set, number) }
    let raw = unsafe cprobe_signalfd(&set)
    guard raw >= 0 else { throw SystemError(call: "signalfd", code: -raw) }
    descriptor = FileDescriptor(owning: raw)
  }

  /// What has arrived since the last call; empty when nothing has.
  public func take() -> [ReceivedSignal] {
    // struct signalfd_siginfo: 128 bytes; number, errno, code and sender's pid are its first 32-bit words.
    let size = 128
    var buffer = [UInt8](repeating: 0, count: size * 16)
    guard let count = try? Syscalls.read(descriptor.raw, into: &buffer), count >= size else {
      return []  // EAGAIN: nothing there
    }
    return (0..<count / size).map { index in
      func word(_ place: Int) -> Int32 {
        let at = index * size + place * 4
        return (0..<4).reduce(Int32(0)) { $0 | Int32(buffer[at + $1]) << Int32(8 * $1) }
      }
      return ReceivedSignal(
        number: word(0), isFromKernel: word(2) > 0, sender: ProcessID(word(3)),
        isEndOfChild: word(0) == SIGCHLD && (1...3).contains(word(2)))
    }
  }

  /// A signal of `ends` that has come and was not taken; nil where there is none. Source: sigpending(2).
  public static var pendingEnd: Int32? {
    var set = sigset_t()
    guard unsafe sigpending(&set) == 0 else { return nil }
    return ends.first { unsafe sigismember(&set, $0) == 1 }
  }

  /// Stops perfwatch itself by `signal` (SIGTSTP, SIGTTIN or SIGTTOU), so that a shell sees the same stop
  /// as of the target alone, and returns when it is continued.
  ///
  /// In an orphaned process group the kernel does not stop anybody by these: then it returns at once.
  public static func stopSelf(by signal: Int32) {
    let former = SignalMask.current
    SignalMask(rawValue: former.rawValue & ~(1 << UInt64(signal - 1))).apply()
    // Every other thread blocks it: it is delivered here, before kill returns.
    kill(getpid(), signal)
    former.apply()
  }
}

/// Our place among the processes.
public enum OwnProcess {
  public static var pid: ProcessID { ProcessID(getpid()) }
  /// The calling thread.
  static var thread: ThreadID { ThreadID(cprobe_thread()) }
  public static var parent: ProcessID { ProcessID(getppid()) }
  public static var session: ProcessID { ProcessID(getsid(0)) }
  /// Started with more rights than its caller has by the file's set-user-id bit: files that the caller names would be
  /// written with them.
  public static var isSetUserID: Bool { getuid() != geteuid() || getgid() != getegid() }
  public static var effectiveUser: UInt32 { geteuid() }
  /// What /proc calls this process, if that is not its number: then /proc is another pid namespace's, and the
  /// numbers in it are other processes. readlink(2) of /proc/self.
  public static var strangeNumber: String? {
    guard let link = try? Syscalls.readLink("/proc/self") else { return nil }
    let name = SafeText.decode(link)
    return name == "\(getpid())" ? nil : name
  }
}
