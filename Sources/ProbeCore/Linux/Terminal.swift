// What we need of a terminal: is it one, how large, the same one, and writing that never blocks us.
// Safety: fstat and ioctl write local values only.

internal import CProbe
internal import Glibc

/// Facts about one of our descriptors as a terminal.
public enum Terminal {
  public static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Columns and rows by TIOCGWINSZ; nil when it is no terminal or tells nothing (0 x 0).
  public static func size(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
    let value = cprobe_window_size(descriptor)
    guard value > 0 else { return nil }
    let columns = Int(value & 0xffff_ffff)
    let rows = Int(value >> 32)
    return columns > 0 && rows > 0 ? (columns, rows) : nil
  }

  /// Whether two descriptors are the same terminal.
  public static func isSame(_ first: Int32, _ second: Int32) -> Bool {
    guard isTerminal(first), isTerminal(second),
      let one = try? Syscalls.status(first), let other = try? Syscalls.status(second)
    else { return false }
    return one.specialDevice == other.specialDevice
  }

  /// Whether we may draw: in the background another job owns the terminal.
  public static func isForeground(_ descriptor: Int32) -> Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  /// Writes if the descriptor takes the bytes now, in pieces that a pipe takes at once; else leaves out
  /// the rest. A stopped terminal (Ctrl-S) or a full pipe must not hold up the measurement.
  ///
  /// - Returns: false if not everything was written.
  @discardableResult
  public static func writeIfReady(_ descriptor: Int32, _ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      guard PollSet.isWritable(descriptor),
        let count = try? Syscalls.write(descriptor, bytes, from: done, limit: 4096), count > 0
      else { return false }
      done += count
    }
    return true
  }

  /// Writes everything and waits where it must. A closed reader is no failure of ours.
  ///
  /// - Returns: false if it could not be written.
  @discardableResult
  public static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    (try? Syscalls.writeAll(descriptor, bytes)) != nil
  }

  /// As `write`, for results whose loss is a failure.
  ///
  /// - Returns: false if the reader is gone (EPIPE).
  public static func send(_ descriptor: Int32, _ bytes: [UInt8]) throws(SystemError) -> Bool {
    do {
      try Syscalls.writeAll(descriptor, bytes)
      return true
    } catch {
      if error.code == EPIPE { return false }
      throw error
    }
  }
}

/// The environment, read only.
public enum Environment {
  /// getenv(3).
  public static func value(_ name: String) -> String? {
    guard let pointer = unsafe getenv(name) else { return nil }
    return unsafe String(cString: pointer)
  }

  /// unsetenv(3); call it only while perfwatch has one thread.
  public static func remove(_ name: String) {
    unsafe unsetenv(name)
  }
}
