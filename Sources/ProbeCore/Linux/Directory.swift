// Numbered entries of a /proc directory, read without allocating.
// Safety: the kernel writes at most the buffer's size; records are read inside the count it returned.

internal import CProbe
internal import Glibc

/// An open directory whose entries with a number for a name matter: /proc or /proc/<pid>/task.
struct NumberedDirectory: ~Copyable {
  private let descriptor: FileDescriptor
  private var buffer = [UInt8](repeating: 0, count: 32 << 10)

  init(_ path: String) throws(SystemError) {
    descriptor = try Syscalls.open(path, flags: O_RDONLY | O_DIRECTORY)
  }

  /// Number of entries that are directories by st_nlink, as procfs keeps it for task/: threads + 2.
  /// One fstat instead of a listing.
  func linkCount() throws(SystemError) -> Int { try Syscalls.status(descriptor.raw).linkCount }

  /// Opens a file below the directory.
  func open(_ path: String) throws(SystemError) -> FileDescriptor {
    try Syscalls.open(path, below: descriptor, flags: O_RDONLY)
  }

  /// Replaces `numbers` by the directory's entries, in its order.
  ///
  /// - Parameter limit: with so many it is enough; there may be some more than that.
  mutating func list(into numbers: inout [Int32], limit: Int = .max) throws(SystemError) {
    numbers.removeAll(keepingCapacity: true)
    guard lseek(descriptor.raw, 0, SEEK_SET) == 0 else {
      throw SystemError(call: "lseek", code: errno)
    }
    while true {
      let raw = descriptor.raw
      let count = unsafe buffer.withUnsafeMutableBytes { space in
        // An array with content has an address.
        unsafe space.baseAddress.map { unsafe cprobe_getdents(raw, $0, space.count) } ?? 0
      }
      guard count >= 0 else { throw SystemError(call: "getdents64", code: Int32(-count)) }
      if count == 0 || numbers.count >= limit { return }
      var at = 0
      // struct linux_dirent64: inode 8, offset 8, record length 2, type 1, then the name.
      while at + 19 < Int(count) {
        let length = Int(buffer[at + 16]) | Int(buffer[at + 17]) << 8
        guard length >= 20, at + length <= Int(count) else { break }
        if let number = number(at: at + 19, end: at + length) { numbers.append(number) }
        at += length
      }
    }
  }

  private func number(at start: Int, end: Int) -> Int32? {
    var value: Int32 = 0
    var index = start
    while index < end, buffer[index] != 0 {
      let digit = buffer[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      let (product, isOver) = value.multipliedReportingOverflow(by: 10)
      let (sum, isSumOver) = product.addingReportingOverflow(Int32(digit))
      if isOver || isSumOver { return nil }
      value = sum
      index += 1
    }
    return index > start ? value : nil
  }
}
