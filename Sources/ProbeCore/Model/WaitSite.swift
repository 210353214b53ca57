// Where a thread waits, and what kind of wait that is, without any system call numbers.

/// What a wait says about a loop thread.
public enum WaitClass: UInt8, Sendable {
  /// A multiplexer or signal wait: nothing to do.
  case idle
  /// May be a loop's home (sleep, read, futex) or a wait inside a handler: to be learnt.
  case learnable
  /// Never a home: waiting for a child, a lock on a file, a connection.
  case never
}

/// What a blocked thread waits for, as far as the call tells; `join` is the end of another thread.
public enum WaitCategory: UInt8, Sendable, CaseIterable {
  case idle, lock, disk, pipe, socket, sleep, child, pageFault, join, other, signal
}

/// A place where a thread waits: the call, and the user's registers at it.
///
/// The program counter alone does not tell a home from a wait inside a handler (both are the same
/// instruction of the C library); the stack pointer does.
public struct WaitSite: Sendable, Hashable {
  /// The kernel's number of the call, by the architecture of the machine.
  public var call: Int32
  public var stackPointer: UInt64
  public var programCounter: UInt64

  public init(call: Int32, stackPointer: UInt64, programCounter: UInt64) {
    self.call = call
    self.stackPointer = stackPointer
    self.programCounter = programCounter
  }
}

/// A wait as it was seen: place, class and object.
public struct Wait: Sendable, Equatable {
  public var site: WaitSite
  public var waitClass: WaitClass
  public var category: WaitCategory
  /// The descriptor of the epoll or ring that is waited on; nil for every other wait. Threads that wait
  /// on the same one serve the same loop.
  public var queue: UInt64?

  public init(
    site: WaitSite, waitClass: WaitClass, category: WaitCategory, queue: UInt64? = nil
  ) {
    self.site = site
    self.waitClass = waitClass
    self.category = category
    self.queue = queue
  }
}
