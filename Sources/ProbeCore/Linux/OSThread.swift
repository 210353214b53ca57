// A plain named OS thread that must be joined.
// Safety: the closure is boxed and retained once; the new thread takes that retain over. The handle is
// used only by `join`, which consumes it.

internal import CProbe
internal import Glibc

/// One POSIX thread with a name of at most 15 bytes.
public struct OSThread: ~Copyable, Sendable {
  private let handle: pthread_t

  private final class Box {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// What a thread's stack may grow to, in bytes: chosen, and not left to `ulimit -s`, which may be too
  /// little for us, or so much that `ulimit -v` has no room for it.
  public static let usualStack = 1 << 20
  /// For the one that demangles, which recurses as deep as a name is.
  static let deepStack = 8 << 20

  /// Starts a thread that runs `body` and ends.
  ///
  /// - Parameter stackSize: in bytes, of address space.
  /// - Throws: EAGAIN when the system has no room for another thread.
  public init(
    name: String, stackSize: Int = Self.usualStack, body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let box = unsafe Unmanaged.passRetained(Box(name: name, body: body))
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    // Refused only where it is less than the system's least: then it is what it would have been.
    unsafe pthread_attr_setstacksize(&attributes, stackSize)
    let code = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let box = unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
        _ = unsafe cprobe_set_thread_name(box.name)
        box.body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SystemError(call: "pthread_create", object: name, code: code)
    }
    handle = thread
  }

  /// setpriority(2) for the calling thread alone: nice -10 where that is permitted, so that a busy machine
  /// does not make us late (measured: 0.1 instead of 2.5 ms at the 99th percentile).
  static func raisePriority() {
    _ = setpriority(
      __priority_which_t(PRIO_PROCESS.rawValue), id_t(bitPattern: cprobe_thread()), -10)
  }

  /// Waits until the thread has ended.
  @available(*, noasync)
  public consuming func join() {
    _ = pthread_join(handle, nil)
  }
}
