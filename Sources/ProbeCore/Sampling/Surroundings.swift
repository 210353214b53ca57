// Counters of the machine, of the whole target and of its control group, read twice a stall: what went
// on around the stalled thread. Nothing is read before a turn is half as long as a stall.

/// The counters at one moment.
struct SurroundingsSample: Sendable, Equatable {
  var at: Instant
  var processCPU: Nanoseconds
  var threadCPU: Nanoseconds
  /// Ticks in which a CPU computed, and those that the hypervisor took; nil where they cannot be read.
  var busyTicks: UInt64?
  var stolenTicks: UInt64?
  /// Of the control group that was held back most; nil without a quota.
  var throttled: Nanoseconds?
  /// In which threads waited for memory: any of the machine, and any of the target's control group; nil
  /// without PSI.
  var memoryShortage: Nanoseconds?
  var groupMemoryShortage: Nanoseconds?
  /// 0 to 1: how much of the machine's memory the target holds.
  var memoryShare: Double?
}

/// Reads them for one target.
struct SurroundingsReader {
  /// Where the control groups of CPUs are mounted; looked for once, when it is first needed.
  private var mounts: (version1: String?, version2: String?)?

  init() {}

  init(version1: String?, version2: String?) { mounts = (version1, version2) }

  /// - Parameter thread: the thread's CPU, as the last probe saw it.
  mutating func sample(
    _ source: inout ProcSource, thread: Nanoseconds
  ) -> SurroundingsSample {
    var sample = SurroundingsSample(
      at: Clock.now(), processCPU: Clock.processCPU(source.pid) ?? thread, threadCPU: thread)
    if let bytes = try? InputFile.head(of: source.root + "/stat", limit: 512),
      let stat = try? SystemStat(bytes.span)
    {
      sample.busyTicks = [
        stat.userTicks, stat.niceTicks, stat.systemTicks, stat.interruptTicks,
        stat.softInterruptTicks,
      ].reduce(0) { $0.saturatedAdding($1) }
      sample.stolenTicks = stat.stealTicks
    }
    sample.memoryShortage = Self.shortage(source.root + "/pressure/memory")
    readGroups(&source, into: &sample)
    sample.memoryShare = Self.memoryShare(&source)
    return sample
  }

  private static func shortage(_ path: String) -> Nanoseconds? {
    guard let bytes = try? InputFile.head(of: path, limit: 512) else { return nil }
    return (try? Pressure(bytes.span))?.some
  }

  /// Sources: statm and /proc/meminfo.
  private static func memoryShare(_ source: inout ProcSource) -> Double? {
    guard let bytes = try? InputFile.head(of: source.root + "/meminfo", limit: 256),
      let total = MemoryTotal.parse(bytes.span), total > 0,
      let count = try? source.readOnce("statm"),
      let memory = try? StatM(source.buffer.span.extracting(0..<count))
    else { return nil }
    let resident = Double(memory.residentPages) * Double(HostInfo.pageSize)
    return min(1, resident / Double(total))
  }

  /// The quota of a group above holds back as well, so each level is asked; of memory the innermost level
  /// that tells. Sources: /proc/<pid>/cgroup, cpu.stat and memory.pressure of the groups.
  private mutating func readGroups(
    _ source: inout ProcSource, into sample: inout SurroundingsSample
  ) {
    let mounts =
      mounts
      ?? (
        MountTable.place(type: "cgroup", option: "cpu"), MountTable.place(type: "cgroup2")
      )
    self.mounts = mounts
    guard mounts.version1 != nil || mounts.version2 != nil,
      let count = try? source.readOnce("cgroup"),
      let groups = try? CGroupPath.parse(source.buffer.span.extracting(0..<count))
    else { return }
    for group in groups {
      let isFirst = group.controllers.contains { $0.elementsEqual("cpu".utf8) }
      guard let mount = group.isVersion2 ? mounts.version2 : isFirst ? mounts.version1 : nil else {
        continue
      }
      for path in Self.levels(SafeText.decode(group.path)) {
        if let bytes = try? InputFile.head(of: mount + path + "/cpu.stat", limit: 4096),
          let time = (try? CPUStat(bytes.span))?.throttledTime
        {
          sample.throttled = max(sample.throttled ?? .zero, time)
        }
        // The root's is the machine's.
        if group.isVersion2, sample.groupMemoryShortage == nil, !path.isEmpty {
          sample.groupMemoryShortage = Self.shortage(mount + path + "/memory.pressure")
        }
      }
    }
  }

