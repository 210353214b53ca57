// Waiting for the same descriptors again and again: they are told to the kernel once.

internal import CProbe

/// A few descriptors that a thread waits for at every turn of its loop. They stay their owners', and must
/// stay open as long as this is used.
struct WaitSet: ~Copyable {
  private let epoll: FileDescriptor?
  /// Its number; -1 where none could be had.
  private let raw: Int32
  /// Then this serves.
  private var plain: PollSet
  private var ready: UInt32 = 0

  /// For a wait that is made elsewhere, to be followed by `found`; nil where `wait` has to do.
  var epollNumber: Int32? { raw >= 0 ? raw : nil }

  /// - Parameter descriptors: at most eight.
  init(_ descriptors: [Int32]) {
    plain = PollSet(descriptors)
    let made = cprobe_epoll()
    guard made >= 0 else {
      epoll = nil
      raw = -1
      return
    }
    epoll = FileDescriptor(owning: made)
    let isComplete = descriptors.enumerated().allSatisfy {
      cprobe_epoll_add(made, $0.element, UInt32($0.offset)) == 0
    }
    raw = isComplete ? made : -1
  }

  /// epoll_pwait2(2): waits until one is readable or `limit` has passed. A signal ends the wait early, as
  /// the callers look at the clock anyway.
  mutating func wait(_ limit: Nanoseconds) {
    if raw >= 0 {
      ready = cprobe_epoll_wait(raw, limit.rawValue)
    } else {
      plain.wait(limit)
    }
  }

  /// What another wait has found, as bits.
  mutating func found(_ numbers: UInt32) { ready = numbers }

  func isReady(_ place: Int) -> Bool {
    raw < 0 ? plain.isReady(place) : ready & (1 << UInt32(place)) != 0
  }
}
