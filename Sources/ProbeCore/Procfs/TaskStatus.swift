// Memory, identity, signals and context switches of a process or thread, by name in one pass.

/// /proc/<pid>/status or /proc/<pid>/task/<tid>/status, readable for everybody.
///
/// Every field is nil where its line is missing: memory of a kernel thread or of a zombie leader,
/// lines that an older kernel does not write. Sizes are in bytes. The kernel escapes the name
/// (a newline becomes `\n`), so a hostile name cannot forge a line.
public struct TaskStatus: Sendable, Equatable {
  /// Tgid: the process this thread belongs to.
  public var process: ProcessID?
  /// First letter of State, as in `TaskStat.state`.
  public var state: UInt8?
  /// TracerPid; 0 when nobody traces it.
  public var tracer: ProcessID?
  /// Uid, first and second column.
  public var realUser: UInt32?
  public var effectiveUser: UInt32?

  /// VmHWM: peak resident size since exec, from the kernel's own book-keeping.
  public var residentPeak: UInt64?
  /// VmRSS, and its three parts RssAnon, RssFile, RssShmem. May lag by some pages per CPU.
  public var resident: UInt64?
  public var anonymous: UInt64?
  public var file: UInt64?
  public var shared: UInt64?
  /// VmSwap, VmPTE, HugetlbPages: not part of the resident size.
  public var swap: UInt64?
  public var pageTables: UInt64?
  public var huge: UInt64?

  public var threads: UInt64?
  /// SigBlk, SigIgn, SigCgt: bit n-1 stands for signal n.
  public var blockedSignals: UInt64?
  public var ignoredSignals: UInt64?
  public var caughtSignals: UInt64?
  /// CapEff: bit n stands for capability n.
  public var effectiveCapabilities: UInt64?
  public var noNewPrivileges: Bool?
  /// Seccomp: 0 off, 1 strict, 2 filter.
  public var seccomp: UInt64?
  /// voluntary_ctxt_switches and nonvoluntary_ctxt_switches: of this one thread.
  public var voluntarySwitches: UInt64?
  public var involuntarySwitches: UInt64?

