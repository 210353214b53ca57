// Finds the target's descendants and reads each of them.
// With task records from the kernel no fork is missed; without, /proc is listed and parents are followed.

/// Samples a process and everything it forked.
struct TreeSampler: ~Copyable {
  private struct Member {
    let stat: Int32
    let status: Int32
    var cpu = Nanoseconds(-1)
    var isSeen = false
  }

  private let root: ProcessID
  private var members: [ProcessID: Member] = [:]
  /// Processes outside the tree, so that each is asked for its parent only once.
  private var strangers: Set<ProcessID> = []
  private var records: TaskRecords?
  private var processes: NumberedDirectory?
  private var listed: [Int32] = []
  private let tickLength: Int64
  /// What the hypervisor had taken at the first look.
  private var stolenBefore: UInt64?
  /// Why the kernel does not report forks; nil when it does.
  let pollingReason: String?

  /// - Parameter isLaunched: the target is still held, so that its records begin with its first fork.
  init(_ source: borrowing ProcSource, isLaunched: Bool) {
    root = source.pid
    tickLength = 1_000_000_000 / Int64(max(1, HostInfo.clockTicksPerSecond))
    if isLaunched && source.isLive {
      do {
        records = try TaskRecords(source.pid, cpus: HostInfo.configuredCPUs)
        pollingReason = nil
      } catch {
        records = nil
        pollingReason = "perf_event_open: \(error.reason)"
      }
    } else {
      records = nil
      pollingReason = "the target was already running"
    }
    processes = try? NumberedDirectory(source.root)
  }

  deinit {
    for member in members.values { Self.close(member) }
  }

  /// One look at the whole tree. Members that are gone are reported before anything is read of the
  /// others, so that a parent's waited-for time is never newer than the news of its child's end.
  ///
  /// - Parameter isSlow: also what the hypervisor took is read: on a large machine the kernel takes a
  ///   millisecond for that file.
  /// - Returns: how many events were written.
  mutating func round(
    at time: Instant, isFirst: Bool, isSlow: Bool, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    if isFirst { frames += add(root, parent: nil, at: time, isFirst: true, &source, into: &out) }
    if records != nil {
      frames += takeRecords(at: time, &source, into: &out)
      if isFirst { return frames }
    } else {
      frames += discover(at: time, isFirst: isFirst, &source, into: &out)
    }
    for pid in members.keys.sorted() where isGone(pid, &source) {
      frames += remove(pid, at: time, into: &out)
    }
    for pid in members.keys.sorted() { frames += read(pid, at: time, &source, into: &out) }
    let stolen = isSlow || stolenBefore == nil ? stolen(&source) : nil
    EventCodec.encode(.treeRound(at: time, cpu: records?.cpu(), stolen: stolen), into: &out)
    return frames + 1
  }

  /// Time that the hypervisor took from all CPUs since the first look (`steal` of /proc/stat).
  private mutating func stolen(_ source: inout ProcSource) -> Nanoseconds? {
    guard let file = try? Syscalls.open("\(source.root)/stat", flags: 0),
      let count = try? source.read(file.raw),
      let ticks = try? SystemStat(source.buffer.span.extracting(0..<count)).stealTicks
    else { return nil }
    let before = stolenBefore ?? ticks
    stolenBefore = before
    // Both are rounded down, so what lies between may be a tick more.
    guard ticks > before else { return .zero }
    return Nanoseconds(Int64(clamping: ticks - before + 1).saturatedMultiplying(by: tickLength))
  }

  // MARK: Who belongs to the tree

  private mutating func takeRecords(
    at time: Instant, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    guard let news = records?.take() else { return 0 }
    var names: [ProcessID: [UInt8]] = [:]
    for case .named(let pid, let name) in news { names[pid] = name }
    for case .forked(let pid, let parent, let at) in news where members[pid] == nil {
      let added = add(pid, parent: parent, at: at, isFirst: false, &source, into: &out)
      frames += added
      guard added == 0 else { continue }
      // It is gone already: it counts, with the name that it had.
      let seen = MemberSeen(
        pid: pid, parent: parent, name: names[pid] ?? Array("?".utf8), at: at, cpuBefore: .zero)
      EventCodec.encode(.member(seen), into: &out)
      EventCodec.encode(.memberEnded(pid, at: time), into: &out)
      frames += 2
    }
    for case .lost(let count) in news {
      EventCodec.encode(
        .notice(.childrenPolled, detail: "\(count) fork records were lost"), into: &out)
      frames += 1
    }
    return frames
  }

