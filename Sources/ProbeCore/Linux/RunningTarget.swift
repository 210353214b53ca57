// A launched target that runs: signal it, learn its job-control stops, wait for it and no one else.
// Safety: pointers are to variables of the calling frame, and the calls keep none of them.

internal import CProbe
internal import Glibc

/// A child of ours that is executing its program.
///
/// Dropping it closes the pidfd and leaves the target alone. One thread uses it at a time.
public struct RunningTarget: ~Copyable, Sendable {
  public let pid: ProcessID
  /// Readable (poll) once the whole process has ended. Owned by this value.
  public let pidfd: Int32

  deinit { close(pidfd) }

  /// Sends `signal` to the process. Source: pidfd_send_signal(2); a reused pid cannot be hit.
  ///
  /// - Throws: `SystemError`; `isGone` when it has ended, which is normal.
  public func signal(_ signal: Int32) throws(SystemError) {
    let result = cprobe_pidfd_signal(pidfd, signal)
    if result < 0 {
      throw SystemError(call: "pidfd_send_signal", object: "\(pid)", code: -result)
    }
  }

  /// A change by job control (Ctrl-Z, fg, SIGSTOP, SIGCONT).
  public enum JobChange: Sendable, Equatable {
    case stopped(signal: Int32)
    case continued
  }

  /// Takes the next job-control change without waiting; nil when there is none.
  ///
  /// Never takes the target's end or a stop by ptrace. SIGCHLD tells when asking is worth it.
  /// Source: waitid(2) with WSTOPPED, WCONTINUED and WNOHANG. An ended target is not an error.
  public func takeJobChange() throws(SystemError) -> JobChange? {
    var signal: Int32 = 0
    let result = unsafe cprobe_job_change(pid.rawValue, &signal)
    if result < 0 { throw SystemError(call: "waitid", object: "\(pid)", code: -result) }
    return switch result {
    case 0: nil
    case 2: .continued
    default: .stopped(signal: signal)
    }
  }

  /// How a target ended and what it used, with all descendants that it reaped. Source: wait4(2).
  public struct Reaped: Sendable, Equatable {
    public var status: ExitStatus
    public var user: Nanoseconds
    public var system: Nanoseconds
    /// ru_maxrss. It starts at the launcher's own size and covers reaped children as well.
    public var maxResidentBytes: UInt64
    public var minorFaults: UInt64
    public var majorFaults: UInt64
    public var voluntarySwitches: UInt64
    public var involuntarySwitches: UInt64
  }

  /// Waits until the target has ended and takes its status, which can be done once.
  ///
  /// Blocks; poll `pidfd` first to avoid that. No other child is waited for.
  ///
  /// - Throws: `SystemError` ECHILD when it was reaped before.
  public func reap() throws(SystemError) -> Reaped {
    var usage = cprobe_usage()
    let result = unsafe cprobe_reap(pid.rawValue, &usage)
    if result < 0 { throw SystemError(call: "wait4", object: "\(pid)", code: -result) }
    return Reaped(
      status: usage.signal == 0 ? .code(usage.exit_code) : .signal(usage.signal),
      user: .microseconds(usage.user_microseconds),
      system: .microseconds(usage.system_microseconds),
      maxResidentBytes: UInt64(usage.max_resident_bytes),
      minorFaults: UInt64(usage.minor_faults), majorFaults: UInt64(usage.major_faults),
      voluntarySwitches: UInt64(usage.voluntary_switches),
      involuntarySwitches: UInt64(usage.involuntary_switches))
  }
}
