// Looking at processes before watching one: who is there, and may it be watched?

/// One process as a list shows it.
public struct ListedProcess: Sendable, Equatable {
  public var pid: ProcessID
  /// comm, as text.
  public var name: String
  /// The command line, as text; may hold secrets. Empty for zombies and kernel threads.
  public var arguments: [String]
}

/// The processes of /proc.
public enum ProcessList {
  /// All processes with a program, in order of their numbers. Processes that vanish meanwhile are left out.
  public static func all(root: String = "/proc") -> [ListedProcess] {
    var numbers: [Int32] = []
    guard var directory = try? NumberedDirectory(root),
      (try? directory.list(into: &numbers)) != nil
    else { return [] }
    return numbers.sorted().compactMap { find(ProcessID($0), root: root) }
  }

  /// One process; nil if it is gone, a zombie or a kernel thread.
  public static func find(_ pid: ProcessID, root: String = "/proc") -> ListedProcess? {
    var source = ProcSource(root: root, pid: pid)
    guard let arguments = try? commandLine(&source), !arguments.isEmpty,
      let count = try? source.readOnce("comm")
    else { return nil }
    let name = Comm.name(source.buffer.span.extracting(0..<count))
    return ListedProcess(
      pid: pid, name: SafeText.decode(name), arguments: arguments.map(SafeText.decode))
  }

  /// The raw arguments of a process, from /proc/<pid>/cmdline (its first 16 KiB).
  static func commandLine(_ source: inout ProcSource) throws(ReadingError) -> [[UInt8]] {
    let count = try source.readOnce("cmdline")
    return Cmdline(source.buffer.span.extracting(0..<count)).arguments
  }
}

/// What is known of a process that we are about to attach to.
struct AttachSubject: Sendable {
  var stat: TaskStat
  var status: TaskStatus
  var arguments: [[UInt8]]
  var executable: [UInt8]?
  var name: [UInt8]
}

/// Why a process cannot be attached to.
public enum AttachRefusal: Error, Sendable, Equatable {
  case notFound(ProcessID)
  case thread(ProcessID, of: ProcessID)
  case zombie(ProcessID, parent: ProcessID)
  case kernelThread(ProcessID, name: String)
  case ourselves(ProcessID)
  case ancestor(ProcessID, name: String)
  case unreadable(ProcessID, String)

  /// One line: what was tried, why it failed, what to do.
  public var message: String { message(trying: "attach to") }

  /// - Parameter verb: what was tried: `attach to`, `dump`.
  public func message(trying verb: String) -> String {
    switch self {
    case .notFound(let pid): "cannot \(verb) \(pid): no such process; see `ps -e`"
    case .thread(let tid, let process):
      "cannot \(verb) \(tid): it is a thread of process \(process); \(verb) \(process)"
    case .zombie(let pid, let parent):
      "cannot \(verb) \(pid): it has ended (a zombie); its parent \(parent) has yet to wait for it"
    case .kernelThread(let pid, let name):
      "cannot \(verb) \(pid): \(SafeText.terminal(name)) is a kernel thread; "
        + "\(verb) a process that runs a program"
    case .ourselves(let pid):
      "cannot \(verb) \(pid): that is perfwatch itself; name another process"
    case .ancestor(let pid, let name):
      "cannot \(verb) \(pid): \(SafeText.terminal(name)) waits for perfwatch, so each would wait "
        + "for the other; \(verb.prefix { $0 != " " }) from another terminal"
    case .unreadable(let pid, let reason):
      "cannot \(verb) \(pid): /proc/\(pid) cannot be read (\(reason)); run as its user or as root"
    }
  }
}

/// The checks before an attach.
enum AttachCheck {
  /// Reads the process and says whether it can be watched.
  static func inspect(
    _ source: inout ProcSource, ownPID: ProcessID, ownSession: ProcessID
  ) throws(AttachRefusal) -> AttachSubject {
    let pid = source.pid
    if pid == ownPID { throw .ourselves(pid) }
    let status: TaskStatus
    let stat: TaskStat
    let name: [UInt8]
    do {
      let count = try source.readOnce("status")
      status = try TaskStatus(source.buffer.span.extracting(0..<count))
      let length = try source.readOnce("stat")
      stat = try TaskStat(source.buffer.span.extracting(0..<length))
      name = stat.comm(in: source.buffer.span.extracting(0..<length))
    } catch let error as ReadingError {
      switch error {
      case .gone: throw .notFound(pid)
      case .failed(let cause): throw .unreadable(pid, cause.reason)
      case .malformed(let cause): throw .unreadable(pid, "\(cause)")
      }
    } catch let error as ProcParseError {
      throw .unreadable(pid, "\(error)")
    } catch {
      throw .unreadable(pid, "\(error)")
    }
    if let process = status.process, process != pid { throw .thread(pid, of: process) }
    if stat.isKernelThread { throw .kernelThread(pid, name: SafeText.decode(name)) }
    if stat.isZombie && stat.threadCount <= 1 { throw .zombie(pid, parent: stat.parent) }
    if stat.session == ownSession.rawValue, isAncestor(pid, of: ownPID, root: source.root) {
      throw .ancestor(pid, name: SafeText.decode(name))
    }
    let arguments = (try? ProcessList.commandLine(&source)) ?? []
    let executable = try? Syscalls.readLink(source.path("exe"))
    return AttachSubject(
      stat: stat, status: status, arguments: arguments, executable: executable, name: name)
  }

  private static func isAncestor(_ pid: ProcessID, of own: ProcessID, root: String) -> Bool {
    var current = own
    // No chain of parents is longer than this; a bound because it changes while we walk.
    for _ in 0..<256 {
      var source = ProcSource(root: root, pid: current)
      guard let count = try? source.readOnce("stat"),
        let stat = try? TaskStat(source.buffer.span.extracting(0..<count)), stat.parent.rawValue > 0
      else { return false }
      if stat.parent == pid { return true }
      current = stat.parent
    }
    return false
  }
}
