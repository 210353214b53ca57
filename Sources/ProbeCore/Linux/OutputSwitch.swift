// Our own standard streams while other programs run that inherit them: results must not mix with what
// those write.

internal import CProbe
internal import Glibc

/// The standard output as it was, kept while descriptor 1 is something else.
public final class OutputSwitch: Sendable {
  private let output: FileDescriptor

  /// From now on descriptor 0 is empty, and descriptor 1 is nothing or, if wanted, stderr.
  ///
  /// Source: fcntl(2) F_DUPFD_CLOEXEC, dup2(2). No other thread may use the descriptors meanwhile.
  ///
  /// - Throws: when no descriptor is left or /dev/null cannot be opened.
  public init(toError: Bool) throws(SystemError) {
    let kept = fcntl(1, F_DUPFD_CLOEXEC, 3)
    guard kept >= 0 else { throw SystemError(call: "fcntl", code: errno) }
    let former = FileDescriptor(owning: kept)
    let reading = try Syscalls.open("/dev/null", flags: O_RDONLY | O_CLOEXEC)
    let writing = try Syscalls.open("/dev/null", flags: O_WRONLY | O_CLOEXEC)
    guard dup2(reading.raw, 0) == 0, dup2(toError ? 2 : writing.raw, 1) == 1 else {
      throw SystemError(call: "dup2", code: errno)
    }
    output = former
  }

  /// The descriptor that stdout was.
  public var raw: Int32 { output.raw }
}
