// A thread of the test process that does one thing until it is let go.

@unsafe @preconcurrency import Glibc
import Synchronization

@testable import ProbeCore

/// Runs a body on a thread of its own and knows its number.
final class OwnThread: Sendable {
  let tid: ThreadID
  private let handle: pthread_t
  private let hasEnded: Flag

  final class Flag: Sendable {
    private let value = Atomic(0)
    func set(_ number: Int = 1) { value.store(number, ordering: .releasing) }
    var number: Int { value.load(ordering: .acquiring) }
    var isSet: Bool { number != 0 }
    /// Waits for it, at most ten seconds.
    func wait() -> Bool {
      for _ in 0..<20_000 where !isSet { usleep(500) }
      return isSet
    }
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  init(_ body: @escaping @Sendable () -> Void) {
    let number = Flag()
    let ended = Flag()
    let box = Body {
      number.set(Int(OwnProcess.thread.rawValue))
      body()
      ended.set()
    }
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        // The thread that made us passes one retained body.
        unsafe Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(box).toOpaque())
    precondition(result == 0, "pthread_create: \(result)")
    precondition(number.wait(), "the thread did not start")
    handle = thread
    hasEnded = ended
    tid = ThreadID(Int32(number.number))
  }

  var isDone: Bool { hasEnded.isSet }

  /// Sleeps for so short a time that many thousands of them fit into a second.
  static func pause() { usleep(5) }

  /// pthread_join.
  func join() { _ = pthread_join(handle, nil) }
}
