// The facts that enter a session. Live view, recordings, replay and tests all feed the same events.
// Raw readings only: no rates, no thresholds, no text for people.

/// One fact about the target or about the watching of it.
public enum ProbeEvent: Sendable, Equatable {
  /// The first event of every stream.
  case started(SessionStart)
  /// A thread was seen for the first time.
  case threadSeen(ThreadSeen)
  /// A thread goes by another name now (prctl, exec).
  case threadNamed(ThreadID, name: [UInt8])
  /// A thread is gone; its last readings stand.
  case threadEnded(ThreadID, at: Instant)
  /// One metrics tick.
  case tick(Tick)
  /// Slower per-thread readings.
  case threadDetail(ThreadDetail)
  case memory(MemoryReading)
  case processTimes(ProcessTimes)
  case member(MemberSeen)
  case memberReading(MemberReading)
  case memberEnded(ProcessID, at: Instant)
  /// All readings of one round over the tree are in; with the whole tree's CPU where the kernel counts
  /// it, and with what the hypervisor took from the machine since watching began, where that was read.
  case treeRound(at: Instant, cpu: Nanoseconds?, stolen: Nanoseconds? = nil)
  /// The target executed another program.
  case executed(at: Instant, executable: [UInt8])
  /// The target was stopped by job control, or goes on.
  case stopped(Bool, at: Instant)
  /// Something the user should know; its text comes from the notice catalogue.
  case notice(NoticeCode, detail: String)
  case observer(ObserverReading)
  /// What the observer can or cannot use here; see `Capabilities`.
  case capability(String, value: String)
  /// How many descriptors are open; told when it is another number than before.
  case descriptors(DescriptorsReading)
  /// The sums of one watched loop so far.
  case loop(LoopReading)
  /// A stall has reached the threshold and goes on.
  case stallBegan(StallBegan)
  /// What is known of a stall while it goes on; told again and again, where somebody wants to know.
  case stallGoesOn(StallReading, StallSurroundings?)
  /// A stall that was announced is none.
  case stallRetracted(Int)
  /// A stall with all that is known of it.
  case stall(StallReading)
  /// What code is at an address that stacks name by number.
  case codePlace(CodePlaceReading)
  /// A stack taken in a stall; told when it is known to belong to one.
  case stack(StackReading)
  /// What a stalled thread waited for; told after the stack of the same moment.
  case wait(WaitReading)
  /// Told after the stall.
  case surroundings(StallSurroundings)
  /// Sums of a watched thread's waits so far.
  case waitProfile(WaitProfileReading)
  /// The stack at one of these waits.
  case waitStack(WaitStackReading)
  /// The process has got many threads, or has them no more.
  case threadAlarm(ThreadAlarmReading)
  /// What the threads of an alarm were blocked in.
  case parked(ParkedReading)
  /// Patterns of signatures of stalls that do not count.
  case stallsIgnored([String])
  /// The target ended, and how, as far as we could learn it.
  case exited(TargetExit)
  /// The last event of every stream.
  case ended(SessionEnd)
}

/// How many file descriptors the target has open.
public struct DescriptorsReading: Sendable, Equatable {
  /// The capability that says how they are counted; `yes`, or what is wrong with the number.
  public static let capability = "descriptors"

  public var at: Instant
  public var count: Int

  public init(at: Instant, count: Int) {
    self.at = at
    self.count = count
  }
}

/// What is known when watching begins.
public struct SessionStart: Sendable, Equatable {
  public var build: Summary.Build
  public var target: Summary.Target
  public var host: Summary.Host
  /// Wall clock in nanoseconds since 1970.
  public var startedAt: Int64
  public var start: Instant
  /// The metrics tick's period.
  public var period: Nanoseconds
  /// Bytes a page (getpagesize) and ticks a second (sysconf _SC_CLK_TCK) on the machine of the run.
  public var pageSize: Int
  public var clockTicksPerSecond: Int
  /// CPU the process had used before we came; zero for a launched target.
  public var cpuBefore: Nanoseconds?
  public var followsChildren: Bool
  public var capabilities: Capabilities
  /// From which length on a turn is a stall; nil when stalls are not watched.
  public var stallThreshold: Nanoseconds?

