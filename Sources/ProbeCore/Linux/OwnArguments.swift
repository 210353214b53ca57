// Our own command line as bytes: a target's arguments need not be UTF-8.

/// The words perfwatch was started with.
public enum OwnArguments {
  /// All words, the program's name first, from /proc/self/cmdline.
  public static func raw() throws(SystemError) -> [[UInt8]] {
    let bytes = try InputFile.read("/proc/self/cmdline")
    // Each word ends in a NUL, so what follows the last one is nothing.
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
  }
}
