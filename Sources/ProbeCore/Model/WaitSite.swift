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

extension WaitCategory {
  /// Its name in the summary.
  public var word: String {
    switch self {
    case .idle: "events"
    case .lock: "lock"
    case .disk: "disk"
    case .pipe: "pipe"
    case .socket: "socket"
    case .sleep: "sleep"
    case .child: "child"
    case .pageFault: "pageFault"
    case .join: "join"
    case .other: "other"
    case .signal: "signal"
    }
  }
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

  /// Stands for a call of which only the place is known.
  public static let unknownCall: Int32 = -3

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
  /// The descriptor or the lock's address that the call names; nil where it names none.
  public var handle: UInt64?
  /// What the descriptor is, as its link in /proc says, where that was read anyway.
  public var link: [UInt8]?

  public init(
    site: WaitSite, waitClass: WaitClass, category: WaitCategory, queue: UInt64? = nil,
    handle: UInt64? = nil, link: [UInt8]? = nil
  ) {
    self.site = site
    self.waitClass = waitClass
    self.category = category
    self.queue = queue
    self.handle = handle
    self.link = link
  }

  /// The same place and kind of wait, whichever object it is for: a loop reads many.
  public static func == (left: Self, right: Self) -> Bool {
    left.site == right.site && left.waitClass == right.waitClass
      && left.category == right.category && left.queue == right.queue
  }
}
