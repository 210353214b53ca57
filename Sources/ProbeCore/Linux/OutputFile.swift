// A file of results: checked before the target starts, written aside, and put in place whole.
// A full disk or a kill leaves the old file as it was.

internal import Glibc
internal import Synchronization

/// One output that the user named.
///
/// A regular file (or a name that is free) is written under a temporary name beside it and renamed, so
/// readers see the old content or the new one. Anything else (`/dev/stdout`, a pipe) is written through.
/// New files get mode 0666 less the umask.
public struct OutputFile: ~Copyable, Sendable {
  /// The name as the user gave it.
  public let path: String
  private let descriptor: FileDescriptor
  /// Written aside and renamed; false when the file itself is written through.
  private let isRenamed: Bool
  /// The name that it has meanwhile; nil when it has none.
  private let temporary: String?

  /// Opens the output, so that a name that cannot be written fails now.
  ///
  /// - Throws: the system call that failed and why.
  public init(_ path: String) throws(SystemError) {
    guard !path.isEmpty else { throw SystemError(call: "open", object: path, code: ENOENT) }
    if let existing = try? Syscalls.status(path),
      !existing.isRegular || Self.namesDescriptor(path)
    {
      guard !existing.isDirectory else {
        throw SystemError(call: "open", object: path, code: EISDIR)
      }
      // A file behind a descriptor is shared with whoever writes there: at its end, never over it.
      // A pipe that nobody reads says so now (ENXIO) instead of blocking for ever.
      let file = try Syscalls.open(path, flags: O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK)
      self.init(path: path, descriptor: file, isRenamed: false, temporary: nil)
      return
    }
    // The real place, so that a link keeps pointing at the file and the rename stays in its folder.
    let place = Self.resolved(path)
    // A file without a name vanishes with us, however we end. Some file systems have none.
    let folder = place.lastIndex(of: "/").map { String(place[...$0]) } ?? "."
    if let unnamed = try? Syscalls.open(folder, flags: O_WRONLY | Self.unnamedFile, mode: 0o666) {
      self.init(path: path, descriptor: unnamed, isRenamed: true, temporary: nil)
      return
    }
    let named = try Self.createNamed(place, shownAs: path) { name throws(SystemError) in
      try Syscalls.open(
        name, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666
      ).release()
    }
    self.init(
      path: path, descriptor: FileDescriptor(owning: named.value), isRenamed: true,
      temporary: named.name)
  }

  private init(
    path: String, descriptor: consuming FileDescriptor, isRenamed: Bool, temporary: String?
  ) {
    self.path = path
    self.descriptor = descriptor
    self.isRenamed = isRenamed
    self.temporary = temporary
  }

  deinit {
    if let temporary { Syscalls.unlink(temporary) }
  }

  /// O_TMPFILE, which Swift's import of fcntl.h leaves out.
  private static var unnamedFile: Int32 { 0o20000000 | O_DIRECTORY }

  /// Tries names beside `place` that nobody else has until `make` succeeds with one.
  private static func createNamed<T>(
    _ place: String, shownAs path: String, _ make: (String) throws(SystemError) -> T
  ) throws(SystemError) -> (name: String, value: T) {
    var last = SystemError(call: "open", object: path, code: EEXIST)
    for attempt in 0..<16 {
      let name = "\(place).\(getpid()).\(attempt).tmp"
      do {
        return (name, try make(name))
      } catch {
        last = SystemError(call: error.call, object: path, code: error.code)
        if error.code != EEXIST { break }
      }
    }
    throw last
  }

  /// Adds bytes at the end.
  public func append(_ bytes: [UInt8]) throws(SystemError) {
    do {
      try Syscalls.writeAll(descriptor.raw, bytes)
    } catch {
      throw SystemError(call: error.call, object: path, code: error.code)
    }
  }

  /// Makes what was written the content of the file; on failure the old content stays.
  public consuming func commit() throws(SystemError) {
    guard isRenamed else { return }
    do throws(SystemError) {
      try Syscalls.synchronize(descriptor.raw)
      try putInPlace(Self.resolved(path))
    } catch {
      throw SystemError(call: error.call, object: path, code: error.code)
    }
  }

