// What a stalled thread was seen waiting for, and who holds it: a fact of one moment, as its stack is.

/// What a blocked call waits for.
public struct WaitObject: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    /// A lock in memory; `lock` says which kind where that is known.
    case lock
    /// The end of another thread.
    case join
    case file
    /// A lock on a file.
    case fileLock
    case pipe
    case socket
    /// The end of a child, or its start (vfork).
    case child
    case terminal
    /// A time.
    case sleep
    case signal
    /// Events of several descriptors, or of one that counts them (epoll, eventfd, timerfd, io_uring).
    case events
    case other
  }

  public var kind: Kind
  /// As the kernel has it; of a file that was deleted without the kernel's mark.
  public var path: String?
  public var isDeleted = false
  /// The address of a socket's other end, as in `10.0.0.5:5432`.
  public var peer: String?
  /// Who is at the other end, holds the file lock, or is the child; nil where it is not known.
  public var process: NeighbourProcess?
  /// `mutex`, `read-write lock` and the like, as far as the lock's memory tells.
  public var lock: String?
  /// It waits to write, not to read.
  public var isWriting = false
  /// How many other objects of the kind it waits for at the same time.
  public var others = 0
  /// Where in the file it reads or writes, in bytes; nil where that is not known.
  public var offset: UInt64?
  /// The function of the kernel in which it waits (wchan), where that says more than the call.
  public var kernelFunction: String?
  /// Operations of an io_uring that it waits for.
  public var operations: Int?

  public init(_ kind: Kind) { self.kind = kind }

  /// The same object, wherever in it.
  func isSame(as other: WaitObject) -> Bool {
    var (one, two) = (self, other)
    (one.offset, two.offset) = (nil, nil)
    (one.kernelFunction, two.kernelFunction) = (nil, nil)
    (one.operations, two.operations) = (nil, nil)
    return one == two
  }
}

/// Another process on this machine, as far as it has to do with a wait.
public struct NeighbourProcess: Sendable, Equatable {
  public var pid: Int32
  /// comm.
  public var name: String
  /// Program and option names.
  public var command: String

  public init(pid: Int32, name: String, command: String) {
    self.pid = pid
    self.name = name
    self.command = command
  }
}

/// A thread that holds what another one waits for.
public struct WaitLink: Sendable, Equatable {
  public var tid: ThreadID
  /// comm.
  public var name: String
  /// The call that it is blocked in itself; nil where it runs.
  public var call: String?
  public var object: WaitObject?
  /// Numbers of code places of its stack, innermost first; empty where none was taken.
  public var places: [Int] = []

  public init(tid: ThreadID, name: String, call: String?, object: WaitObject?) {
    self.tid = tid
    self.name = name
    self.call = call
    self.object = object
  }
}

/// A stalled thread's wait at one moment, beside the stack of the same moment.
public struct WaitReading: Sendable, Equatable {
  public var tid: ThreadID
  public var at: Instant
  /// The system call's name.
  public var call: String
  public var object: WaitObject
  /// Something moved while it was looked at.
  public var isProbable = false
  /// Who holds what the thread waits for, then who holds what that one waits for, and so on.
  public var chain: [WaitLink] = []
  /// The last of the chain waits for this member of it, -1 for the stalled thread itself; nil for no
  /// cycle.
  public var cycle: Int?

  public init(tid: ThreadID, at: Instant, call: String, object: WaitObject) {
    self.tid = tid
    self.at = at
    self.call = call
    self.object = object
  }
}

extension WaitObject {
  func encode(into out: inout ByteWriter) {
    out.put(kind.rawValue)
    out.put(optional: path) { $0.put($1) }
    out.put(isDeleted)
    out.put(optional: peer) { $0.put($1) }
    out.put(optional: process) { out, process in
      out.put(process.pid)
      out.put(process.name)
      out.put(process.command)
    }
    out.put(optional: lock) { $0.put($1) }
    out.put(isWriting)
    out.put(others)
    out.put(optional: offset) { $0.put($1) }
    out.put(optional: kernelFunction) { $0.put($1) }
    out.put(optional: operations) { $0.put($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(try reader.word(Kind.init(rawValue:)))
    path = try reader.optional { (r) throws(WireError) in try r.string() }
    isDeleted = try reader.bool()
    peer = try reader.optional { (r) throws(WireError) in try r.string() }
    process = try reader.optional { (r) throws(WireError) in
      NeighbourProcess(pid: try r.int32(), name: try r.string(), command: try r.string())
    }
    lock = try reader.optional { (r) throws(WireError) in try r.string() }
    isWriting = try reader.bool()
    others = try reader.int()
    offset = try reader.optional { (r) throws(WireError) in try r.unsigned() }
    kernelFunction = try reader.optional { (r) throws(WireError) in try r.string() }
    operations = try reader.optional { (r) throws(WireError) in try r.int() }
  }
}

extension WaitLink {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(name)
    out.put(optional: call) { $0.put($1) }
    out.put(optional: object) { $1.encode(into: &$0) }
    out.put(list: places) { $0.put($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      tid: try reader.thread(), name: try reader.string(),
      call: try reader.optional { (r) throws(WireError) in try r.string() },
      object: try reader.optional { (r) throws(WireError) in try WaitObject(from: &r) })
    places = try reader.list { (r) throws(WireError) in try r.int() }
  }
}

extension WaitReading {
  func encode(into out: inout ByteWriter) {
    out.put(tid.rawValue)
    out.put(at)
    out.put(call)
    object.encode(into: &out)
    out.put(isProbable)
    out.put(list: chain) { $1.encode(into: &$0) }
    out.put(optional: cycle) { $0.put($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      tid: try reader.thread(), at: try reader.instant(), call: try reader.string(),
      object: try WaitObject(from: &reader))
    isProbable = try reader.bool()
    chain = try reader.list { (r) throws(WireError) in try WaitLink(from: &r) }
    cycle = try reader.optional { (r) throws(WireError) in try r.int() }
  }
}
