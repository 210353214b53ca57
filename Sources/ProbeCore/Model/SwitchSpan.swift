// When a thread left a CPU and got one, as the kernel recorded it, and what that says between two probes.

/// One context switch of a thread: exact times.
struct SwitchRecord: Sendable, Equatable {
  enum Step: Sendable, Equatable {
    /// Put on a CPU.
    case ran
    /// Went to sleep: voluntarily.
    case slept
    /// Lost its CPU although it could have gone on.
    case preempted
    /// Records are missing before this one; its time says nothing.
    case lost
  }

  var at: Instant
  var step: Step
  /// Where it went to sleep; nil where the kernel does not tell us.
  var place: SleepPlace?
  /// What kind of sleep the code there makes, whatever its arguments; nil where it does not tell.
  var kind: ThreadProbe.State?
}

/// The user's registers at a sleep: where, but not by which system call.
struct SleepPlace: Sendable, Hashable {
  var stackPointer: UInt64
  var programCounter: UInt64
}

/// What the records tell of the time between a probe and the one before it, none of them missing.
struct SwitchSpan: Sendable, Equatable {
  /// Sleeps that began and ended in between, so that nobody saw where.
  struct Hidden: Sendable, Equatable {
    var count: Int
    /// When the first one began.
    var start: Instant
    /// When the last one ended.
    var end: Instant
    /// Their lengths together.
    var asleep: Nanoseconds
    /// The shortest of them.
    var shortest: Nanoseconds
    /// The longest time from the end of one to the start of the next.
    var longestGap: Gap?
    /// Of those known to be at home: the wait of the last one, and how many and how long they were.
    var home: Wait?
    var homes = 0
    var atHome = Nanoseconds.zero
  }

  /// How often and how long it slept unseen.
  struct Unseen: Sendable, Equatable {
    var count: UInt64 = 0
    var asleep = Nanoseconds.zero
    /// nil if there was none.
    var shortest: Nanoseconds?
  }

  /// Awake from one sleep to the next.
  struct Gap: Sendable, Equatable {
    var start: Instant
    var end: Instant

    var length: Nanoseconds { end - start }
  }

  /// When the sleep ended in which the probe before found the thread; nil if there was none or it goes on.
  var wokeAt: Instant?
  /// Since when it sleeps now; nil when it is awake or that was not recorded.
  var asleepSince: Instant?
  /// It slept all the time since the probe before. It may have been woken, but had no CPU yet.
  var sleptOn = false
  var hidden: Hidden?
  /// Ready for a CPU after it had lost one, counted when it got one again.
  var preempted = Nanoseconds.zero

  var unseen: Unseen {
    guard let hidden else { return Unseen() }
    return Unseen(
      count: UInt64(clamping: hidden.count), asleep: hidden.asleep, shortest: hidden.shortest)
  }
}
