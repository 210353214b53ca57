// Starts a target held before its first instruction, lets it go, and waits for it alone.
// Everything here belongs on one thread (pw-tracer): the kernel ties children to who forks them.
// Safety: pointers handed to C point into arrays that outlive the call, and C keeps none of them.

internal import CProbe
internal import Glibc

/// What to launch, in the target's own bytes.
public struct LaunchRequest: Sendable {
  /// What the target finds in its environment.
  public enum Environment: Sendable {
    /// Ours, untouched.
    case inherited
    /// These `NAME=value` strings and nothing else.
    case exactly([[UInt8]])
  }

  /// The program's name or path, then its arguments.
  public var command: [[UInt8]]
  public var environment: Environment
  public var inherited: InheritedState

  public init(
    command: [[UInt8]], environment: Environment = .inherited, inherited: InheritedState
  ) {
    self.command = command
    self.environment = environment
    self.inherited = inherited
  }

  /// Forks the target and holds it just before exec.
  ///
  /// The name is looked up as a shell does: with a slash it is a path; else the directories of PATH
  /// in order, an empty one being the current directory, `/bin:/usr/bin` when PATH is not set.
  /// Sources: fork(2), pidfd_open(2).
  ///
  /// - Throws: `LaunchError` `.notFound` for an empty name, `.system` when we cannot fork. Whether
  ///   the program can be executed is known only at `release()`.
  public func hold() throws(LaunchError) -> HeldTarget {
    guard let name = command.first, !name.isEmpty else {
      throw LaunchError(kind: .notFound, cause: .missing, path: "", code: ENOENT)
    }
    let text = SafeText.decode(name)
    guard !command.contains(where: { $0.contains(0) }) else {
      throw LaunchError(
        kind: .system, cause: .other(doing: "pass an argument with a NUL byte"), path: text,
        code: EINVAL)
    }
    let search = PathSearch(name: name, path: searchPath)
    var held = cprobe_held()
    let result = unsafe withCStrings(search.candidates) { paths in
      unsafe withCStrings(command) { arguments in
        unsafe withEnvironment { variables in
          var launch = unsafe cprobe_launch(
            paths: paths.baseAddress!,  // never empty: a name has at least one candidate
            path_count: search.candidates.count,
            arguments: arguments.baseAddress!,  // never empty: the guard above
            argument_count: command.count, environment: variables, inherited: inherited.raw)
          return unsafe cprobe_launch_hold(&launch, &held)
        }
      }
    }
    guard result >= 0 else {
      throw LaunchError(
        kind: .system, cause: .other(doing: "start a process"), path: text, code: -result)
    }
    return HeldTarget(child: HeldChild(held), search: search)
  }

  /// PATH as the target will see it; nil when it is not set.
  private var searchPath: [UInt8]? {
    switch environment {
    case .inherited:
      guard let value = unsafe getenv("PATH") else { return nil }
      return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    case .exactly(let variables):
      let prefix = Array("PATH=".utf8)
      return variables.first { $0.starts(with: prefix) }.map { Array($0.dropFirst(prefix.count)) }
    }
  }

  private func withEnvironment(
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Int32
  ) -> Int32 {
    switch environment {
    case .inherited: body(nil)
    case .exactly(let variables): unsafe withCStrings(variables) { unsafe body($0.baseAddress) }
    }
  }
}

/// A target that exists but has not executed its program yet.
///
/// Dropping it kills the child, which has run nothing, and reaps it. If perfwatch dies, however
/// suddenly, the child exits without having run anything.
public struct HeldTarget: ~Copyable {
  private let child: HeldChild
  private let search: PathSearch

  fileprivate init(child: consuming HeldChild, search: PathSearch) {
    self.child = child
    self.search = search
  }

  public var pid: ProcessID { ProcessID(child.pid) }
  /// Refers to the process whatever becomes of its number; readable once it has ended.
  public var pidfd: Int32 { child.pidfd }

  /// Lets the child execute its program and waits until it has.
  ///
  /// A child that was killed while it was held is no error: `reap()` tells how it ended.
  ///
  /// - Throws: `LaunchError` with the file, the kernel's reason and the interpreter, when exec
  ///   failed; the child is reaped.
  public consuming func release() throws(LaunchError) -> RunningTarget {
    var failure = cprobe_launch_failure()
    let result = child.release(&failure)
    if result < 0 {
      throw LaunchError(
        kind: .system, cause: .other(doing: "talk to the new process"), path: search.text,
        code: -result)
    }
    if result > 0 { throw search.explain(failure) }
    return child.letGo()
  }
}

/// The forked child and the two descriptors that belong to it.
private struct HeldChild: ~Copyable {
  let pid: Int32
  let pidfd: Int32
  let channel: Int32

  init(_ raw: cprobe_held) {
    pid = raw.pid
    pidfd = raw.pidfd
    channel = raw.channel
  }

  func release(_ failure: inout cprobe_launch_failure) -> Int32 {
    var raw = cprobe_held(pid: pid, pidfd: pidfd, channel: channel)
    return unsafe cprobe_launch_release(&raw, &failure)
  }

  /// Hands pid and pidfd on.
  consuming func letGo() -> RunningTarget {
    close(channel)
    let running = RunningTarget(pid: ProcessID(pid), pidfd: pidfd)
    discard self
    return running
  }

  deinit {
    _ = cprobe_pidfd_signal(pidfd, SIGKILL)
    var usage = cprobe_usage()
    _ = unsafe cprobe_reap(pid, &usage)
    close(channel)
    close(pidfd)
  }
}
