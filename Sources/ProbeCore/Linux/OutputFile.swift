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
  /// nil when the file itself is written through.
  private let temporary: String?

  /// Opens the output, so that a name that cannot be written fails now.
  ///
  /// - Throws: the system call that failed and why.
  public init(_ path: String) throws(SystemError) {
    self.path = path
    guard !path.isEmpty else { throw SystemError(call: "open", object: path, code: ENOENT) }
    if let existing = try? Syscalls.status(path),
      !existing.isRegular || Self.namesDescriptor(path)
    {
      guard !existing.isDirectory else {
        throw SystemError(call: "open", object: path, code: EISDIR)
      }
      // A file behind a descriptor is shared with whoever writes there: at its end, never over it.
      descriptor = try Syscalls.open(path, flags: O_WRONLY | O_APPEND | O_NOCTTY)
      temporary = nil
      return
    }
    // The real place, so that a link keeps pointing at the file and the rename stays in its folder.
    let place = Self.resolved(path)
    // Only names that nobody else made: O_EXCL with O_NOFOLLOW, and another one if it is taken.
    var last = SystemError(call: "open", object: path, code: EEXIST)
    for attempt in 0..<16 {
      let name = "\(place).\(getpid()).\(attempt).tmp"
      do {
        descriptor = try Syscalls.open(
          name, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
        temporary = name
        return
      } catch {
        last = SystemError(call: "open", object: path, code: error.code)
        if error.code != EEXIST { break }
      }
    }
    throw last
  }

  deinit {
    if let temporary { Syscalls.unlink(temporary) }
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
    guard let temporary else { return }
    let target = Self.resolved(path)
    do {
      try Syscalls.synchronize(descriptor.raw)
      try Syscalls.rename(temporary, to: target)
    } catch {
      throw SystemError(call: error.call, object: path, code: error.code)
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
  /// The file's bytes.
  ///
  /// - Parameter limit: a larger file is refused with EFBIG instead of filling the memory.
  public static func read(_ path: String, limit: Int = 1 << 30) throws(SystemError) -> [UInt8] {
    let file = try Syscalls.open(path, flags: O_RDONLY | O_NOCTTY)
    guard !(try Syscalls.status(file.raw)).isDirectory else {
      throw SystemError(call: "read", object: path, code: EISDIR)
    }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 13)
    while true {
      let count: Int
      do {
        count = try Syscalls.read(file.raw, into: &buffer)
      } catch {
        throw SystemError(call: "read", object: path, code: error.code)
      }
      if count == 0 { return content }
      guard content.count + count <= limit else {
        throw SystemError(call: "read", object: path, code: EFBIG)
      }
      content.append(contentsOf: buffer[..<count])
    }
  }
}

/// Carries an output file to where it is written, once.
public final class SendableFile: Sendable {
  private let file: Mutex<OutputFile?>

  public init(_ file: consuming sending OutputFile?) { self.file = Mutex(file) }

  /// The file; nil after the first call, or if there was none.
  public func take() -> OutputFile? { file.withLock { $0.take() } }
}
