// The context switches of one thread with exact times, told by the kernel (perf_event_open).
// Safety: the ring is mapped and unmapped only here; records are copied out into our own array, and are
// parsed there with bounds checks.

internal import CProbe

/// The context switches of one thread from now on.
///
/// Needs no privilege for the user's own processes at kernel.perf_event_paranoid 2. Neither stops nor
/// wakes the thread: the kernel writes 16 bytes into a ring at each switch, and 40 more for the place.
@safe struct SwitchTrace: ~Copyable {
  /// Four pages hold 227 sleeps with their places, 512 without: 9000 a second at the slowest probe. Chosen.
  static let pages: Int32 = 4

  /// Where the thread went to sleep is told, too: needs kernel.perf_event_paranoid 1 or CAP_PERFMON.
  let tellsPlaces: Bool
  private var ring: cprobe_ring
  private var buffer = [UInt8](repeating: 0, count: Int(pages) * HostInfo.pageSize)

  /// The first event of the whole machine takes the kernel 10 to 16 ms (measured on 6.18): it switches its
  /// hooks on and waits until every CPU has seen it.
  ///
  /// - Throws: EACCES or EPERM where it is not permitted (paranoid 3, seccomp, another user's process, too
  ///   much mapped memory), ENOSYS where the kernel has no perf events, ESRCH when the thread is gone.
  init(_ tid: ThreadID) throws(SystemError) {
    var ring = unsafe cprobe_ring()
    var result = unsafe cprobe_perf_open_switches(tid.rawValue, Self.pages, true, &ring)
    tellsPlaces = result == 0
    if result != 0 {
      result = unsafe cprobe_perf_open_switches(tid.rawValue, Self.pages, false, &ring)
    }
    guard result == 0 else {
      throw SystemError(call: "perf_event_open", object: "\(tid)", code: -result)
    }
    unsafe self.ring = ring
  }

  deinit {
    var open = unsafe ring
    unsafe cprobe_ring_close(&open)
  }

  /// What happened since the last call, oldest first. The buffer is as large as the ring.
  mutating func take(_ body: (SwitchRecord) -> Void) {
    let count = unsafe buffer.withUnsafeMutableBufferPointer { space in
      // An array with content has an address.
      unsafe space.baseAddress.map { unsafe cprobe_ring_take(&ring, $0, space.count) } ?? 0
    }
    Self.parse(buffer[..<count], body)
  }

  /// Takes records apart: linux/perf_event.h, PERF_RECORD_SWITCH (14), PERF_RECORD_LOST (2) and the
  /// PERF_RECORD_SAMPLE (9) before a switch: time, ABI of the registers, stack pointer, program counter.
  static func parse(_ bytes: ArraySlice<UInt8>, _ body: (SwitchRecord) -> Void) {
    func number(_ at: Int, _ size: Int) -> UInt64 {
      (0..<size).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }
    var at = bytes.startIndex
    var place: SleepPlace?
    while at + 8 <= bytes.endIndex {
      let size = Int(number(at + 6, 2))
      guard size >= 8, at + size <= bytes.endIndex else { return }
      let kind = number(at, 4)
      if kind == 2 {
        body(SwitchRecord(at: Instant(nanoseconds: 0), step: .lost))
        place = nil
      } else if kind == 9 {
        // Without an ABI (0) there are no registers.
        place =
          size >= 40 && number(at + 16, 8) != 0
          ? SleepPlace(stackPointer: number(at + 24, 8), programCounter: number(at + 32, 8)) : nil
      } else if kind == 14, size >= 16 {
        // PERF_RECORD_MISC_SWITCH_OUT is bit 13, _PREEMPT (Linux 4.17) bit 14.
        let flags = number(at + 4, 2)
        let step: SwitchRecord.Step =
          flags & 1 << 13 == 0 ? .ran : flags & 1 << 14 == 0 ? .slept : .preempted
        let time = Instant(nanoseconds: Int64(clamping: number(at + 8, 8)))
        body(SwitchRecord(at: time, step: step, place: step == .slept ? place : nil))
        place = nil
      }
      at += size
    }
  }
}
