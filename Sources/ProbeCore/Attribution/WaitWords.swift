// A wait in words: the call, the object, who holds it. All names are the target's or other processes'
// and are escaped here, once.

enum WaitWords {
  /// What follows a length of time: `waiting for a mutex held by thread worker-3 (tid 4711), which was in
  /// compress_block`, `in fsync of /var/lib/app.db`.
  ///
  /// - Parameter frames: of the waiting thread's own stack; system functions tell kinds of locks.
  static func text(_ wait: SeenWait, frames: [Summary.Frame]) -> String {
    let reading = wait.reading
    if let cycle = deadlock(reading) { return cycle }
    let probably = reading.isProbable ? "probably " : ""
    switch reading.object.kind {
    case .lock:
      let lock = lockName(reading.object, frames)
      guard let first = reading.chain.first else {
        if lock.isEvent { return "waiting on \(lock.name)\(place(frames))" }
        return "waiting for \(lock.name); its owner is not recorded"
      }
      let rest = chain(reading, wait.holders)
      return "waiting for \(lock.name) \(probably)held by \(thread(first))\(rest)"
    case .join:
      guard let first = reading.chain.first else { return "waiting for another thread to end" }
      return "waiting for \(thread(first)) to end\(chain(reading, wait.holders))"
    // What has no object of its own to name is told by its place.
    case .sleep, .signal, .events, .other:
      if let lock = runtimeLock(frames) { return "waiting for \(lock); its owner is not recorded" }
      return object(reading.call, reading.object) + place(frames)
    default: return object(reading.call, reading.object)
    }
  }

  /// ` in parse_json`: the innermost function of the program's own; nothing where none has a name. Not an
  /// inlined one: it is known only where there was time to read lines.
  static func place(_ frames: [Summary.Frame]) -> String {
    let own = frames.first { $0.inApp && !$0.inlined && $0.function != nil }
    return own?.function.map { " in " + function($0) } ?? ""
  }

  /// Longer names are told without types: a line has room for one thing. Chosen.
  private static let nameLimit = 60

  /// A function's name, for a sentence.
  static func function(_ name: String) -> String {
    SafeText.terminal(name.count > nameLimit ? FunctionKey.of(name) : name)
  }

  /// What a loop that the program runs inside of another waits for, where that is one thing; nil else.
  static func nested(_ object: WaitObject) -> String? {
    if object.kind == .events {
      return object.process.map { "child process \(process($0)), which was started in it" }
    }
    guard object.others == 0 else { return nil }
    let path = object.path.map { SafeText.terminal($0) }
    let who = object.process.map { process($0) }
    switch object.kind {
    case .pipe:
      let end = object.isWriting ? "reading" : "writing"
      return (path ?? "a pipe") + (who.map { ", whose \(end) end \($0) has" } ?? "")
    case .socket:
      guard let name = object.peer ?? path else { return who.map { "a socket of \($0)" } }
      return "the socket \(name)" + (who.map { " (\($0))" } ?? "")
    case .file: return path
    case .terminal: return "the terminal \(path ?? "")"
    default: return nil
    }
  }

  /// ` at 12.5 MiB, in the kernel's jbd2_log_wait_commit`.
  private static func details(_ object: WaitObject) -> String {
    let offset = object.offset.map { " at " + Units.text(bytes: $0) } ?? ""
    return offset + kernel(object)
  }

  private static func kernel(_ object: WaitObject) -> String {
    object.kernelFunction.map { " (in the kernel: \(SafeText.terminal($0)))" } ?? ""
  }

  /// A call on an object that is no lock in memory.
  static func object(_ call: String, _ object: WaitObject) -> String {
    let path = object.path.map { SafeText.terminal($0) + (object.isDeleted ? " (deleted)" : "") }
    let others = object.others > 0 ? " and \(Counted.text(object.others, "other"))" : ""
    switch object.kind {
    case .lock: return "waiting for a lock"
    case .join: return "waiting for another thread to end"
    case .file: return "in \(call) of \(path ?? "a file")\(others)\(details(object))"
    case .fileLock:
      let holder = object.process.map { " held by \(process($0))" } ?? ""
      return "waiting for a lock on \(path ?? "a file")\(holder)"
    case .pipe:
      let what = path ?? "a pipe"
      let end = object.isWriting ? "reading" : "writing"
      let other = object.process.map { ", whose \(end) end \(process($0)) has" } ?? ""
      return "in \(call) of \(what)\(other)\(others)"
    case .socket: return socket(call, object, path) + others
    case .child:
      guard let child = object.process else { return "waiting for a child process" }
      let any = object.others > 0 ? " or \(Counted.text(object.others, "other"))" : ""
      let doing = call.hasPrefix("wait") ? "waiting for child process" : "starting child process"
      return "\(doing) \(process(child))\(any)"
    case .terminal: return "in \(call) of the terminal \(path ?? "")"
    case .sleep: return "sleeping"
    case .signal: return "waiting for a signal"
    case .events: return events(call, object, path)
    case .other: return "in \(call)\(kernel(object))"
    }
  }

  private static func events(_ call: String, _ object: WaitObject, _ path: String?) -> String {
    if let count = object.operations, count > 0 {
      let file = path.map { " with \($0)" } ?? ""
      return "waiting for \(Counted.text(count, "operation")) of an io_uring\(file)"
    }
    let child = object.process.map { ", with child process \(process($0)) started meanwhile" } ?? ""
    return "waiting for events in \(call)\(child)"
  }

