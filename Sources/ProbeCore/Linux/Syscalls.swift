// Every plain system call of ours, wrapped once; interruption (EINTR) is handled here and nowhere else.
// Safety: pointers handed to the kernel are to local values or to arrays borrowed for the call, with
// their true sizes; no pointer outlives the call that it is made for.

internal import CProbe
internal import Glibc

/// The thin layer over the C library. Each function names the call that it makes.
enum Syscalls {
  /// open(2) with O_CLOEXEC added.
  static func open(
    _ path: String, flags: Int32, mode: mode_t = 0
  ) throws(SystemError) -> FileDescriptor {
    let raw = retrying { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
    guard raw >= 0 else { throw SystemError(call: "open", object: path, code: errno) }
    return FileDescriptor(owning: raw)
  }

  /// openat(2) below an open directory, with O_CLOEXEC added.
  static func open(
    _ path: String, below directory: borrowing FileDescriptor, flags: Int32, mode: mode_t = 0
  ) throws(SystemError) -> FileDescriptor {
    let raw = retrying { unsafe openat(directory.raw, path, flags | O_CLOEXEC, mode) }
    guard raw >= 0 else { throw SystemError(call: "openat", object: path, code: errno) }
    return FileDescriptor(owning: raw)
  }

  /// open(2) of a folder, to open files below it.
  static func openFolder(_ path: String) throws(SystemError) -> FileDescriptor {
    try open(path, flags: O_RDONLY | O_DIRECTORY)
  }

  /// pread(2) into the buffer from its beginning; the number of bytes, 0 at the end of the file.
  static func read(
    _ descriptor: Int32, at offset: Int, into buffer: inout [UInt8]
  ) throws(SystemError) -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes { space in
      retrying { unsafe pread(descriptor, space.baseAddress, space.count, offset) }
    }
    guard count >= 0 else { throw SystemError(call: "pread", code: errno) }
    return count
  }

  /// read(2) from the descriptor's own position.
  static func read(
    _ descriptor: Int32, into buffer: inout [UInt8]
  ) throws(SystemError) -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes { space in
      retrying { unsafe Glibc.read(descriptor, space.baseAddress, space.count) }
    }
    guard count >= 0 else { throw SystemError(call: "read", code: errno) }
    return count
  }

  /// One write(2) of the bytes from `offset` on; how many were taken.
  static func write(
    _ descriptor: Int32, _ bytes: [UInt8], from offset: Int = 0, limit: Int = .max
  ) throws(SystemError) -> Int {
    let count = unsafe bytes.withUnsafeBytes { space in
      let rest = min(space.count - offset, limit)
      guard rest > 0, let base = space.baseAddress else { return 0 }
      return retrying { unsafe Glibc.write(descriptor, base + offset, rest) }
    }
    guard count >= 0 else { throw SystemError(call: "write", code: errno) }
    return count
  }

  /// write(2) until everything is written, waiting where a descriptor that does not block is full.
  static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let count: Int
      do {
        count = try write(descriptor, bytes, from: done)
      } catch {
        guard error.code == EAGAIN else { throw error }
        PollSet.waitUntilWritable(descriptor)
        continue
      }
      guard count > 0 else { throw SystemError(call: "write", code: EIO) }
      done += count
    }
  }

  /// fsync(2). Descriptors that cannot be synchronized (pipes, terminals) are no failure.
  static func synchronize(_ descriptor: Int32) throws(SystemError) {
    let result = retrying { fsync(descriptor) }
    guard result == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP else {
      throw SystemError(call: "fsync", code: errno)
    }
  }

  /// rename(2).
  static func rename(_ old: String, to new: String) throws(SystemError) {
    guard unsafe Glibc.rename(old, new) == 0 else {
      throw SystemError(call: "rename", object: new, code: errno)
    }
  }

  /// linkat(2), following a link such as /proc/self/fd/N to the file that it stands for.
  static func link(_ old: String, to new: String) throws(SystemError) {
    guard unsafe linkat(AT_FDCWD, old, AT_FDCWD, new, AT_SYMLINK_FOLLOW) == 0 else {
      throw SystemError(call: "linkat", object: new, code: errno)
    }
  }

  /// unlink(2); a file that is not there is no failure.
  static func unlink(_ path: String) {
    _ = unsafe Glibc.unlink(path)
  }

  /// readlink(2): the raw bytes of the link's target.
  static func readLink(_ path: String) throws(SystemError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { space in
      let pointer = unsafe space.baseAddress?.assumingMemoryBound(to: CChar.self)
      return unsafe pointer.map { unsafe readlink(path, $0, space.count) } ?? -1
    }
    guard count >= 0 else { throw SystemError(call: "readlink", object: path, code: errno) }
    buffer.removeLast(buffer.count - count)
    return buffer
  }

  /// fstat(2) of a descriptor.
  static func status(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    var value = stat()
    guard unsafe fstat(descriptor, &value) == 0 else {
      throw SystemError(call: "fstat", code: errno)
    }
    return FileStatus(value)
  }

  /// stat(2) of a path, following links.
  static func status(_ path: String) throws(SystemError) -> FileStatus {
    var value = stat()
    guard unsafe stat(path, &value) == 0 else {
      throw SystemError(call: "stat", object: path, code: errno)
    }
    return FileStatus(value)
  }

  /// The same without a question to a file's server: what the kernel has cached will do. For files of the
  /// target, which may be waiting for just that server.
  static func cachedStatus(_ path: String) throws(SystemError) -> FileStatus {
    var value = stat()
    let result = unsafe cprobe_cached_status(path, &value)
    guard result == 0 else { throw SystemError(call: "statx", object: path, code: -result) }
    return FileStatus(value)
  }

  /// kill(pid, 0).
  static func exists(_ pid: ProcessID) -> Bool {
    kill(pid.rawValue, 0) == 0 || errno == EPERM
  }

  static func retrying<T: SignedInteger>(_ body: () -> T) -> T {
    while true {
      let result = body()
      if result != -1 || errno != EINTR { return result }
    }
  }
}

/// What fstat(2) tells that we use.
struct FileStatus {
  var linkCount: Int
  var mode: mode_t
  var size: Int
  var owner: UInt32
  var device: UInt64
  var inode: UInt64
  var specialDevice: UInt64
  /// Nanoseconds since 1970; wraps for times that no file has honestly.
  var modified: Int64

  init(_ value: stat) {
    linkCount = Int(value.st_nlink)
    mode = value.st_mode
    size = Int(value.st_size)
    owner = value.st_uid
    device = UInt64(value.st_dev)
    inode = UInt64(value.st_ino)
    specialDevice = UInt64(value.st_rdev)
    modified = Int64(value.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(value.st_mtim.tv_nsec)
  }

  var isRegular: Bool { mode & S_IFMT == S_IFREG }
  var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
  var isPipe: Bool { mode & S_IFMT == S_IFIFO }
}

extension timespec {
  var nanoseconds: Int64 { Int64(tv_sec) * 1_000_000_000 + Int64(tv_nsec) }
}
