// The threads of a process, one after the other: captured, unwound, captured again where that leads
// further, and named at the end. Never more than one thread is stopped, and only where nothing shows.

/// What is wanted of a dump.
public struct DumpRequest: Sendable {
  /// How long file, line and inlined functions are looked for.
  public enum Lines: Sendable, Equatable {
    case none
    /// Of the program's own modules, as far as they come within a second.
    case quick
    /// Of all modules; a minute.
    case all
  }

  public var pid: ProcessID
  /// Thread numbers and name patterns; empty for all threads.
  public var threads: [String] = []
  public var lines = Lines.quick
  /// Patterns of modules that are the program's own.
  public var inApp: [String] = []
  /// Longer stacks are cut there.
  public var frameLimit = 4096
  public var build: Summary.Build

  public init(_ pid: ProcessID, build: Summary.Build) {
    self.pid = pid
    self.build = build
  }

  /// Whether a thread is wanted.
  func selects(_ tid: ThreadID, _ name: String) -> Bool {
    threads.isEmpty || threads.contains { $0 == "\(tid)" || Glob($0).matches(name) }
  }
}

/// Dumps one process, as often as wanted. Belongs to pw-tracer.
public final class ThreadDumper {
  private let request: DumpRequest
  private let subject: AttachSubject
  private let pidfd: PidFD
  private let cache = ModuleCache()
  private var resolver: StackResolver?
  /// The thread through which the process's memory is seen; nil for its main thread.
  private var window: ThreadID?

  /// Looks at the process; does nothing to it.
  ///
  /// - Throws: `AttachRefusal`, as one line: there is no such process, it has ended, it is a kernel
  ///   thread or perfwatch itself.
  public init(_ request: DumpRequest) throws(WatchError) {
    self.request = request
    var source = ProcSource(root: "/proc", pid: request.pid)
    do throws(AttachRefusal) {
      // No session is -1: whoever waits for us may be dumped, as we do not wait for it.
      let nobody = ProcessID(-1)
      _ = try AttachCheck.inspect(&source, ownPID: OwnProcess.pid, ownSession: nobody)
      guard let handle = try? PidFD(request.pid) else {
        throw AttachRefusal.notFound(request.pid)
      }
      // And again under the pidfd: what is read now is of the process that the pidfd holds.
      subject = try AttachCheck.inspect(&source, ownPID: OwnProcess.pid, ownSession: nobody)
      pidfd = handle
    } catch {
      throw WatchError(error.message(trying: "dump"))
    }
  }

  /// Whether the process has ended.
  public var isOver: Bool {
    var set = PollSet([pidfd.raw])
    set.wait(.zero)
    return set.isReady(0)
  }

  /// Captures and names all threads that were asked for.
  ///
  /// - Parameters:
  ///   - lines: how long file, line and inlined functions are looked for; nil for not at all.
  ///   - cancelled: asked between threads; then the rest is left out.
  /// - Throws: if not one thread could be looked at, with the reason.
  public func dump(
    lines: TimeBudget?, cancelled: () -> Bool = { false }
  ) throws(WatchError) -> ThreadDump {
    let began = Clock.now()
    let wallClock = Clock.wallClock()
    let ownCPU = Clock.ownCPU()
    let helperCPU = resolver?.helperCPU ?? .zero
    let all = try listThreads()
    let wanted = all.filter { request.selects($0.tid, $0.name) }
    guard !wanted.isEmpty else { throw nothingSelected(all) }
    let resolver = try resolver(for: all)
    var round = try DumpRound(request.pid, resolver: resolver, threads: all)
    for thread in wanted {
      if cancelled() { break }
      round.capture(thread)
    }
    round.settle()
    try check(round, isCancelled: cancelled())
    var cost = round.cost
    cost.captureTime = Clock.now() - began
    let isFrozen = isFrozen(all)
    let folded = DumpFold(
      round.captured, resolver, lines: lines, ofSystem: request.lines == .all, isFrozen: isFrozen)
    cost.time = Clock.now() - began
    cost.cpu = Clock.ownCPU() - ownCPU + (resolver.helperCPU - helperCPU)
    return ThreadDump(
      build: request.build,
      target: ThreadDump.Target(
        pid: request.pid.rawValue, name: all.first { $0.isMain(request.pid) }?.name ?? "",
        executable: executable(), threads: all.count),
      takenAt: CivilTime.iso8601(wallClock), monotonic: began, threads: folded.threads,
      stacks: folded.stacks, cost: cost, notes: folded.notes(round.captured.count, of: wanted.count)
    )
  }

  // MARK: Threads

