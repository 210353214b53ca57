// One look at a watched thread, as the detector sees it.

/// A reading of one thread at one moment, taken without stopping it.
struct ThreadProbe: Sendable, Equatable {
  enum State: Sendable, Equatable {
    /// On a CPU or ready for one.
    case running
    case waiting(Wait)
    /// Blocked outside a system call, as in a page fault.
    case blocked
    /// Stopped by a signal, a tracer or the freezer: time that is nobody's stall.
    case stopped
    /// Could not be read coherently or at all.
    case unknown
  }

  var at: Instant
  var state: State
  /// Time on a CPU and time ready for one, since the thread began.
  var cpu: Nanoseconds
  var runDelay: Nanoseconds
  /// How often it was put on a CPU: unchanged means that it has not moved.
  var slices: UInt64
  /// How often it went to sleep.
  var sleeps: UInt64
  /// User and system time in clock ticks; nil when they were not read.
  var userTicks: UInt64?
  var systemTicks: UInt64?
  /// Page faults since the thread began; nil when they were not read.
  var minorFaults: UInt64?
  var majorFaults: UInt64?
  /// read and write calls since the thread began; nil when they were not read.
  var ioCalls: UInt64?
  /// The thread has called exit and is being taken apart by the kernel.
  var isExiting = false
  /// What the records of its context switches tell of the time since the last probe that could be read;
  /// nil when there are none, or when some of them are missing.
  var switches: SwitchSpan?
}

/// What the kernel told of one wait call: exact times.
struct WaitRecord: Sendable, Equatable {
  enum Step: Sendable, Equatable {
    case entered(Wait)
    case left
    /// The thread called exit or exit_group.
    case exiting
    /// Records are missing before this one.
    case lost
  }

  var at: Instant
  var step: Step
}
