// Waiting for several descriptors at once, without allocating at each wait.
// Safety: the kernel reads and writes exactly the entries of the array, which is borrowed for the call.

internal import CProbe
internal import Glibc

/// Descriptors to wait for, in the order they were added. They stay their owners'.
public struct PollSet: Sendable {
  private var entries: [pollfd] = []

  public init(_ descriptors: [Int32] = []) {
    for descriptor in descriptors { add(descriptor) }
  }

  /// Adds a descriptor that is waited for until it is readable.
  public mutating func add(_ descriptor: Int32) {
    entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
  }

  /// Leaves a descriptor out from now on; the places of the others stay.
  public mutating func disable(_ place: Int) {
    entries[place].fd = -1
    entries[place].revents = 0
  }

  /// ppoll(2): waits until one is readable or `limit` has passed; nil waits for ever. A signal ends the
  /// wait early, as the callers look at the clock anyway.
  public mutating func wait(_ limit: Nanoseconds?) {
    let time = limit.map { max($0.rawValue, 0) } ?? -1
    let ready = unsafe entries.withUnsafeMutableBufferPointer { space in
      unsafe cprobe_poll(space.baseAddress, space.count, time)
    }
    if ready <= 0 { for index in entries.indices { entries[index].revents = 0 } }
  }

  public func isReady(_ place: Int) -> Bool { entries[place].revents != 0 }

  /// Waits until a descriptor takes bytes, or its reader is gone.
  static func waitUntilWritable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = unsafe cprobe_poll(&entry, 1, -1)
  }

  /// Whether a descriptor takes bytes now.
  static func isWritable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe cprobe_poll(&entry, 1, 0) == 1 && Int32(entry.revents) & POLLOUT != 0
  }
}
