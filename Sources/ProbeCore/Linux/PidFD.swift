// A process that cannot be mistaken for another one: pidfd.

internal import CProbe
internal import Glibc

/// A pidfd of a process that we did not launch.
public struct PidFD: ~Copyable, Sendable {
  public let pid: ProcessID
  let descriptor: FileDescriptor

  /// pidfd_open(2).
  ///
  /// - Throws: ESRCH if there is no such process, EINVAL if the number is a thread, not a process.
  public init(_ pid: ProcessID) throws(SystemError) {
    let raw = cprobe_pidfd_open(pid.rawValue)
    guard raw >= 0 else {
      throw SystemError(call: "pidfd_open", object: "\(pid)", code: -raw)
    }
    self.pid = pid
    descriptor = FileDescriptor(owning: raw)
  }

  /// The number, to wait on: readable when the process has ended with all its threads.
  public var raw: Int32 { descriptor.raw }

  /// How the process ended, where the kernel tells somebody who is not its parent (Linux 6.15).
  public static func exitStatus(_ raw: Int32) -> ExitStatus? {
    let status = cprobe_pidfd_exit_status(raw)
    guard status >= 0 else { return nil }
    return ExitStatus(waitStatus: Int32(truncatingIfNeeded: status))
  }
}

extension ExitStatus {
  /// Takes a wait status apart, as WIFEXITED and WTERMSIG do.
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .code((waitStatus >> 8) & 0xff) : .signal(signal)
  }
}
