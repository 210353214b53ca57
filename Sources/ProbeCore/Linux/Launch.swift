// Starts a target held before its first instruction, lets it go, and waits for it alone.
// A child begins with the name, priority and timer slack of the thread that makes it; any thread may reap it.
// Safety: pointers handed to C point into arrays that outlive the call, and C keeps none of them: what
// the child reads is a block of its own, freed when the child has executed or is reaped.

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

  /// Makes the target's process and holds it just before exec.
  ///
  /// The name is looked up as a shell does: with a slash it is a path; else the directories of PATH
  /// in order, an empty one being the current directory, `/bin:/usr/bin` when PATH is not set.
  /// Source: clone(2) with CLONE_VM and CLONE_PIDFD.
  ///
  /// - Throws: `LaunchError` `.notFound` for an empty name, `.system` when there can be no process. Whether
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
    var held = unsafe cprobe_held()
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
    return HeldTarget(child: unsafe HeldChild(held), search: search)
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

  /// Gives the word to execute, from any thread, while this value exists.
  public struct Word: Sendable {
    fileprivate let channel: Int32

    /// Lets the child execute its program. Once; `started()` tells how it went.
    public func give() { _ = cprobe_launch_go(channel) }
  }

  public var word: Word { Word(channel: child.channel) }

  /// Lets the child execute its program and waits until it has; see `started()`.
  public consuming func release() throws(LaunchError) -> RunningTarget {
    word.give()
    return try started()
  }

  /// Waits until the child, once it was given the word, has executed its program.
  ///
  /// A child that was killed while it was held is no error: `reap()` tells how it ended.
  ///
  /// - Throws: `LaunchError` with the file, the kernel's reason and the interpreter, when exec
  ///   failed; the child is reaped.
  public consuming func started() throws(LaunchError) -> RunningTarget {
    var failure = cprobe_launch_failure()
    let result = child.wait(&failure)
    if result < 0 {
      throw LaunchError(
        kind: .system, cause: .other(doing: "talk to the new process"), path: search.text,
        code: -result)
    }
    if result > 0 { throw search.explain(failure) }
    return child.letGo()
  }
}

/// The child, and what of ours belongs to it.
@safe private struct HeldChild: ~Copyable {
  private let raw: cprobe_held

  init(_ raw: cprobe_held) { unsafe self.raw = raw }

  var pid: Int32 { unsafe raw.pid }
  var pidfd: Int32 { unsafe raw.pidfd }
  var channel: Int32 { unsafe raw.channel }

  func wait(_ failure: inout cprobe_launch_failure) -> Int32 {
    unsafe withUnsafePointer(to: raw) { unsafe cprobe_launch_await($0, &failure) }
  }

  /// Hands pid and pidfd on; only when the child has executed or is over.
  consuming func letGo() -> RunningTarget {
    let running = RunningTarget(pid: ProcessID(pid), pidfd: pidfd)
    forget()
    discard self
    return running
  }

  private func forget() {
    unsafe withUnsafePointer(to: raw) { unsafe cprobe_launch_forget($0) }
  }

  deinit {
    _ = cprobe_pidfd_signal(pidfd, SIGKILL)
    var usage = cprobe_usage()
    _ = unsafe cprobe_reap(pid, &usage)
    forget()
    close(pidfd)
  }
}