  /// Reads the file's bytes; does not allocate unless it throws.
  ///
  /// - Throws: where a known line has no valid value, or the last line has no newline (cut).
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "status")
    while !scanner.isAtEnd(bytes) {
      let key = scanner.key(bytes)
      if !key.isEmpty { try take(key, bytes, &scanner) }
      try scanner.finishLine(bytes)
    }
  }

  /// RssAnon + RssShmem + VmSwap + VmPTE + HugetlbPages; nil where the process has no memory lines.
  public var footprint: UInt64? {
    guard let anonymous, let shared else { return nil }
    // Each part is below 2^60 (see ByteScanner.kilobytes), so the sum fits.
    return anonymous + shared + (swap ?? 0) + (pageTables ?? 0) + (huge ?? 0)
  }

  /// Where the thread's name stands, of a task's status that is whole; nil where the kernel had to escape
  /// some of it, and then comm tells.
  static func plainName(_ bytes: Span<UInt8>) -> Range<Int>? {
    var scanner = ByteScanner(file: "status")
    guard bytes.equals("Name", in: scanner.key(bytes)), scanner.peek(bytes) == .tab else {
      return nil
    }
    let start = scanner.position + 1
    for index in start..<bytes.count {
      if bytes[index] == .newline { return start..<index }
      if bytes[index] == UInt8(ascii: "\\") { return nil }
    }
    return nil
  }

  /// NSpid: the thread's numbers in the pid namespaces it is in, ours first; empty where not told.
  public static func namespaceIDs(_ bytes: Span<UInt8>) throws(ProcParseError) -> [Int32] {
    var scanner = ByteScanner(file: "status")
    while !scanner.isAtEnd(bytes) {
      let key = scanner.key(bytes)
      if bytes.equals("NSpid", in: key) {
        var result: [Int32] = []
        repeat {
          result.append(try scanner.int32(bytes, "NSpid"))
          scanner.skipBlanks(bytes)
        } while scanner.peek(bytes) != .newline
        return result
      }
      try scanner.finishLine(bytes)
    }
    return []
  }

  // The first letter decides which few names a key is compared with: about 60 lines, 20 wanted.
  private mutating func take(
    _ key: Range<Int>, _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) {
    switch bytes[key.lowerBound] {
    case UInt8(ascii: "V"), UInt8(ascii: "R"), UInt8(ascii: "H"):
      try takeMemory(key, bytes, &scanner)
    case UInt8(ascii: "S"): try takeS(key, bytes, &scanner)
    case UInt8(ascii: "T"):
      if bytes.equals("Tgid", in: key) {
        process = ProcessID(try scanner.int32(bytes, "Tgid"))
      } else if bytes.equals("TracerPid", in: key) {
        tracer = ProcessID(try scanner.int32(bytes, "TracerPid"))
      } else if bytes.equals("Threads", in: key) {
        threads = try scanner.unsigned(bytes, "Threads")
      }
    case UInt8(ascii: "U") where bytes.equals("Uid", in: key):
      realUser = try user(bytes, &scanner)
      effectiveUser = try user(bytes, &scanner)
    case UInt8(ascii: "C") where bytes.equals("CapEff", in: key):
      effectiveCapabilities = try scanner.hex(bytes, "CapEff")
    case UInt8(ascii: "N") where bytes.equals("NoNewPrivs", in: key):
      noNewPrivileges = try scanner.unsigned(bytes, "NoNewPrivs") != 0
    case UInt8(ascii: "v") where bytes.equals("voluntary_ctxt_switches", in: key):
      voluntarySwitches = try scanner.unsigned(bytes, "voluntary_ctxt_switches")
    case UInt8(ascii: "n") where bytes.equals("nonvoluntary_ctxt_switches", in: key):
      involuntarySwitches = try scanner.unsigned(bytes, "nonvoluntary_ctxt_switches")
    default: break
    }
  }

  private mutating func takeMemory(
    _ key: Range<Int>, _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) {
    if bytes.equals("VmHWM", in: key) {
      residentPeak = try scanner.kilobytes(bytes, "VmHWM")
    } else if bytes.equals("VmRSS", in: key) {
      resident = try scanner.kilobytes(bytes, "VmRSS")
    } else if bytes.equals("RssAnon", in: key) {
      anonymous = try scanner.kilobytes(bytes, "RssAnon")
    } else if bytes.equals("RssFile", in: key) {
      file = try scanner.kilobytes(bytes, "RssFile")
    } else if bytes.equals("RssShmem", in: key) {
      shared = try scanner.kilobytes(bytes, "RssShmem")
    } else if bytes.equals("VmSwap", in: key) {
      swap = try scanner.kilobytes(bytes, "VmSwap")
    } else if bytes.equals("VmPTE", in: key) {
      pageTables = try scanner.kilobytes(bytes, "VmPTE")
    } else if bytes.equals("HugetlbPages", in: key) {
      huge = try scanner.kilobytes(bytes, "HugetlbPages")
    }
  }

  private mutating func takeS(
    _ key: Range<Int>, _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) {
    if bytes.equals("State", in: key) {
      scanner.skipBlanks(bytes)
      guard let letter = scanner.peek(bytes), !letter.isSeparator else {
        throw scanner.failure(bytes, "State")
      }
      state = letter
    } else if bytes.equals("SigBlk", in: key) {
      blockedSignals = try scanner.hex(bytes, "SigBlk")
    } else if bytes.equals("SigIgn", in: key) {
      ignoredSignals = try scanner.hex(bytes, "SigIgn")
    } else if bytes.equals("SigCgt", in: key) {
      caughtSignals = try scanner.hex(bytes, "SigCgt")
    } else if bytes.equals("Seccomp", in: key) {
      seccomp = try scanner.unsigned(bytes, "Seccomp")
    }
  }

  private func user(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner
  ) throws(ProcParseError) -> UInt32 {
    guard let value = UInt32(exactly: try scanner.unsigned(bytes, "Uid")) else {
      throw scanner.failure(bytes, "Uid")
    }
    return value
  }
}
