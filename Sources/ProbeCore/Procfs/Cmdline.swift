// A process's arguments, or the title that it wrote over them.

/// /proc/<pid>/cmdline: arguments with a NUL after each; empty for kernel threads and zombies.
///
/// It may hold secrets; show program and option names only unless the user asked for more.
public struct Cmdline: Sendable, Equatable {
  /// The arguments, raw. Of a rewritten title there is one, without its padding.
  public var arguments: [[UInt8]]
  /// The process seems to have written a title over its arguments (setproctitle): the text does not
  /// end in a NUL, or it is one text with a blank and then only padding NULs.
  public var isTitle: Bool

  /// Takes any bytes; nothing in them is an error.
  public init(_ bytes: Span<UInt8>) {
    arguments = []
    isTitle = false
    guard bytes.count > 0 else { return }
    var start = 0
    for index in 0..<bytes.count where bytes[index] == 0 {
      arguments.append(bytes.copy(start..<index))
      start = index + 1
    }
    if start < bytes.count {
      // A title that reached over the last argument's NUL: the kernel gives the text without one.
      arguments.append(bytes.copy(start..<bytes.count))
      isTitle = true
    } else if arguments.count > 1, arguments[0].contains(.space),
      arguments.dropFirst().allSatisfy(\.isEmpty)
    {
      // As redis and nginx do it. Arguments that are empty on purpose only count after a plain
      // name.
      arguments.removeSubrange(1...)
      isTitle = true
    }
  }
}