  private static func socket(_ call: String, _ object: WaitObject, _ path: String?) -> String {
    let preposition = call == "connect" || object.isWriting ? "to" : "from"
    let who = object.process.map { process($0) }
    if let peer = object.peer {
      return "in \(call) \(preposition) \(peer)" + (who.map { " (\($0))" } ?? "")
    }
    if let path { return "in \(call) \(preposition) \(path)" + (who.map { " (\($0))" } ?? "") }
    return "in \(call) \(preposition) " + (who.map { "a socket of \($0)" } ?? "a socket")
  }

  static func process(_ process: NeighbourProcess) -> String {
    "\(SafeText.terminal(process.name)) (pid \(process.pid))"
  }

  static func thread(_ link: WaitLink) -> String {
    "thread \(SafeText.terminal(link.name)) (tid \(link.tid))"
  }

  // MARK: Locks

  /// By its memory, else by the function of the system that waits for it.
  static func lockName(
    _ object: WaitObject, _ frames: [Summary.Frame]
  ) -> (name: String, isEvent: Bool) {
    if let name = runtimeLock(frames) { return (name, false) }
    if let lock = object.lock { return ("a \(lock)", lock == "semaphore") }
    for frame in frames.prefix(12) {
      guard let function = frame.function else { continue }
      for (part, name, isEvent) in functions where function.contains(part) {
        return (name, isEvent)
      }
    }
    return ("a lock", false)
  }

  /// A lock that the program made of something else, as its functions tell.
  static func runtimeLock(_ frames: [Summary.Frame]) -> String? {
    for frame in frames.prefix(12) {
      for (function, name) in runtimes where frame.function?.hasPrefix(function) == true {
        return name
      }
    }
    return nil
  }

  private static let runtimes = [
    ("ProcSleep", "a lock of PostgreSQL (on a row or a table)"),
    ("take_gil", "Python's global interpreter lock (GIL)"),
    ("PyThread_acquire_lock", "a lock of Python"),
  ]

  private static let functions: [(part: String, name: String, isEvent: Bool)] = [
    ("cond_wait", "a condition variable", true), ("cond_timedwait", "a condition variable", true),
    ("cond_clockwait", "a condition variable", true), ("Condvar", "a condition variable", true),
    ("condition_variable", "a condition variable", true), ("sem_wait", "a semaphore", true),
    ("sem_timedwait", "a semaphore", true), ("sem_clockwait", "a semaphore", true),
    ("new_sem_wait", "a semaphore", true), ("dispatch_semaphore", "a semaphore", true),
    ("barrier_wait", "a barrier", true), ("rwlock_", "a read-write lock", false),
    ("RwLock", "a read-write lock", false), ("mutex_lock", "a mutex", false),
    ("Mutex", "a mutex", false), ("lll_lock_wait", "a mutex", false),
    ("parking", "a lock", false), ("dispatch_group", "a dispatch group", true),
  ]

  /// What the holder was doing, and who holds it up in turn.
  private static func chain(_ reading: WaitReading, _ holders: [[Summary.Frame]]) -> String {
    var text = ""
    for (index, link) in reading.chain.enumerated() {
      if index > 2 {
        return text + ", and so on over \(reading.chain.count - index) more"
      }
      text += ", which was " + doing(link, index < holders.count ? holders[index] : [])
      if index + 1 < reading.chain.count {
        text += " held by \(thread(reading.chain[index + 1]))"
      }
    }
    return text
  }

  static func doing(_ link: WaitLink, _ frames: [Summary.Frame]) -> String {
    // Of the system's alone nothing is to be learnt that the call does not say better.
    let place = place(frames)
    guard let call = link.call, let object = link.object else {
      return place.isEmpty ? "running" : String(place.dropFirst())
    }
    switch object.kind {
    case .lock: return "waiting for \(lockName(object, frames).name)"
    case .join: return "waiting for another thread to end"
    default: return self.object(call, object) + place
    }
  }

  private static func deadlock(_ reading: WaitReading) -> String? {
    guard let cycle = reading.cycle else { return nil }
    let members = reading.chain.dropFirst(max(0, cycle))
    let names = (cycle < 0 ? ["this thread"] : []) + members.map(thread)
    let isShort = names.count <= 4
    let head = names.prefix(isShort ? names.count - 1 : 3).joined(separator: ", ")
    let tail = isShort ? names.last ?? "" : "\(names.count - 3) more"
    let shown = head.isEmpty ? tail : "\(head) and \(tail)"
    return cycle < 0
      ? "in a deadlock: \(shown) wait for each other"
      : "waiting behind a deadlock: \(shown) wait for each other"
  }

  /// One line for each step of the chain, for the summary.
  static func steps(_ reading: WaitReading, thread name: String) -> [String] {
    var waiter = "\(SafeText.terminal(name)) (tid \(reading.tid))"
    var object = reading.object
    var lines: [String] = []
    for link in reading.chain {
      let holder = "\(SafeText.terminal(link.name)) (tid \(link.tid))"
      if object.kind == .join {
        lines.append("\(waiter) waits for \(holder) to end")
      } else {
        lines.append("\(waiter) waits for \(lockName(object, []).name) held by \(holder)")
      }
      waiter = holder
      object = link.object ?? WaitObject(.other)
    }
    guard let last = reading.chain.last else { return [] }
    if let cycle = reading.cycle {
      let first =
        cycle < 0
        ? "\(SafeText.terminal(name)) (tid \(reading.tid))"
        : "\(SafeText.terminal(reading.chain[cycle].name)) (tid \(reading.chain[cycle].tid))"
      lines.append("\(waiter) waits for \(lockName(object, []).name) held by \(first)")
    } else if let call = last.call, let object = last.object {
      lines.append("\(waiter) is \(self.object(call, object))")
    } else {
      lines.append("\(waiter) is running")
    }
    return lines
  }
}
