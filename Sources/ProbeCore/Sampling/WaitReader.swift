// From a system call and its arguments to what a thread waits for.

/// Reads the waits of one thread.
struct WaitReader: Sendable {
  /// What a descriptor is, by its number; forgotten when the thread runs again.
  private var knownObject: (descriptor: UInt64, category: WaitCategory, link: [UInt8])?
  /// The last wait, which `restart_syscall` goes on with.
  private var lastWait: Wait?

  /// What the content of a `syscall` file says.
  mutating func state(
    _ bytes: Span<UInt8>, _ source: borrowing ProcSource
  ) -> ThreadProbe.State {
    guard let line = try? SyscallLine(bytes) else { return .unknown }
    switch line {
    case .running:
      knownObject = nil
      return .running
    // A zombie waits for nothing.
    case .outside(0, 0): return .unknown
    case .outside: return .blocked
    case .inside(let call):
      let arguments = [
        call.arguments.first, call.arguments.second, call.arguments.third, call.arguments.fourth,
      ]
      return .waiting(
        wait(
          Int32(truncatingIfNeeded: call.number), arguments, call.stackPointer,
          call.programCounter, source))
    }
  }

  /// What a call with these arguments waits for; a restarted call is the one that was interrupted.
  mutating func wait(
    _ number: Int32, _ arguments: [UInt64], _ stackPointer: UInt64, _ programCounter: UInt64,
    _ source: borrowing ProcSource
  ) -> Wait {
    if number == WaitCalls.restart, let lastWait, lastWait.site.stackPointer == stackPointer,
      lastWait.site.programCounter == programCounter
    {
      return lastWait
    }
    let wait = fresh(number, arguments, stackPointer, programCounter, source)
    lastWait = wait
    return wait
  }

  private mutating func fresh(
    _ number: Int32, _ arguments: [UInt64], _ stackPointer: UInt64, _ programCounter: UInt64,
    _ source: borrowing ProcSource
  ) -> Wait {
    let site = WaitSite(call: number, stackPointer: stackPointer, programCounter: programCounter)
    guard let call = WaitCalls.named(number) else {
      return Wait(site: site, waitClass: .never, category: .other)
    }
    if number == WaitCalls.ringEnter,
      !WaitCalls.isWaiting(ring: (minimum: arguments[2], flags: arguments[3]))
    {
      return Wait(site: site, waitClass: .never, category: .disk)
    }
    // Waking others is no wait, though it is the same call at the same place.
    if number == WaitCalls.futex, arguments.count > 1,
      !WaitCalls.isWaiting(futex: arguments[1])
    {
      return Wait(site: site, waitClass: .never, category: .other)
    }
    var category = call.category
    if category == .disk { category = object(of: arguments[0], source) }
    let hasLink = call.category == .disk && knownObject?.descriptor == arguments[0]
    if call.name == "futex", isJoin(arguments, source) { category = .join }
    // A loop may park in a read of a pipe, a socket or a timer, never in one of a file.
    let isFile = category == .disk
    return Wait(
      site: site, waitClass: isFile ? .never : call.waitClass, category: category,
      queue: WaitCalls.queues.contains(number) ? arguments[0] : nil,
      handle: WaitCalls.naming.contains(number) && category != .join ? arguments[0] : nil,
      link: hasLink ? knownObject?.link : nil)
  }

  /// pthread_join waits for the word that holds the other thread's number, which the kernel clears: a
  /// futex that is not private (no 0x80 in the operation) and whose expected value is a living thread.
  private func isJoin(_ arguments: [UInt64], _ source: borrowing ProcSource) -> Bool {
    guard arguments.count > 2, arguments[1] & 0x80 == 0, arguments[2] > 0, arguments[2] < 1 << 22
    else { return false }
    return (try? Syscalls.status(source.path("task/\(arguments[2])"))) != nil
  }

  private func isTerminal(_ link: [UInt8]) -> Bool {
    link.starts(with: "/dev/pts/".utf8) || link.starts(with: "/dev/tty".utf8)
  }

  /// Whether a descriptor of the target is a pipe, a socket or a file.
  private mutating func object(
    of descriptor: UInt64, _ source: borrowing ProcSource
  ) -> WaitCategory {
    if let knownObject, knownObject.descriptor == descriptor { return knownObject.category }
    guard descriptor < 1 << 20,
      let link = try? Syscalls.readLink(source.path("fd/\(descriptor)"))
    else { return .disk }
    let category: WaitCategory =
      link.starts(with: "pipe:".utf8)
      ? .pipe
      : link.starts(with: "socket:".utf8)
        ? .socket : link.starts(with: "/".utf8) && !isTerminal(link) ? .disk : .other
    knownObject = (descriptor, category, link)
    return category
  }
}