  private borrowing func putInPlace(_ target: String) throws(SystemError) {
    if let temporary { return try Syscalls.rename(temporary, to: target) }
    let raw = descriptor.raw
    let named = try Self.createNamed(target, shownAs: path) { name throws(SystemError) in
      try Syscalls.link("/proc/self/fd/\(raw)", to: name)
    }
    do throws(SystemError) {
      try Syscalls.rename(named.name, to: target)
    } catch {
      Syscalls.unlink(named.name)
      throw error
    }
  }

  /// Whether the name stands for something that is open already. It may be a regular file (`> out.txt`),
  /// and replacing that would take away what others write to it.
  private static func namesDescriptor(_ path: String) -> Bool {
    ["/dev/std", "/dev/fd/", "/proc/"].contains { path.hasPrefix($0) }
  }

  private static func resolved(_ path: String) -> String {
    var place = path
    // As many links as the kernel itself follows.
    for _ in 0..<40 {
      guard let link = try? Syscalls.readLink(place) else { return place }
      let target = String(decoding: link, as: UTF8.self)
      if target.hasPrefix("/") {
        place = target
      } else if let slash = place.lastIndex(of: "/") {
        place = place[...slash] + target
      } else {
        place = target
      }
    }
    return place
  }
}

/// Reading of whole files that the user named.
public enum InputFile {
  /// The first bytes of a file, at most `limit`; a longer one is cut, not refused.
  public static func head(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try Syscalls.open(path, flags: O_RDONLY | O_NOCTTY | O_NONBLOCK)
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = try Syscalls.read(file.raw, into: &buffer)
    buffer.removeLast(limit - count)
    return buffer
  }

  /// How long a named pipe may be without a writer. Chosen: who fills it is started together with us.
  public static let patience = Nanoseconds.seconds(10)

  /// The file's bytes; of a pipe or a terminal all until its end.
  ///
  /// - Parameters:
  ///   - limit: a larger file is refused with EFBIG instead of filling the memory.
  ///   - patience: a named pipe that nobody opens for writing is refused with ETIMEDOUT after this long.
  /// - Throws: also EINTR, when a signal of `SignalChannel.ends` came while it was waited for bytes: it
  ///   may be blocked, and without that nobody could end us.
  public static func read(
    _ path: String, limit: Int = 1 << 30, patience: Nanoseconds = patience
  ) throws(SystemError) -> [UInt8] {
    let file = try Syscalls.open(path, flags: O_RDONLY | O_NOCTTY | O_NONBLOCK)
    let status = try Syscalls.status(file.raw)
    guard !status.isDirectory else {
      throw SystemError(call: "read", object: path, code: EISDIR)
    }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 13)
    // Opened without waiting, a pipe that nobody writes to yet reads like one that is at its end.
    var mayBeUnopened = status.isPipe
    let end = Clock.now() + patience
    while true {
      let count: Int
      do {
        count = try Syscalls.read(file.raw, into: &buffer)
      } catch  where error.code == EAGAIN {
        mayBeUnopened = false
        _ = try isReadable(file.raw, path)
        continue
      } catch {
        throw SystemError(call: "read", object: path, code: error.code)
      }
      if count == 0 {
        guard mayBeUnopened else { return content }
        // Ready: somebody has written by now, or has been there and is gone.
        mayBeUnopened = try !isReadable(file.raw, path)
        if mayBeUnopened, Clock.now() >= end {
          throw SystemError(call: SystemError.waitForWriter, object: path, code: ETIMEDOUT)
        }
        continue
      }
      guard content.count + count <= limit else {
        throw SystemError(call: "read", object: path, code: EFBIG)
      }
      content.append(contentsOf: buffer[..<count])
    }
  }

  /// Whether a read would not wait; looks for a tenth of a second.
  private static func isReadable(
    _ descriptor: Int32, _ path: String
  ) throws(SystemError) -> Bool {
    if SignalChannel.pendingEnd != nil {
      throw SystemError(call: "read", object: path, code: EINTR)
    }
    var set = PollSet([descriptor])
    set.wait(.milliseconds(100))
    return set.isReady(0)
  }
}

/// Carries an output file to where it is written, once.
public final class SendableFile: Sendable {
  private let file: Mutex<OutputFile?>

  public init(_ file: consuming sending OutputFile?) { self.file = Mutex(file) }

  /// The file; nil after the first call, or if there was none.
  public func take() -> OutputFile? { file.withLock { $0.take() } }
}
