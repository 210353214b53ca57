// What is known of the process as a whole: memory, CPU split, the program it runs.

/// Samples /proc/<pid>/status, stat and exe.
struct ProcessSampler: ~Copyable {
  private var status: FileDescriptor?
  private var stat: FileDescriptor?
  private var statm: FileDescriptor?
  /// What statm said when memory was last read.
  private var lastPages: [UInt8] = []
  private var lastReading: MemoryReading?
  private var executable: [UInt8] = []
  /// Set when the leader is gone and another thread's file is read instead.
  private var standIn: Int32?
  /// The last reason why memory could not be read.
  private(set) var memoryFailure: String?

  /// Samples nothing before `open`: of a target that is being launched its files are not worth waiting for.
  init() {}

  /// The program that it executes now is no news.
  init(_ source: borrowing ProcSource) throws(ReadingError) {
    try open(source)
    executable = (try? Syscalls.readLink(source.path("exe"))) ?? []
  }

  /// Opens the files; a zombie has them, too.
  mutating func open(_ source: borrowing ProcSource) throws(ReadingError) {
    stat = try source.open("stat")
    status = try? source.open("status")
    statm = try? source.open("statm")
  }

  /// Whether pages came or went since this was last asked, from statm, which costs the kernel a tenth of
  /// what status does (measured: 2 and 20 us). Page tables and swap are not in it, nor is a peak that has
  /// passed: those are seen when memory is read anyway, at the slower beat.
  private mutating func hasNewPages(_ source: inout ProcSource) -> Bool {
    // A leader that has ended has no memory to tell of.
    guard standIn == nil, let raw = statm?.raw, let count = try? source.read(raw) else {
      return true
    }
    let bytes = source.buffer.span.extracting(0..<count)
    if bytes.count == lastPages.count, lastPages.indices.allSatisfy({ bytes[$0] == lastPages[$0] })
    {
      return false
    }
    lastPages.removeAll(keepingCapacity: true)
    for index in bytes.indices { lastPages.append(bytes[index]) }
    return true
  }

  /// The footprint's parts now, from the status file's memory lines.
  ///
  /// A leader that has ended has no memory lines while its threads live on; they share its memory, so
  /// any of them can tell.
  ///
  /// - Parameter mayBeOld: the last reading will do if no page has come or gone since.
  mutating func memory(
    at time: Instant, anyThread: Int32?, mayBeOld: Bool = false, _ source: inout ProcSource
  ) -> MemoryReading? {
    if mayBeOld, !hasNewPages(&source), var same = lastReading {
      same.at = time
      return same
    }
    lastReading = readMemory(at: time, anyThread: anyThread, &source)
    return lastReading
  }

  private mutating func readMemory(
    at time: Instant, anyThread: Int32?, _ source: inout ProcSource
  ) -> MemoryReading? {
    if let reading = readMemory(at: time, &source) { return reading }
    guard let anyThread, anyThread != standIn ?? source.pid.rawValue else { return nil }
    standIn = anyThread
    status = try? source.open("task/\(anyThread)/status")
    return readMemory(at: time, &source)
  }

  private mutating func readMemory(at time: Instant, _ source: inout ProcSource) -> MemoryReading? {
    guard let raw = status?.raw else {
      memoryFailure = "\(source.path("status")) cannot be opened"
      return nil
    }
    guard let count = try? source.read(raw) else { return nil }
    do {
      let status = try TaskStatus(source.buffer.span.extracting(0..<count))
      return MemoryReading(status, at: time)
    } catch {
      memoryFailure = "\(error)"
      return nil
    }
  }

  /// CPU split and children's CPU, in clock ticks.
  mutating func times(_ source: inout ProcSource) -> ProcessTimes? {
    readStat(&source).map(ProcessTimes.init)
  }

  /// The stat line; also of a zombie until it is reaped.
  mutating func readStat(_ source: inout ProcSource) -> TaskStat? {
    guard let raw = stat?.raw, let count = try? source.read(raw) else { return nil }
    return try? TaskStat(source.buffer.span.extracting(0..<count))
  }

  /// The program's path if it is another one than at the last look.
  mutating func newExecutable(_ source: borrowing ProcSource) -> [UInt8]? {
    guard let link = try? Syscalls.readLink(source.path("exe")), link != executable else {
      return nil
    }
    executable = link
    return link
  }

  /// PSS from smaps_rollup. The kernel walks all page tables for it, about 8 ms a GiB (measured), and
  /// holds up the target's own mmap meanwhile: only on demand, once.
  func proportional(_ source: inout ProcSource) throws(ReadingError) -> UInt64 {
    let count = try source.readOnce("smaps_rollup")
    do {
      return try SmapsRollup(source.buffer.span.extracting(0..<count)).proportional
    } catch {
      throw .malformed(error)
    }
  }
}

extension MemoryReading {
  /// nil where the status has no memory lines (a zombie, a kernel thread).
  init?(_ status: TaskStatus, at time: Instant) {
    guard let anonymous = status.anonymous, let shared = status.shared else { return nil }
    self.init(
      at: time, anonymous: anonymous, shared: shared, swap: status.swap ?? 0,
      pageTables: status.pageTables ?? 0, huge: status.huge ?? 0,
      residentPeak: status.residentPeak ?? status.resident ?? 0)
  }
}

extension ProcessTimes {
  init(_ stat: TaskStat) {
    self.init(
      user: stat.userTicks, system: stat.systemTicks,
      childUser: UInt64(max(0, stat.childUserTicks)),
      childSystem: UInt64(max(0, stat.childSystemTicks)), childFaults: stat.childMinorFaults)
  }
}