  private mutating func discover(
    at time: Instant, isFirst: Bool, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    guard (try? processes?.list(into: &listed)) != nil else { return 0 }
    let present = Set(listed.lazy.map { ProcessID($0) })
    strangers.formIntersection(present)
    var candidates: [(pid: ProcessID, parent: ProcessID)] = []
    for number in listed.sorted() {
      let pid = ProcessID(number)
      guard members[pid] == nil, !strangers.contains(pid) else { continue }
      guard let stat = statOnce(pid, &source) else { continue }
      candidates.append((pid, stat.parent))
    }
    var frames = 0
    // A chain of forks may be found in any order: go on until nothing more belongs to the tree.
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      candidates.removeAll { candidate in
        guard members[candidate.parent] != nil else { return false }
        frames += add(
          candidate.pid, parent: candidate.parent, at: time, isFirst: isFirst, &source, into: &out)
        isGrowing = true
        return true
      }
    }
    for candidate in candidates { strangers.insert(candidate.pid) }
    return frames
  }

  private mutating func add(
    _ pid: ProcessID, parent: ProcessID?, at time: Instant, isFirst: Bool,
    _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    let path = "\(source.root)/\(pid)/"
    guard let stat = try? Syscalls.open(path + "stat", flags: 0),
      let status = try? Syscalls.open(path + "status", flags: 0),
      let count = try? source.read(stat.raw),
      let reading = try? TaskStat(source.buffer.span.extracting(0..<count))
    else { return 0 }
    let clock = source.isLive ? Clock.processCPU(pid) : nil
    let before =
      isFirst ? (clock ?? ownCPU(reading)) + (records == nil ? childCPU(reading) : .zero) : .zero
    let seen = MemberSeen(
      pid: pid, parent: parent ?? reading.parent,
      name: reading.comm(in: source.buffer.span.extracting(0..<count)), at: time, cpuBefore: before)
    EventCodec.encode(.member(seen), into: &out)
    members[pid] = Member(stat: stat.release(), status: status.release())
    return 1
  }

  private mutating func remove(
    _ pid: ProcessID, at time: Instant, into out: inout ByteWriter
  ) -> Int {
    guard let member = members.removeValue(forKey: pid) else { return 0 }
    Self.close(member)
    EventCodec.encode(.memberEnded(pid, at: time), into: &out)
    return 1
  }

  private static func close(_ member: Member) {
    _ = FileDescriptor(owning: member.stat)
    _ = FileDescriptor(owning: member.status)
  }

  // MARK: What a member has used

  private func isGone(_ pid: ProcessID, _ source: inout ProcSource) -> Bool {
    guard let member = members[pid] else { return true }
    // A process that did not run cannot have ended.
    if source.isLive, let clock = Clock.processCPU(pid), clock == member.cpu { return false }
    // ESRCH; of a tree that is no live one, a file with nothing in it.
    return ((try? source.read(member.stat)) ?? 0) == 0
  }

  private mutating func read(
    _ pid: ProcessID, at time: Instant, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    guard let member = members[pid] else { return 0 }
    let clock = source.isLive ? Clock.processCPU(pid) : nil
    if let clock, clock == member.cpu { return 0 }
    guard let count = try? source.read(member.stat),
      let stat = try? TaskStat(source.buffer.span.extracting(0..<count))
    else { return 0 }
    let name = stat.comm(in: source.buffer.span.extracting(0..<count))
    let cpu = clock ?? ownCPU(stat)
    var memory: MemoryReading?
    if let length = try? source.read(member.status),
      let status = try? TaskStatus(source.buffer.span.extracting(0..<length))
    {
      memory = MemoryReading(status, at: time)
    }
    let reading = MemberReading(
      pid: pid, parent: stat.parent, name: name, at: time, cpu: cpu, childCPU: childCPU(stat),
      minorFaults: stat.minorFaults, memory: memory)
    EventCodec.encode(.memberReading(reading), into: &out)
    members[pid]?.cpu = clock ?? Nanoseconds(-1)
    return 1
  }

  private func statOnce(_ pid: ProcessID, _ source: inout ProcSource) -> TaskStat? {
    guard let file = try? Syscalls.open("\(source.root)/\(pid)/stat", flags: 0),
      let count = try? source.read(file.raw)
    else { return nil }
    return try? TaskStat(source.buffer.span.extracting(0..<count))
  }

  private func ownCPU(_ stat: TaskStat) -> Nanoseconds {
    ticks(Int64(clamping: stat.userTicks), Int64(clamping: stat.systemTicks))
  }

  private func childCPU(_ stat: TaskStat) -> Nanoseconds {
    ticks(stat.childUserTicks, stat.childSystemTicks)
  }

  private func ticks(_ user: Int64, _ system: Int64) -> Nanoseconds {
    Nanoseconds((user &+ system) &* tickLength)
  }
}
