// A descriptor that closes itself. Nothing else in perfwatch calls close(2).

internal import CProbe
internal import Glibc

/// An open file, owned: closed exactly once, when it goes out of use.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The number, for calls that take one; do not keep it longer than this value.
  public let raw: Int32

  init(owning raw: Int32) { self.raw = raw }

  deinit { _ = close(raw) }

  /// Gives the number away; whoever takes it closes it.
  consuming func release() -> Int32 {
    let number = raw
    discard self
    return number
  }
}

/// A counter to wake a thread that waits in poll: eventfd(2).
public struct WakeUp: ~Copyable, Sendable {
  let descriptor: FileDescriptor

  /// - Throws: when no descriptor is left.
  public init() throws(SystemError) {
    let raw = cprobe_eventfd()
    guard raw >= 0 else { throw SystemError(call: "eventfd", code: -raw) }
    descriptor = FileDescriptor(owning: raw)
  }

  /// Makes the descriptor readable until `drain`.
  public func signal() {
    // The one failure is a counter near 2^64, and then the sleeper is awake already.
    _ = try? Syscalls.write(descriptor.raw, [1, 0, 0, 0, 0, 0, 0, 0])
  }

  /// Forgets the signals so far.
  public func drain() {
    var buffer = [UInt8](repeating: 0, count: 8)
    // Nothing to read (EAGAIN) is what we want.
    _ = try? Syscalls.read(descriptor.raw, into: &buffer)
  }
}
