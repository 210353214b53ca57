// The machine that a summary comes from.
// Safety: uname and gethostname fill local values.

internal import CProbe
internal import Glibc

/// Facts about the machine.
public enum HostInfo {
  /// Name, kernel release, architecture (uname), online cores (sysconf), container or not.
  public static func current() -> Summary.Host {
    var value = utsname()
    let hasNames = unsafe uname(&value) == 0
    return Summary.Host(
      name: hasNames ? text(value.nodename) : "", kernel: hasNames ? text(value.release) : "",
      architecture: hasNames ? text(value.machine) : "",
      cores: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))), container: isContainer)
  }

  /// Whether the kernel's release (uname) is that one or a later one; false where it is none of Linux's.
  static func isKernel(atLeast major: Int, _ minor: Int) -> Bool {
    var value = utsname()
    guard unsafe uname(&value) == 0 else { return false }
    return isRelease(text(value.release), atLeast: major, minor)
  }

  static func isRelease(_ release: String, atLeast major: Int, _ minor: Int) -> Bool {
    let numbers = release.split(separator: ".").prefix(2).map { part in
      Int(part.prefix { $0.isASCII && $0.isNumber }) ?? -1
    }
    guard numbers.count == 2 else { return false }
    return (numbers[0], numbers[1]) >= (major, minor)
  }

  /// getpagesize.
  public static var pageSize: Int { sysconf(Int32(_SC_PAGESIZE)) }

  /// sysconf(_SC_CLK_TCK): the unit of the times in /proc/<pid>/stat.
  public static var clockTicksPerSecond: Int { sysconf(Int32(_SC_CLK_TCK)) }

  /// CPUs that the machine may have, off-line ones included (sysconf _SC_NPROCESSORS_CONF).
  static var configuredCPUs: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_CONF))) }

  /// Whether we see another pid namespace than the machine's first one, whose inode number is fixed in
  /// the kernel (PROC_PID_INIT_INO). A file such as /.dockerenv proves nothing and is not looked at.
  private static var isContainer: Bool {
    guard let link = try? Syscalls.readLink("/proc/self/ns/pid") else { return false }
    return SafeText.decode(link) != "pid:[4026531836]"
  }

  private static func text<T>(_ field: T) -> String {
    unsafe withUnsafeBytes(of: field) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

/// Our own limits and habits as a process.
public enum ResourceLimit {
  /// One heap for all our threads; call it before the first of them starts.
  public static func useOneHeap() { cprobe_use_one_heap() }

  /// RLIMIT_NOFILE as it was before; raises the soft limit to the hard one for perfwatch itself.
  public static func raiseFileLimit() -> (soft: UInt64, hard: UInt64) {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return (0, 0)
    }
    let before = (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return before
  }

  /// Address space that watching takes beyond what is there at the start, in bytes: stacks, heap, and the
  /// tables of one large program. Chosen; without a few of them memory ran out in the middle (measured: 12
  /// MiB for a run, 19 for a dump with names).
  static let roomNeeded: UInt64 = 32 << 20
  /// Least stack of the main thread, in bytes. Chosen.
  static let stackNeeded: UInt64 = 128 << 10

  /// Too little stack for the main thread, in words, with what to do; nil where there is enough.
  /// Source: getrlimit(2) of RLIMIT_STACK.
  public static var stackShortage: String? {
    guard let stack = softLimit(__rlimit_resource_t(RLIMIT_STACK.rawValue)), stack < stackNeeded
    else { return nil }
    return
      "its stack may only be \(stack >> 10) KiB; raise it to \(stackNeeded >> 10) with `ulimit -s`"
  }

  /// Too little address space for watching, the same. Source: getrlimit(2) of RLIMIT_AS; /proc/self/statm only
  /// where that is set.
  public static var spaceShortage: String? {
    guard let space = softLimit(__rlimit_resource_t(RLIMIT_AS.rawValue)) else { return nil }
    let used = ownAddressSpace
    guard used + roomNeeded > space else { return nil }
    return "its address space may only be \(space >> 20) MiB; raise it to at least "
      + "\((used + roomNeeded) >> 10) with `ulimit -v`"
  }

  /// nil for none.
  private static func softLimit(_ resource: __rlimit_resource_t) -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur != rlim_t.max else { return nil }
    return UInt64(limit.rlim_cur)
  }

  /// In bytes; 0 where it cannot be read.
  private static var ownAddressSpace: UInt64 {
    var bytes = [UInt8](repeating: 0, count: 32)
    guard let file = try? Syscalls.open("/proc/self/statm", flags: 0),
      let count = try? Syscalls.read(file.raw, into: &bytes)
    else { return 0 }  // then the limit alone is judged
    let pages = SafeText.decode(Array(bytes[..<count].prefix { $0 != 0x20 }))
    return (UInt64(pages) ?? 0) * UInt64(HostInfo.pageSize)
  }
}