  /// `/a/b`, `/a` and the empty one; at most eight.
  static func levels(_ path: String) -> [String] {
    var rest = path.split(separator: "/")
    var result: [String] = []
    while !rest.isEmpty, result.count < 7 {
      result.append("/" + rest.joined(separator: "/"))
      rest.removeLast()
    }
    return result + [""]
  }
}

/// The first of two samples, while a turn goes on.
struct SurroundingsWatch {
  /// Turns that come near a stall and are none may not cost more than this often. Chosen.
  static let pause = Nanoseconds.seconds(1)

  private var reader = SurroundingsReader()
  private var first: SurroundingsSample?
  private var turn: Instant?
  private var lastAt: Instant?

  /// A turn that goes on, half as long as a stall or longer; nil where there is none.
  mutating func saw(_ start: Instant?, _ source: inout ProcSource, thread: Nanoseconds) {
    guard let start else { return }
    if turn == start { return }
    let now = Clock.now()
    if let lastAt, now - lastAt < Self.pause { return }
    turn = start
    lastAt = now
    first = reader.sample(&source, thread: thread)
  }

  /// The differences for a stall that has ended; nil where it was not watched.
  mutating func finish(
    _ stall: StallReading, _ source: inout ProcSource, thread: Nanoseconds, tick: Nanoseconds
  ) -> StallSurroundings? {
    guard let result = soFar(stall, &source, thread: thread, tick: tick) else { return nil }
    first = nil
    turn = nil
    // The next stall may be right behind.
    lastAt = nil
    return result
  }

  /// The same for one that goes on.
  mutating func soFar(
    _ stall: StallReading, _ source: inout ProcSource, thread: Nanoseconds, tick: Nanoseconds
  ) -> StallSurroundings? {
    guard let first, first.at >= stall.start, first.at <= stall.start + stall.duration else {
      return nil
    }
    let last = reader.sample(&source, thread: thread)
    return Self.difference(first, last, stall: stall.id, tick: tick)
  }

  static func difference(
    _ first: SurroundingsSample, _ last: SurroundingsSample, stall: Int, tick: Nanoseconds
  ) -> StallSurroundings {
    var result = StallSurroundings(
      stall: stall, length: max(.zero, last.at - first.at),
      processCPU: max(.zero, last.processCPU - first.processCPU),
      threadCPU: max(.zero, last.threadCPU - first.threadCPU))
    func time(_ before: UInt64?, _ after: UInt64?) -> Nanoseconds? {
      guard let before, let after else { return nil }
      let ticks = Int64(clamping: after - min(before, after))
      return Nanoseconds(ticks.saturatedMultiplying(by: tick.rawValue))
    }
    result.machineCPU = time(first.busyTicks, last.busyTicks)
    result.stolen = time(first.stolenTicks, last.stolenTicks)
    if let before = first.throttled, let after = last.throttled {
      // Summed over the run queues of the group, so it can be more than the time that has passed.
      result.throttled = min(result.length, max(.zero, after - before))
    }
    func shortage(_ path: KeyPath<SurroundingsSample, Nanoseconds?>) -> Nanoseconds? {
      guard let before = first[keyPath: path], let after = last[keyPath: path] else { return nil }
      return min(result.length, max(.zero, after - before))
    }
    result.memoryShortage = shortage(\.memoryShortage)
    result.groupMemoryShortage = shortage(\.groupMemoryShortage)
    result.memoryShare = last.memoryShare
    return result
  }
}
