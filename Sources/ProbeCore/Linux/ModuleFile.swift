// A file that a watched process has mapped, read on demand. It may be hostile, cut or replaced while
// we read: so it is never mapped (a cut file would be a SIGBUS), only read with pread in pieces.
// Safety: the kernel writes at most the size of the local buffer that it is handed.

internal import CProbe
internal import Glibc
internal import Synchronization

/// Where a module is mapped and which file the kernel says it is.
public struct ModuleLocation: Sendable, Equatable {
  /// The mapping's addresses in the process, as the name in /proc/<pid>/map_files has them.
  public var start: UInt64
  public var end: UInt64
  public var deviceMajor: UInt64
  public var deviceMinor: UInt64
  public var inode: UInt64
  /// The path as the process sees it, raw, without ` (deleted)`.
  public var path: [UInt8]
}

/// Random access to the bytes of a regular file, or to bytes in memory (the vDSO, tests).
public final class ModuleFile: Sendable {
  /// Tells files and their versions apart; what is known of a file is kept under it.
  public struct Identity: Sendable, Hashable {
    public var device: UInt64
    public var inode: UInt64
    /// In bytes.
    public var size: Int
    /// Modification time, nanoseconds since 1970.
    public var modified: Int64
  }

  /// Of memory: device 0, and a number that the caller chose as inode.
  public let identity: Identity
  private let descriptor: FileDescriptor?
  private let memory: [UInt8]
  private let chunks = Mutex([Int: [UInt8]]())

  /// 16 KiB: a look-up in a table of a million entries touches some 8 of them (chosen).
  private static let chunkSize = 16 << 10
  /// At most 1 MiB of each file is kept; then it starts anew.
  private static let chunkLimit = 64

  /// Bytes in memory, as if they were a file.
  public init(memory: [UInt8], number: UInt64) {
    self.memory = memory
    descriptor = nil
    identity = Identity(device: 0, inode: number, size: memory.count, modified: 0)
  }

  private init(owning raw: Int32) throws(SystemError) {
    let descriptor = FileDescriptor(owning: raw)
    let status = try Syscalls.status(descriptor.raw)
    identity = Identity(
      device: status.device, inode: status.inode, size: status.size, modified: status.modified)
    self.descriptor = consume descriptor
    memory = []
  }

  /// Opens what is mapped there: through map_files (the very file, also if deleted or in another
  /// mount namespace; needs CAP_CHECKPOINT_RESTORE), else by its path below the process's root, else
  /// as its executable. By path, device and inode must be those of the mapping.
  ///
  /// - Parameter folder: where procfs is.
  /// - Throws: the error of the last way that was tried; EINVAL for what is no regular file, ESTALE
  ///   where another file has the name now.
  public static func open(
    _ pid: ProcessID, _ location: ModuleLocation, procRoot folder: String = "/proc"
  ) throws(SystemError) -> ModuleFile {
    let range = String(location.start, radix: 16) + "-" + String(location.end, radix: 16)
    let mapped = unsafe cprobe_open_regular(-1, "\(folder)/\(pid)/map_files/\(range)", 0)
    if mapped >= 0 { return try ModuleFile(owning: mapped) }
    if mapped == -EINVAL { throw SystemError(call: "open", object: range, code: EINVAL) }
    do {
      return try byPath(pid, location, folder)
    } catch {
      let executable = unsafe cprobe_open_regular(-1, "\(folder)/\(pid)/exe", 0)
      guard executable >= 0 else { throw error }
      let file = try ModuleFile(owning: executable)
      guard file.isSame(location) else { throw error }
      return file
    }
  }

  private static func byPath(
    _ pid: ProcessID, _ location: ModuleLocation, _ folder: String
  ) throws(SystemError) -> ModuleFile {
    let path = String(decoding: location.path, as: UTF8.self)
    let root = try Syscalls.open("\(folder)/\(pid)/root", flags: O_RDONLY | O_DIRECTORY)
    let raw = unsafe cprobe_open_regular(root.raw, path, 0)
    guard raw >= 0 else { throw SystemError(call: "openat2", object: path, code: -raw) }
    let file = try ModuleFile(owning: raw)
    guard file.isSame(location) else {
      throw SystemError(call: "openat2", object: path, code: ESTALE)
    }
    return file
  }

  /// btrfs and overlayfs show other devices in maps than in stat, but the same inode numbers; a
  /// replaced file has another number, as the mapping holds the old one.
  private func isSame(_ location: ModuleLocation) -> Bool { identity.inode == location.inode }

  /// The descriptor for libraries that want one, valid as long as this object; nil for memory.
  public var rawDescriptor: Int32? {
    switch descriptor {
    case .some(let descriptor): descriptor.raw
    case .none: nil
    }
  }

  /// Whether somebody has written into the file since it was opened: size or time of its last
  /// modification differ. False where that cannot be asked, and for memory.
  public var hasChanged: Bool {
    guard let raw = rawDescriptor, let now = try? Syscalls.status(raw) else { return false }
    return now.size != identity.size || now.modified != identity.modified
  }

  /// Exactly these bytes.
  ///
  /// - Returns: nil if the file has not all of them (any more) or could not be read.
  public func read(at offset: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, let start = Int(exactly: offset), start <= identity.size - count else {
      return nil
    }
    if descriptor == nil { return Array(memory[start..<start + count]) }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    while result.count < count {
      let at = start + result.count
      guard let chunk = chunk(at / Self.chunkSize) else { return nil }
      let from = at % Self.chunkSize
      let until = min(chunk.count, from + count - result.count)
      guard from < until else { return nil }
      result.append(contentsOf: chunk[from..<until])
    }
    return result
  }

  /// A little-endian number of `size` (1 to 8) bytes; nil as for `read`.
  public func number(at offset: UInt64, size: Int) -> UInt64? {
    guard let start = Int(exactly: offset), start <= identity.size - size else { return nil }
    if descriptor == nil { return Self.number(memory, start, size) }
    let from = start % Self.chunkSize
    if from + size <= Self.chunkSize {
      guard let chunk = chunk(start / Self.chunkSize), from + size <= chunk.count else {
        return nil
      }
      return Self.number(chunk, from, size)
    }
    return read(at: offset, count: size).map { Self.number($0, 0, size) }
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<size { value |= UInt64(bytes[start + index]) << UInt64(8 * index) }
    return value
  }

  private func chunk(_ index: Int) -> [UInt8]? {
    if let known = chunks.withLock({ $0[index] }) { return known }
    guard let raw = rawDescriptor else { return nil }
    var buffer = [UInt8](repeating: 0, count: Self.chunkSize)
    // A file that cannot be read is a stack that ends here, and says so.
    guard let count = try? Syscalls.read(raw, at: index * Self.chunkSize, into: &buffer) else {
      return nil
    }
    buffer.removeLast(buffer.count - count)
    chunks.withLock {
      if $0.count >= Self.chunkLimit { $0.removeAll(keepingCapacity: true) }
      $0[index] = buffer
    }
    return buffer
  }
}

/// Memory of another process.
public enum ProcessMemory {
  /// process_vm_readv(2) of a whole range, which needs the right to trace the process.
  ///
  /// - Returns: nil if not all of it could be read.
  public static func copy(_ pid: ProcessID, at address: UInt64, count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let copied = unsafe buffer.withUnsafeMutableBytes { space in
      unsafe space.baseAddress.map {
        unsafe cprobe_copy_memory(pid.rawValue, address, $0, space.count)
      } ?? 0
    }
    return copied == Int64(count) ? buffer : nil
  }
}
