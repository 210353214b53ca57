// CPU and memory of the target with all its descendants, each nanosecond and each page once.

/// Folds what is read of the members of a process tree.
///
/// A process that was waited for has handed its CPU to its parent (cutime), one that lives has it in
/// its own clock. So the tree's CPU is: own clock and waited-for CPU of all living members, plus what
/// vanished with members that nobody of the tree waited for.
struct TreeAccount: Sendable, Equatable {
  struct Member: Sendable, Equatable {
    var pid: ProcessID
    var parent: ProcessID
    var name: String
    var cpuBefore: Nanoseconds
    var cpu = Nanoseconds.zero
    var childCPU = Nanoseconds.zero
    var memory: MemoryReading?
    /// What it shared with its parent when it was first seen, if it had not executed a program yet.
    var inherited: MemoryReading?
    var minorFaults: UInt64 = 0
    var footprintPeak: UInt64?
    var startedAt: Instant
    var endedAt: Instant?

    var used: Nanoseconds { cpu + childCPU - cpuBefore }
    /// The part of `cpuBefore` that its children had used; known at the first reading.
    var childBefore: Nanoseconds?
  }

  /// Members listed one by one in the summary; the rest is in the totals. Chosen.
  static let listed = 200

  private(set) var members: [ProcessID: Member] = [:]
  private var ended: [Member] = []
  private(set) var seen = 0
  private(set) var processesPeak = 0
  private(set) var footprintPeak: UInt64?
  /// CPU of members that vanished without being waited for inside the tree.
  private var lost = Nanoseconds.zero
  /// CPU that vanished members had, whose parent's waited-for time is still to show it.
  private var awaited: [ProcessID: Nanoseconds] = [:]
  /// Waited-for time that grew before we noticed that the child is gone (or of children never seen).
  private var ahead: [ProcessID: Nanoseconds] = [:]
  /// Members that ended in this round, and their parents: within one round a family may end as a whole,
  /// each handing on what it waited for.
  private var heirs: [ProcessID: ProcessID] = [:]
  /// The kernel's counter of the whole tree: it misses nobody, and counts stolen time as CPU.
  private var counted: Nanoseconds?
  private var stolen = Nanoseconds.zero
  private var pageSize: UInt64

  init(pageSize: Int) { self.pageSize = UInt64(clamping: pageSize) }

  mutating func see(_ member: MemberSeen) {
    if members[member.pid] != nil { end(member.pid, at: member.at) }
    seen += 1
    members[member.pid] = Member(
      pid: member.pid, parent: member.parent, name: SafeText.decode(member.name),
      cpuBefore: member.cpuBefore, startedAt: member.at)
    processesPeak = max(processesPeak, members.count)
  }

  mutating func read(_ reading: MemberReading) {
    guard var member = members.removeValue(forKey: reading.pid) else { return }
    settle(&member, childCPU: reading.childCPU)
    if member.childBefore == nil {
      member.childBefore = max(.zero, min(member.cpuBefore, reading.childCPU))
    }
    member.parent = reading.parent
    member.name = SafeText.decode(reading.name)
    member.cpu = max(member.cpu, reading.cpu)
    member.childCPU = max(member.childCPU, reading.childCPU)
    member.minorFaults = reading.minorFaults
    if let memory = reading.memory {
      if member.memory == nil, let parent = members[member.parent]?.memory {
        member.inherited = parent
      }
      member.memory = memory
      member.footprintPeak = max(member.footprintPeak ?? 0, memory.footprint)
    }
    members[reading.pid] = member
  }

  /// Called once a round of readings is complete.
  mutating func roundEnded() {
    let sum = members.values.reduce(sharedOnce) { $0.saturatedAdding(unique($1)) }
    footprintPeak = max(footprintPeak ?? 0, sum)
    for pid in heirs.keys where members[pid] == nil {
      awaited[pid] = nil
      ahead[pid] = nil
    }
    heirs.removeAll()
  }

  mutating func end(_ pid: ProcessID, at time: Instant) {
    guard var member = members.removeValue(forKey: pid) else { return }
    member.endedAt = time
    handOn(max(.zero, member.used) + (awaited.removeValue(forKey: pid) ?? .zero), to: member.parent)
    heirs[pid] = member.parent
    ended.append(member)
    if ended.count > 2 * Self.listed {
      ended.sort { $0.used > $1.used }
      ended.removeLast(ended.count - Self.listed)
    }
  }

