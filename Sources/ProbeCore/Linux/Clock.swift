// The clocks: monotonic for everything, wall clock once, CPU clocks of us and of others.
// Safety: clock_gettime writes one local timespec.

internal import CProbe
internal import Glibc

/// Reads of clock_gettime(2).
public enum Clock {
  /// CLOCK_MONOTONIC.
  public static func now() -> Instant { Instant(nanoseconds: read(CLOCK_MONOTONIC) ?? 0) }

  /// CLOCK_REALTIME in nanoseconds since 1970; used once, to date the run.
  public static func wallClock() -> Int64 { read(CLOCK_REALTIME) ?? 0 }

  /// The clock with that number, since its own zero; nil if there is none.
  static func time(of clock: Int32) -> Nanoseconds? {
    read(clockid_t(clock)).map { Nanoseconds($0) }
  }

  /// CLOCK_PROCESS_CPUTIME_ID: CPU that perfwatch itself has used.
  public static func ownCPU() -> Nanoseconds { Nanoseconds(read(CLOCK_PROCESS_CPUTIME_ID) ?? 0) }

  /// CLOCK_THREAD_CPUTIME_ID: CPU that the calling thread has used.
  public static func threadCPU() -> Nanoseconds {
    Nanoseconds(read(CLOCK_THREAD_CPUTIME_ID) ?? 0)
  }

  /// The CPU clock of a process: all threads that ever lived in it, in nanoseconds, also of a zombie.
  /// Running threads are counted up to their last scheduler tick (4 ms at HZ=250).
  ///
  /// The clock's number is made as clock_getcpuclockid(3) makes it, without its extra look-up.
  /// - Returns: nil if there is no such process.
  public static func processCPU(_ pid: ProcessID) -> Nanoseconds? {
    read(processClock(pid)).map { Nanoseconds($0) }
  }

  /// The number of that clock: CPUCLOCK_SCHED (2), not per thread: ~pid << 3 | 2.
  static func processClock(_ pid: ProcessID) -> Int32 {
    Int32(truncatingIfNeeded: (~Int(pid.rawValue) << 3) | 2)
  }

  private static func read(_ clock: clockid_t) -> Int64? {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
    return time.nanoseconds
  }
}