  private func listThreads() throws(WatchError) -> [ListedThread] {
    var numbers: [Int32] = []
    var result: [ListedThread] = []
    do {
      var folder = try NumberedDirectory("/proc/\(request.pid)/task")
      try folder.list(into: &numbers)
      var buffer = [UInt8](repeating: 0, count: 1024)
      for number in numbers {
        // A thread that ended meanwhile is none.
        guard let file = try? folder.open("\(number)/stat"),
          let count = try? Syscalls.read(file.raw, at: 0, into: &buffer),
          let stat = try? TaskStat.head(buffer.span.extracting(0..<count))
        else { continue }
        let name = buffer.span.extracting(0..<count).copy(stat.commRange)
        result.append(
          ListedThread(
            tid: ThreadID(number), name: SafeText.decode(name), letter: stat.state))
      }
    } catch {
      if error.isGone || isOver {
        throw WatchError(AttachRefusal.notFound(request.pid).message(trying: "dump"))
      }
      throw WatchError(
        AttachRefusal.unreadable(request.pid, error.reason).message(trying: "dump"))
    }
    guard !result.isEmpty else {
      throw WatchError(AttachRefusal.notFound(request.pid).message(trying: "dump"))
    }
    return result.sorted {
      ($0.isMain(request.pid) ? 0 : 1, $0.tid) < ($1.isMain(request.pid) ? 0 : 1, $1.tid)
    }
  }

  /// The one of last time, or a new one if what it looked through has ended.
  private func resolver(for threads: [ListedThread]) throws(WatchError) -> StackResolver {
    let living = threads.first { !$0.isEnded }
    let through = living.flatMap { $0.isMain(request.pid) ? nil : $0.tid }
    if let resolver, window == through || threads.contains(where: { $0.tid == window }) {
      resolver.refreshMap()
      return resolver
    }
    window = through
    let made = StackResolver(
      request.pid, cache: cache, inApp: request.inApp, frameLimit: request.frameLimit,
      through: through)
    resolver = made
    return made
  }

  /// Whether its control group keeps it from running; not asked where a thread does run.
  private func isFrozen(_ threads: [ListedThread]) -> Bool {
    let living = threads.filter { !$0.isEnded }
    guard let first = living.first, !living.contains(where: { $0.letter == UInt8(ascii: "R") })
    else { return false }
    // The main thread may have ended, and then its folder names the first group of all.
    var source = ProcSource(root: "/proc", pid: ProcessID(first.tid.rawValue))
    return Freezer().isFrozen(&source)
  }

  private func executable() -> String? {
    let seen = window?.rawValue ?? request.pid.rawValue
    return (try? Syscalls.readLink("/proc/\(seen)/exe")).map(SafeText.decode)
  }

  // MARK: Failures

  private func nothingSelected(_ all: [ListedThread]) -> WatchError {
    let patterns = request.threads.map { "'\(SafeText.terminal($0))'" }.joined(separator: ", ")
    var names: [String] = []
    for thread in all where !names.contains(thread.name) { names.append(thread.name) }
    let shown = names.prefix(8).map { SafeText.terminal($0) }.joined(separator: ", ")
    let more = names.count > 8 ? " and \(names.count - 8) more" : ""
    return WatchError(
      "no thread of \(request.pid) matches \(patterns); its threads are called \(shown)\(more)")
  }

  /// A dump without a single look at the process is a failure, not a dump.
  private func check(_ round: borrowing DumpRound, isCancelled: Bool) throws(WatchError) {
    let captured = round.captured
    guard !isCancelled, !captured.contains(where: { $0.snapshot != nil }) else { return }
    if isOver {
      throw WatchError("cannot dump \(request.pid): it ended meanwhile")
    }
    guard captured.allSatisfy({ $0.refusal == .notPermitted }) else { return }
    let user = subject.status.effectiveUser
    let whose = user.map { $0 == OwnProcess.effectiveUser ? "" : " of uid \($0)" } ?? ""
    throw WatchError(
      "cannot dump \(request.pid): the kernel does not permit to look at this process\(whose); "
        + "run as its user or as root (or with cap_sys_ptrace; see kernel.yama.ptrace_scope)")
  }
}

@available(*, unavailable) extension ThreadDumper: Sendable {}

/// A thread before it is captured.
struct ListedThread {
  var tid: ThreadID
  var name: String
  /// Its state in /proc.
  var letter: UInt8

  var isEnded: Bool { letter == UInt8(ascii: "Z") || letter == UInt8(ascii: "X") }

  func isMain(_ pid: ProcessID) -> Bool { tid.rawValue == pid.rawValue }
}

extension DumpRequest.Lines {
  /// nil for none.
  var budget: TimeBudget? {
    switch self {
    case .none: nil
    case .quick: TimeBudget(perModule: .milliseconds(300), total: .seconds(1))
    case .all: TimeBudget(perModule: .seconds(60), total: .seconds(60))
    }
  }
}