  /// CPU that vanished with a member. Its parent may wait for it: then it shows up there. If it never
  /// does, it was dropped by a parent that ignores SIGCHLD, and stays awaited (see `settle` and `cpu`).
  /// A parent that ended in the same round has passed it on to whoever waited for the parent.
  private mutating func handOn(_ cpu: Nanoseconds, to parent: ProcessID) {
    var rest = cpu
    var place = parent
    // A forged recording could name a circle of parents.
    for _ in 0..<64 {
      let known = min(ahead[place] ?? .zero, rest)
      if known > .zero { ahead[place, default: .zero] -= known }
      rest -= max(.zero, known)
      if members[place] != nil {
        awaited[place, default: .zero] += rest
        return
      }
      guard let next = heirs[place] else { break }
      place = next
    }
    lost += rest
  }

  mutating func learn(counted cpu: Nanoseconds) { counted = max(counted ?? .zero, cpu) }

  /// - Parameter time: taken from all CPUs of the machine since watching began.
  mutating func learn(stolen time: Nanoseconds) { stolen = max(stolen, time) }

  /// CPU of the whole tree since watching began.
  ///
  /// The counter is perf's task clock, which runs on while a hypervisor gives the CPU to others; the
  /// clocks of the members stand still then (CONFIG_PARAVIRT_TIME_ACCOUNTING; measured on Linux 6.18, 240
  /// times 1 s burnt: it had 0.9 ms too little on average where nothing was stolen from two CPUs, 2 ms too
  /// much and up to 10 where 30 to 60 ms were).
  /// Some of that may have been the tree's: it has used no less than the counter without all of it, and
  /// no less than was read of its members.
  var cpu: Nanoseconds {
    let living = members.values.reduce(Nanoseconds.zero) { $0 + $1.used }
    let read = living + lost + awaited.values.reduce(.zero) { $0 + $1 }
    guard let counted else { return read }
    return min(counted, max(read, counted - stolen))
  }

  /// What a parent's waited-for time grew by is no longer awaited.
  private mutating func settle(_ member: inout Member, childCPU: Nanoseconds) {
    let grown = max(.zero, childCPU - member.childCPU)
    guard grown > .zero else { return }
    let rest = (awaited[member.pid] ?? .zero) - grown
    // Waited-for time is printed in clock ticks of 10 ms, two fields: what is left below is rounding.
    awaited[member.pid] = rest > .milliseconds(20) ? rest : nil
    if rest < .zero { ahead[member.pid, default: .zero] -= rest }
  }

  /// Pages that a member has for itself. After fork a child shows its parent's pages as its own; it can
  /// have made at most as many private as it took minor faults, and has at least what it grew by.
  private func unique(_ member: Member) -> UInt64 {
    guard let memory = member.memory else { return 0 }
    let rest = memory.swap.saturatedAdding(memory.pageTables).saturatedAdding(memory.huge)
    guard let inherited = member.inherited, inherited.anonymous > 0,
      memory.residentPeak >= inherited.anonymous
    else { return memory.anonymous.saturatedAdding(rest) }
    let grown = memory.anonymous > inherited.anonymous ? memory.anonymous - inherited.anonymous : 0
    let faulted = member.minorFaults.saturatedMultiplying(by: pageSize)
    return max(grown, min(memory.anonymous, faulted)).saturatedAdding(rest)
  }

  /// Shared memory of a family that passed it on by fork counts once: the largest share stands for all.
  private var sharedOnce: UInt64 {
    var roots: [ProcessID: UInt64] = [:]
    for member in members.values {
      var top = member
      // A forged recording could name a circle of parents.
      var depth = 0
      while top.inherited != nil, depth < 64, let parent = members[top.parent] {
        top = parent
        depth += 1
      }
      roots[top.pid] = max(roots[top.pid] ?? 0, member.memory?.shared ?? 0)
    }
    return roots.values.reduce(0) { $0.saturatedAdding($1) }
  }

  /// The busiest members first.
  func processes(start: Instant) -> [Summary.TreeProcess] {
    (Array(members.values) + ended).sorted { ($0.used, $1.pid) > ($1.used, $0.pid) }
      .prefix(Self.listed).map { member in
        Summary.TreeProcess(
          pid: member.pid.rawValue, parent: member.parent.rawValue, name: member.name,
          // Over before it was read once: nothing was measured.
          cpu: member.childBefore.map { max(.zero, member.cpu - (member.cpuBefore - $0)) },
          footprintPeak: member.footprintPeak, startedAt: max(.zero, member.startedAt - start),
          endedAt: member.endedAt.map { $0 - start })
      }
  }
}
