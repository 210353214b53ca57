// Why a target did not start, in the three kinds that decide our exit code.
// The words are here because only the launcher knows what it tried.

internal import Glibc

/// A target that could not be started. No child is left behind when this is thrown.
public struct LaunchError: Error, Sendable, Equatable {
  /// The convention of shells, env(1) and timeout(1).
  public enum Kind: Sendable, Equatable {
    /// No such program, or its interpreter is missing: exit code 127.
    case notFound
    /// The file is there but cannot be run: exit code 126.
    case notRunnable
    /// We could not even try: exit code 125.
    case system

    /// What perfwatch exits with.
    public var exitCode: Int32 {
      switch self {
      case .notFound: 127
      case .notRunnable: 126
      case .system: 125
      }
    }
  }

  /// What stood in the way.
  public enum Cause: Sendable, Equatable {
    case missing
    /// A bare name that is in none of the directories of PATH.
    case notInPath(searched: String, isInCurrentDirectory: Bool)
    /// The file is there; what it names to run it is not, or may not be executed.
    case interpreter(String, isMissing: Bool)
    case directory
    case notAFile
    case noExecutePermission
    case mountedWithoutExecute
    case wrongFormat
    /// The kernel's reason in words; `doing` says during what, nil in executing itself.
    case other(doing: String?)
  }

  public var kind: Kind
  public var cause: Cause
  /// The file in question as text; the name as given when no file was found.
  public var path: String
  /// The kernel's error number.
  public var code: Int32

  public init(kind: Kind, cause: Cause, path: String, code: Int32) {
    self.kind = kind
    self.cause = cause
    self.path = path
    self.code = code
  }

  /// The program that should have run the file (`#!` line or ELF interpreter), where that was it.
  public var interpreter: String? {
    if case .interpreter(let name, _) = cause { return name }
    return nil
  }

  /// One line, safe on a terminal: what was tried, on what, why it failed and what to do.
  public var message: String {
    let file = "'" + SafeText.terminal(path) + "'"
    return switch cause {
    case .missing where path.isEmpty:
      "cannot run '': the command is empty; name a program"
    case .missing:
      "cannot run \(file): no such file; check the path"
    case .notInPath(let searched, let isInCurrentDirectory):
      "cannot run \(file): not found in PATH (\(SafeText.terminal(searched))); "
        + (isInCurrentDirectory ? "to run the one here, write ./" : "check the name or give a path")
        + (isInCurrentDirectory ? SafeText.terminal(path) : "")
    case .interpreter(let name, isMissing: true):
      "cannot run \(file): it needs '\(SafeText.terminal(name))' to run it, which does not exist; "
        + "install that or correct the file's first line"
    case .interpreter(let name, isMissing: false):
      "cannot run \(file): it needs '\(SafeText.terminal(name))' to run it, which cannot be "
        + "executed (\(reason)); check that file"
    case .directory:
      "cannot run \(file): it is a directory; name a program in it"
    case .notAFile:
      "cannot run \(file): it is not a regular file; name a program"
    case .noExecutePermission:
      "cannot run \(file): it may not be executed (\(reason)); chmod +x it, or check who may"
    case .mountedWithoutExecute:
      "cannot run \(file): its file system is mounted noexec; run it from another place"
    case .wrongFormat:
      "cannot run \(file): not a program for this machine; build it for this architecture"
    case .other(let doing):
      "cannot run \(file): " + (doing.map { $0 + ": " } ?? "") + reason + "; " + advice
    }
  }

  private var reason: String { SystemError(call: "execve", code: code).reason }

  private var advice: String {
    switch code {
    case ELOOP: "follow its symbolic links with `namei` and mend the loop"
    case E2BIG: "pass fewer or shorter arguments"
    case ETXTBSY: "wait until nobody writes to it"
    case EAGAIN: "raise the limit with `ulimit -u`"
    case ENOMEM: "free some memory"
    case EMFILE, ENFILE: "raise the limit with `ulimit -n`"
    case EINVAL: "check the command"
    default: "try it without perfwatch"
    }
  }
}