  public init(
    build: Summary.Build, target: Summary.Target, host: Summary.Host, startedAt: Int64,
    start: Instant, period: Nanoseconds, pageSize: Int = 4096, clockTicksPerSecond: Int = 100,
    cpuBefore: Nanoseconds? = nil, followsChildren: Bool = false,
    capabilities: Capabilities = Capabilities(),
    stallThreshold: Nanoseconds? = nil
  ) {
    self.build = build
    self.target = target
    self.host = host
    self.startedAt = startedAt
    self.start = start
    self.period = period
    self.pageSize = pageSize
    self.clockTicksPerSecond = clockTicksPerSecond
    self.cpuBefore = cpuBefore
    self.followsChildren = followsChildren
    self.capabilities = capabilities
    self.stallThreshold = stallThreshold
  }
}

public struct ThreadSeen: Sendable, Equatable {
  public var tid: ThreadID
  /// /proc/<pid>/task/<tid>/comm, raw.
  public var name: [UInt8]
  /// False for the threads that were there when watching began.
  public var isNew: Bool
  /// The first readings; the base that later ones are measured from.
  public var cpu: Nanoseconds
  public var runDelay: Nanoseconds
  public var at: Instant

  public init(
    tid: ThreadID, name: [UInt8], isNew: Bool, cpu: Nanoseconds, runDelay: Nanoseconds, at: Instant
  ) {
    self.tid = tid
    self.name = name
    self.isNew = isNew
    self.cpu = cpu
    self.runDelay = runDelay
    self.at = at
  }
}

/// One metrics tick: the process's CPU clock and the threads whose counters moved since the last one.
public struct Tick: Sendable, Equatable {
  public var at: Instant
  /// How long after its scheduled time the tick came.
  public var late: Nanoseconds
  /// Scheduled ticks that were left out because we came too late for them.
  public var skipped: Int
  /// CPU clock of the process, all threads that ever lived in it; nil if it could not be read.
  public var processCPU: Nanoseconds?
  public var threadCount: Int
  public var threads: [ThreadReading]

  public init(
    at: Instant, late: Nanoseconds = .zero, skipped: Int = 0, processCPU: Nanoseconds?,
    threadCount: Int, threads: [ThreadReading]
  ) {
    self.at = at
    self.late = late
    self.skipped = skipped
    self.processCPU = processCPU
    self.threadCount = threadCount
    self.threads = threads
  }
}

/// /proc/<pid>/task/<tid>/schedstat: time on a CPU, time ready but waiting for one.
public struct ThreadReading: Sendable, Equatable {
  public var tid: ThreadID
  public var cpu: Nanoseconds
  public var runDelay: Nanoseconds

  public init(tid: ThreadID, cpu: Nanoseconds, runDelay: Nanoseconds) {
    self.tid = tid
    self.cpu = cpu
    self.runDelay = runDelay
  }
}

/// /proc/<pid>/task/<tid>/status: context switches since the thread began.
public struct ThreadDetail: Sendable, Equatable {
  public var tid: ThreadID
  public var voluntarySwitches: UInt64
  public var involuntarySwitches: UInt64

  public init(tid: ThreadID, voluntarySwitches: UInt64, involuntarySwitches: UInt64) {
    self.tid = tid
    self.voluntarySwitches = voluntarySwitches
    self.involuntarySwitches = involuntarySwitches
  }
}

/// The memory lines of /proc/<pid>/status, in bytes.
public struct MemoryReading: Sendable, Equatable {
  public var at: Instant
  public var anonymous: UInt64
  public var shared: UInt64
  public var swap: UInt64
  public var pageTables: UInt64
  public var huge: UInt64
  /// VmHWM: peak resident size since exec.
  public var residentPeak: UInt64
  /// Pss of smaps_rollup; only where asked for.
  public var proportional: UInt64?

  public init(
    at: Instant, anonymous: UInt64, shared: UInt64, swap: UInt64, pageTables: UInt64, huge: UInt64,
    residentPeak: UInt64, proportional: UInt64? = nil
  ) {
    self.at = at
    self.anonymous = anonymous
    self.shared = shared
    self.swap = swap
    self.pageTables = pageTables
    self.huge = huge
    self.residentPeak = residentPeak
    self.proportional = proportional
  }

