// What of ourselves a target must not notice: signal mask, dispositions, limits, descriptors 0-2.
// It is captured before we change any of it, and put back in the child before exec.
// Safety: pointers are to variables of the calling frame, and the calls keep none of them.

internal import CProbe
internal import Glibc

/// A set of blocked signals, as the kernel keeps it: bit n-1 stands for signal n.
public struct SignalMask: Sendable, Equatable {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The calling thread's mask. Source: rt_sigprocmask(2).
  public static var current: SignalMask {
    var mask: UInt64 = 0
    _ = unsafe cprobe_signal_mask_get(&mask)  // cannot fail: the pointer and the size are right
    return SignalMask(rawValue: mask)
  }

  /// Blocks for the calling thread, and for threads it creates from then on, every signal that
  /// another process or the terminal can send us, and returns the former mask.
  ///
  /// Left out: faults of our own (they end us anyway) and the two that the C library keeps for
  /// itself.
  @discardableResult
  public static func blockAll() -> SignalMask {
    let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, 32, 33]
    return SignalMask(rawValue: faults.reduce(.max) { $0 & ~(1 << UInt64($1 - 1)) }).apply()
  }

  /// Makes this the calling thread's mask and returns the former one.
  @discardableResult
  public func apply() -> SignalMask {
    var former: UInt64 = 0
    _ = unsafe cprobe_signal_mask_set(rawValue, &former)  // cannot fail, as above
    return SignalMask(rawValue: former)
  }

  /// Whether `signal` (1...64) is blocked.
  public func contains(_ signal: Int32) -> Bool { rawValue >> UInt64(signal - 1) & 1 == 1 }
}

/// The state that a launched target inherits: exactly ours as it was when we were started.
public struct InheritedState: Sendable, Equatable {
  public var signalMask: SignalMask
  /// Signals that were ignored, as under nohup; the same bits as in a mask.
  public var ignoredSignals: UInt64
  /// RLIMIT_NOFILE; `UInt64.max` is unlimited. We raise our own soft limit.
  public var fileLimitSoft: UInt64
  public var fileLimitHard: UInt64
  /// The signal a process asked for when its parent dies; 0 is none. Source: PR_GET_PDEATHSIG.
  ///
  /// It is put back in the child, whose parent is the thread that launches: that thread must
  /// outlive the target.
  public var parentDeathSignal: Int32

  /// Reads the state, fills closed descriptors 0 to 2 with placeholders that no target sees, and
  /// makes the kernel keep our children's status even if we were started with SIGCHLD ignored.
  ///
  /// Call it first thing in main, on the main thread. Nothing may have been opened before.
  ///
  /// - Throws: `SystemError` when no descriptor can be opened.
  public static func capture() throws(SystemError) -> InheritedState {
    var raw = cprobe_inherited()
    try check("getrlimit", unsafe cprobe_inherited_capture(&raw))
    try check("prctl", unsafe cprobe_inherited_capture_death_signal(&raw))
    try check("open", cprobe_stdio_reserve())
    try check("sigaction", cprobe_child_status_keep())
    return InheritedState(
      signalMask: SignalMask(rawValue: raw.signal_mask), ignoredSignals: raw.ignored_signals,
      fileLimitSoft: raw.file_limit_soft, fileLimitHard: raw.file_limit_hard,
      parentDeathSignal: raw.parent_death_signal)
  }

  var raw: cprobe_inherited {
    cprobe_inherited(
      signal_mask: signalMask.rawValue, ignored_signals: ignoredSignals,
      file_limit_soft: fileLimitSoft, file_limit_hard: fileLimitHard,
      parent_death_signal: parentDeathSignal)
  }

  private static func check(_ call: String, _ result: Int32) throws(SystemError) {
    if result < 0 { throw SystemError(call: call, code: -result) }
  }
}

/// Ends perfwatch by `signal`, as its target was ended, without a core file of our own.
///
/// Returns only for a signal that cannot end a process. Call it last, with everything flushed.
public func endBySignal(_ signal: Int32) { _ = cprobe_reraise(signal) }
