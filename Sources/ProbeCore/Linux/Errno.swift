// One error type for every system call: which call, on what, and the kernel's reason.
// Safety: strerror returns a string that is copied before anything else can run on this thread.

internal import Glibc

/// A system call that failed.
public struct SystemError: Error, Sendable, Equatable {
  /// The call, as in its manual page.
  public var call: String
  /// The path, pid or descriptor it was made on; empty where there is none.
  public var object: String
  /// The kernel's error number.
  public var code: Int32

  public init(call: String, object: String = "", code: Int32) {
    self.call = call
    self.object = object
    self.code = code
  }

  /// `call` of an error that no system call gave: a named pipe was waited for in vain.
  static let waitForWriter = "wait for a writer"

  /// The kernel's reason in words, as strerror(3) has it; of `waitForWriter` in ours.
  public var reason: String {
    if call == Self.waitForWriter { return "nobody writes to this pipe" }
    return unsafe String(cString: strerror(code))
  }

  /// ENOENT or ESRCH: what we looked at is gone, which is a normal end and no failure.
  public var isGone: Bool { code == ENOENT || code == ESRCH }
  /// EFAULT: an address in somebody's memory where nothing is.
  public var isBadAddress: Bool { code == EFAULT }
  /// EACCES or EPERM.
  public var isNotPermitted: Bool { code == EACCES || code == EPERM }
  /// EMFILE or ENFILE: too many files are open, ours or the machine's.
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
  /// The reason in words; for both errors of permission the same ones.
  var shortReason: String { isNotPermitted ? "not permitted" : reason }
}
