// What is known of the process as a whole: memory, CPU split, the program it runs.

/// Samples /proc/<pid>/status, stat and exe.
struct ProcessSampler: ~Copyable {
  private var status: FileDescriptor?
  private var stat: FileDescriptor?
  private var statm: FileDescriptor?
  /// What statm said when memory was last read.
  private var lastPages: [UInt8] = []
  private(set) var lastReading: MemoryReading?
  /// It was tried, at least.
  private(set) var hasReadMemory = false
  private var executable: [UInt8] = []
  /// What stat said of the program when `executable` was read last.
  private var image = ProgramImage()
  private var hasNewImage = true
  /// The main thread's name and switches at the last slow beat; nil when it has ended.
  private(set) var leader: LeaderDetail?
  /// Set when the leader is gone and another thread's file is read instead.
  private var standIn: Int32?
  /// Opened when it is first used.
  var descriptors = DescriptorSampler()
  /// The last reason why memory could not be read.
  private(set) var memoryFailure: String?
  /// That reason is a lack of file descriptors.
  private(set) var lacksDescriptors = false

  /// Samples nothing before `open`: of a target that is being launched its files are not worth waiting for.
  init() {}

  /// The program that it executes now is no news.
  init(_ source: borrowing ProcSource) throws(ReadingError) {
    try open(source)
    executable = (try? Syscalls.readLink(source.path("exe"))) ?? []
  }

  /// Opens the files; a zombie has them, too.
  mutating func open(_ source: borrowing ProcSource) throws(ReadingError) {
    // First what tells why memory could not be read.
    openStatus(source, "status")
    stat = try source.open("stat")
    statm = try? source.open("statm")
  }

  private mutating func openStatus(_ source: borrowing ProcSource, _ name: String) {
    status = nil
    do throws(ReadingError) {
      status = try source.open(name)
    } catch {
      guard let cause = error.cause else { return }
      lacksDescriptors = cause.isOutOfDescriptors
      memoryFailure = "\(source.path(name)) cannot be opened: " + cause.shortReason
    }
  }

  /// Whether pages came or went since this was last asked, from statm, which costs a third of what
  /// status does (measured: 2.4 and 7.7 us at best, 6 and 15 at ten reads a second). Page tables and swap
  /// are not in it, nor is a peak that has passed: those are seen when memory is read anyway, at the
  /// slower beat.
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

  /// statm, kept open; -1 where it tells nothing: the leader has ended.
  var pagesFile: Int32 {
    mutating get {
      guard standIn == nil, let raw = statm?.raw else { return -1 }
      return raw
    }
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
    hasReadMemory = true
    lastReading = readMemory(at: time, anyThread: anyThread, &source)
    return lastReading
  }

  private mutating func readMemory(
    at time: Instant, anyThread: Int32?, _ source: inout ProcSource
  ) -> MemoryReading? {
    if let reading = readMemory(at: time, &source) { return reading }
    guard let anyThread, anyThread != standIn ?? source.pid.rawValue else { return nil }
    standIn = anyThread
    openStatus(source, "task/\(anyThread)/status")
    return readMemory(at: time, &source)
  }

  private mutating func readMemory(at time: Instant, _ source: inout ProcSource) -> MemoryReading? {
    guard let raw = status?.raw else {
      memoryFailure = memoryFailure ?? "\(source.path("status")) cannot be opened"
      return nil
    }
    guard let count = try? source.read(raw) else { return nil }
    do {
      let status = try TaskStatus(source.buffer.span.extracting(0..<count))
      leader?.voluntarySwitches = status.voluntarySwitches
      leader?.involuntarySwitches = status.involuntarySwitches
      return MemoryReading(status, at: time)
    } catch {
      memoryFailure = "\(error)"
      return nil
    }
  }

  /// CPU split and children's CPU, in clock ticks; and whether the program may be another one now.
  mutating func times(_ source: inout ProcSource) -> ProcessTimes? {
    guard let stat = readStat(&source) else { return nil }
    let bytes = source.buffer.span
    let name = stat.comm(in: bytes)
    hasNewImage = hasNewImage || !image.isSame(stat, name)
    image = ProgramImage(code: stat.startCode, stack: stat.startStack, name: name)
    leader = stat.isZombie || standIn != nil ? nil : leader ?? LeaderDetail()
    leader?.name = name
    return ProcessTimes(stat)
  }

  /// The stat line; also of a zombie until it is reaped.
  mutating func readStat(_ source: inout ProcSource) -> TaskStat? {
    guard let raw = stat?.raw, let count = try? source.read(raw) else { return nil }
    return try? TaskStat(source.buffer.span.extracting(0..<count))
  }

  /// The program's path if it is another one than at the last look, read only if `times` said so.
  mutating func newExecutableIfLikely(_ source: borrowing ProcSource) -> [UInt8]? {
    guard hasNewImage else { return nil }
    hasNewImage = false
    return newExecutable(source)
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

/// What tells programs apart at the price of the stat line alone.
private struct ProgramImage {
  var code: UInt64 = 0
  var stack: UInt64 = 0
  var name: [UInt8] = []

  /// Never where we may not see addresses.
  func isSame(_ stat: TaskStat, _ name: [UInt8]) -> Bool {
    stat.startStack > 1 && stat.startStack == stack && stat.startCode == code && name == self.name
  }
}

/// What the process's own files tell of its main thread.
struct LeaderDetail {
  var name: [UInt8] = []
  var voluntarySwitches: UInt64?
  var involuntarySwitches: UInt64?
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