  /// The sum of the parts. A damaged recording may hold any numbers, so it stops at the largest one.
  public var footprint: UInt64 {
    [shared, swap, pageTables, huge].reduce(anonymous) { $0.saturatedAdding($1) }
  }
}

/// /proc/<pid>/stat fields 14 to 17 in clock ticks (exited threads are in them), and field 11.
public struct ProcessTimes: Sendable, Equatable {
  public var user: UInt64
  public var system: UInt64
  /// Of children that were waited for, with theirs.
  public var childUser: UInt64
  public var childSystem: UInt64
  /// Field 11: minor faults of children that were waited for; more than zero if there was any.
  public var childFaults: UInt64

  public init(
    user: UInt64, system: UInt64, childUser: UInt64, childSystem: UInt64, childFaults: UInt64
  ) {
    self.user = user
    self.system = system
    self.childUser = childUser
    self.childSystem = childSystem
    self.childFaults = childFaults
  }
}

/// A process of the target's tree was seen for the first time.
public struct MemberSeen: Sendable, Equatable {
  public var pid: ProcessID
  public var parent: ProcessID
  public var name: [UInt8]
  public var at: Instant
  /// CPU it had used before it was found and that is not to be counted: what a process found at
  /// attach had used before; zero for one born under watch.
  public var cpuBefore: Nanoseconds

  public init(
    pid: ProcessID, parent: ProcessID, name: [UInt8], at: Instant, cpuBefore: Nanoseconds
  ) {
    self.pid = pid
    self.parent = parent
    self.name = name
    self.at = at
    self.cpuBefore = cpuBefore
  }
}

/// Readings of one process of the tree.
public struct MemberReading: Sendable, Equatable {
  public var pid: ProcessID
  public var parent: ProcessID
  public var name: [UInt8]
  public var at: Instant
  /// Its own CPU clock.
  public var cpu: Nanoseconds
  /// CPU of its descendants that it has waited for (stat fields 16 and 17).
  public var childCPU: Nanoseconds
  /// Minor faults (stat field 10) bound how many inherited pages it can have made its own.
  public var minorFaults: UInt64
  public var memory: MemoryReading?

  public init(
    pid: ProcessID, parent: ProcessID, name: [UInt8], at: Instant, cpu: Nanoseconds,
    childCPU: Nanoseconds, minorFaults: UInt64, memory: MemoryReading?
  ) {
    self.pid = pid
    self.parent = parent
    self.name = name
    self.at = at
    self.cpu = cpu
    self.childCPU = childCPU
    self.minorFaults = minorFaults
    self.memory = memory
  }
}

/// What watching has cost so far.
public struct ObserverReading: Sendable, Equatable {
  /// CLOCK_PROCESS_CPUTIME_ID of perfwatch since watching began, and that of its helpers.
  public var cpu: Nanoseconds
  /// VmHWM of perfwatch.
  public var residentPeak: UInt64?
  public var droppedEvents: Int
  public var captures: CaptureCosts

  public init(
    cpu: Nanoseconds, residentPeak: UInt64?, droppedEvents: Int,
    captures: CaptureCosts = CaptureCosts()
  ) {
    self.cpu = cpu
    self.residentPeak = residentPeak
    self.droppedEvents = droppedEvents
    self.captures = captures
  }
}

/// How the target ended.
public struct TargetExit: Sendable, Equatable {
  public var at: Instant
  /// nil for an attached target: only its parent learns the status.
  public var status: ExitStatus?
  /// ru_maxrss of the reaped target in bytes. The kernel lets it start at the launcher's own size and
  /// mixes in reaped children, so it is used only where both can be ruled out.
  public var maxResident: UInt64?
  /// Peak resident size of perfwatch, in bytes, just after the target was launched from its memory.
  public var launcherResident: UInt64?

  public init(
    at: Instant, status: ExitStatus?, maxResident: UInt64?, launcherResident: UInt64? = nil
  ) {
    self.at = at
    self.status = status
    self.maxResident = maxResident
    self.launcherResident = launcherResident
  }
}

/// A wait status, taken apart.
public enum ExitStatus: Sendable, Equatable {
  case code(Int32)
  case signal(Int32)
}

public struct SessionEnd: Sendable, Equatable {
  public var at: Instant
  public var reason: EndReason

  public init(at: Instant, reason: EndReason) {
    self.at = at
    self.reason = reason
  }
}
