// Looks at a file that execve refused and says what is wrong with it.
// The kernel answers ENOENT for a missing interpreter and EACCES for five different things.
// Safety: buffers passed to the kernel live in this frame and their sizes are passed with them.

internal import Glibc

enum LaunchDiagnosis {
  /// Explains `code`, which execve gave for `path`.
  static func explain(path: [UInt8], code: Int32) -> LaunchError {
    let isAbsence = code == ENOENT || code == ENOTDIR
    var kind: LaunchError.Kind = isAbsence ? .notFound : .notRunnable
    var cause = LaunchError.Cause.other(doing: nil)
    if isAbsence || code == EACCES {
      switch status(path) {
      case nil where isAbsence: cause = .missing
      case nil: cause = .noExecutePermission
      case .some(let mode) where mode & S_IFMT == S_IFDIR: cause = .directory
      case .some(let mode) where mode & S_IFMT != S_IFREG: cause = .notAFile
      case .some where code == EACCES && !isExecutable(path):
        cause = isMountedWithoutExecute(path) ? .mountedWithoutExecute : .noExecutePermission
      case .some:
        if let (name, isMissing) = brokenInterpreter(path, depth: 0) {
          cause = .interpreter(SafeText.decode(name), isMissing: isMissing)
        } else {
          cause = .other(doing: isAbsence ? "find what should run it" : nil)
        }
      }
      // Found all the same, only that what must run it is no program: 126 as for the file itself.
      if case .interpreter(_, isMissing: false) = cause { kind = .notRunnable }
    } else if code == ENOEXEC {
      cause = .wrongFormat
    }
    return LaunchError(kind: kind, cause: cause, path: SafeText.decode(path), code: code)
  }

  /// Whether there is anything under this path.
  static func exists(_ path: [UInt8]) -> Bool { status(path) != nil }

  private static func status(_ path: [UInt8]) -> mode_t? {
    var info = stat()
    return unsafe stat(terminated(path), &info) == 0 ? info.st_mode : nil
  }

  /// For the effective user, as execve decides.
  private static func isExecutable(_ path: [UInt8]) -> Bool {
    unsafe faccessat(AT_FDCWD, terminated(path), X_OK, AT_EACCESS) == 0
  }

  private static func isMountedWithoutExecute(_ path: [UInt8]) -> Bool {
    var info = statvfs()
    return unsafe statvfs(terminated(path), &info) == 0 && info.f_flag & UInt(8) != 0  // ST_NOEXEC
      && (status(path) ?? 0) & 0o111 != 0
  }

  /// The first interpreter on the way from `path` that is missing or not executable.
  private static func brokenInterpreter(
    _ path: [UInt8], depth: Int
  ) -> (name: [UInt8], isMissing: Bool)? {
    // The kernel follows four scripts and then says ELOOP.
    guard depth < 5, let name = InterpreterName.read(from: head(of: path)), !name.isEmpty
    else { return nil }
    guard let mode = status(name) else { return (name, true) }
    guard mode & S_IFMT == S_IFREG, isExecutable(name) else { return (name, false) }
    return brokenInterpreter(name, depth: depth + 1)
  }

  /// The first 4096 bytes of a regular file; empty where it cannot be read.
  private static func head(of path: [UInt8]) -> [UInt8] {
    let file = unsafe open(terminated(path), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var info = stat()
    guard unsafe fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = unsafe max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
  }

  private static func terminated(_ path: [UInt8]) -> [CChar] {
    path.map { CChar(bitPattern: $0) } + [0]
  }
}

/// Finds in a file's first bytes the program that the kernel runs it with.
enum InterpreterName {
  /// The name on the `#!` line or in an ELF file's PT_INTERP; nil where there is none.
  ///
  /// Source: fs/binfmt_script.c and elf(5). Survives any bytes.
  static func read(from head: [UInt8]) -> [UInt8]? {
    if head.starts(with: [0x23, 0x21]) { return script(head) }
    if head.starts(with: [0x7f, 0x45, 0x4c, 0x46]) { return elf(head) }
    return nil
  }

  private static func script(_ head: [UInt8]) -> [UInt8]? {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    // The kernel looks at 256 bytes.
    let line = head.prefix(256).dropFirst(2).prefix { $0 != 0x0a && $0 != 0 }
    let name = line.drop(while: isBlank).prefix { !isBlank($0) }
    return name.isEmpty ? nil : Array(name)
  }

  private static func elf(_ head: [UInt8]) -> [UInt8]? {
    guard head.count >= 64, head[5] == 1 else { return nil }  // little-endian
    let isWide = head[4] == 2
    func number(at offset: Int, bytes: Int) -> Int? {
      guard offset >= 0, offset <= head.count - bytes else { return nil }
      return Int(
        exactly: (0..<bytes).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(head[offset + $1]) })
    }
    guard let table = number(at: isWide ? 32 : 28, bytes: isWide ? 8 : 4),
      let entrySize = number(at: isWide ? 54 : 42, bytes: 2),
      let count = number(at: isWide ? 56 : 44, bytes: 2), table < head.count, entrySize >= 32
    else { return nil }
    for index in 0..<min(count, 256) {
      let entry = table + index * entrySize
      guard let type = number(at: entry, bytes: 4) else { return nil }
      guard type == 3 else { continue }  // PT_INTERP
      guard let offset = number(at: entry + (isWide ? 8 : 4), bytes: isWide ? 8 : 4),
        let size = number(at: entry + (isWide ? 32 : 16), bytes: isWide ? 8 : 4),
        offset < head.count
      else { return nil }
      let name = head[offset...].prefix(min(size, head.count)).prefix { $0 != 0 }
      return name.isEmpty ? nil : Array(name)
    }
    return nil
  }
}
