// A file with symbols in it, read by pread in bounded pieces; or bytes in memory taken for one.
// It may be hostile, cut or replaced while we read, so our own process never maps it (SIGBUS).
// Safety: the kernel and the decoder write at most the size of the array that is lent for the call.

internal import CProbe
internal import Glibc

/// Random access to an ELF file's bytes.
public final class SymbolFile: Sendable {
  /// In bytes, when it was opened.
  public let size: Int
  /// The owner's user id.
  public let owner: UInt32
  /// Modification time when it was opened, nanoseconds since 1970.
  public let modified: Int64
  /// Tells whether two opened files are the same; 0 for memory.
  let inode: UInt64
  private let descriptor: FileDescriptor?
  private let memory: [UInt8]

  /// Bytes in memory (the vDSO, an unpacked .gnu_debugdata).
  public init(memory: [UInt8]) {
    self.memory = memory
    size = memory.count
    owner = 0
    modified = 0
    inode = 0
    descriptor = nil
  }

  /// Takes an open file over.
  ///
  /// - Throws: fstat(2)'s error; EINVAL if it is no regular file.
  public init(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    let status = try Syscalls.status(descriptor.raw)
    guard status.isRegular else { throw SystemError(call: "open", code: EINVAL) }
    size = status.size
    owner = status.owner
    modified = status.modified
    inode = status.inode
    memory = []
    self.descriptor = consume descriptor
  }

  /// A second descriptor of a file that somebody else keeps open.
  ///
  /// - Throws: the error of fcntl(2); EINVAL if it is no regular file.
  public convenience init(copying raw: Int32) throws(SystemError) {
    let copy = cprobe_duplicate(raw)
    guard copy >= 0 else { throw SystemError(call: "fcntl", code: -copy) }
    try self.init(FileDescriptor(owning: copy))
  }

  /// Opens a regular file, with `root` taken as / for the path and the links in it. Never blocks, and
  /// never opens anything but a regular file.
  ///
  /// - Throws: the error of openat2(2); EINVAL if it is no regular file; ELOOP for a symbolic link where
  ///   `followsLinks` is false.
  public static func open(
    _ path: String, root: String = "/", followsLinks: Bool = true
  ) throws(SystemError) -> SymbolFile {
    let folder = try Syscalls.open(root, flags: O_RDONLY | O_DIRECTORY)
    let raw = unsafe cprobe_open_regular(folder.raw, path, followsLinks ? 0 : 1)
    guard raw >= 0 else { throw SystemError(call: "openat2", object: path, code: -raw) }
    return try SymbolFile(FileDescriptor(owning: raw))
  }

  /// For the helper; valid as long as this object. nil for memory.
  var rawDescriptor: Int32? {
    switch descriptor {
    case .some(let descriptor): descriptor.raw
    case .none: nil
    }
  }

  /// Up to `count` bytes; fewer at the end of the file or where it cannot be read.
  public func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard let start = Int(exactly: offset), start < size, count > 0 else { return [] }
    let length = min(count, size - start)
    guard let raw = rawDescriptor else { return Array(memory[start..<start + length]) }
    var buffer = [UInt8](repeating: 0, count: length)
    // A file that cannot be read has no names.
    let got = (try? Syscalls.read(raw, at: start, into: &buffer)) ?? 0
    buffer.removeLast(length - got)
    return buffer
  }

  /// Fills the array with little-endian 64-bit words from `offset` on; how many whole words there were.
  func readWords(at offset: UInt64, into words: inout [UInt64]) -> Int {
    guard let start = Int(exactly: offset), start < size else { return 0 }
    let limit = min(words.count * 8, size - start)
    if let raw = rawDescriptor {
      let count = unsafe words.withUnsafeMutableBytes { space in
        Syscalls.retrying { unsafe pread(raw, space.baseAddress, limit, start) }
      }
      return max(count, 0) / 8
    }
    for index in 0..<limit / 8 {
      words[index] = (0..<8).reduce(0) { $0 | UInt64(memory[start + index * 8 + $1]) << (8 * $1) }
    }
    return limit / 8
  }

  /// CRC-32 of the whole file, as .gnu_debuglink has it; nil if it could not be read whole.
  func checksum() -> UInt32? {
    var crc: UInt32 = 0
    var at = 0
    while at < size {
      let bytes = read(at: UInt64(at), count: 1 << 20)
      if bytes.isEmpty { return nil }
      crc = unsafe bytes.withUnsafeBufferPointer { space in
        unsafe space.baseAddress.map { unsafe cprobe_crc32(crc, $0, space.count) } ?? crc
      }
      at += bytes.count
    }
    return crc
  }

  /// Unpacks an .xz stream of at most `limit` bytes unpacked; nil if it is none, or longer.
  static func unpack(_ packed: [UInt8], limit: Int) -> [UInt8]? {
    // Most are small: first with little room, and only then with all.
    for capacity in [min(limit, 1 << 20), limit] {
      var buffer = [UInt8](repeating: 0, count: capacity)
      let count = unsafe buffer.withUnsafeMutableBufferPointer { out in
        unsafe packed.withUnsafeBufferPointer { bytes in
          guard let to = out.baseAddress, let from = bytes.baseAddress else {
            return -Int64(EINVAL)
          }
          return unsafe cprobe_unxz(from, bytes.count, to, out.count)
        }
      }
      if count >= 0 { return Array(buffer.prefix(Int(count))) }
      if count != -Int64(E2BIG) { return nil }
    }
    return nil
  }

  /// Unpacks a zlib stream to exactly `size` bytes; nil if it does not give them.
  static func inflate(_ packed: [UInt8], size: Int) -> [UInt8]? {
    guard size > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: size)
    let count = unsafe buffer.withUnsafeMutableBufferPointer { out in
      unsafe packed.withUnsafeBufferPointer { bytes in
        guard let to = out.baseAddress, let from = bytes.baseAddress else { return -Int64(EINVAL) }
        return unsafe cprobe_inflate(from, bytes.count, to, out.count)
      }
    }
    return count == Int64(size) ? buffer : nil
  }
}
