// One event of every kind, with every optional field both there and missing, and awkward values.

@testable import ProbeCore

enum SampleEvents {
  static let memory = MemoryReading(
    at: Instant(nanoseconds: 9), anonymous: 1, shared: 2, swap: 3, pageTables: 4, huge: 5,
    residentPeak: .max, proportional: 6)

  static let start = SessionStart(
    build: .init(version: "1.2.3", commit: "abc"),
    target: .init(
      pid: 42, executable: "/opt/naïve app", command: ["app", "", "-x"], launched: true,
      startTicks: 99),
    host: .init(name: "h", kernel: "6.18", architecture: "x86_64", cores: 2, container: true),
    startedAt: 1_700_000_000_123_456_789, start: Instant(nanoseconds: .min),
    period: .milliseconds(100), pageSize: 16_384, clockTicksPerSecond: 250, cpuBefore: .seconds(3),
    followsChildren: true,
    capabilities: Capabilities(["perf": "yes", "ptrace": "no: not permitted", "": ""]),
    stallThreshold: .milliseconds(250))

  static let bareStart = SessionStart(
    build: .init(version: "", commit: nil),
    target: .init(pid: .max, executable: nil, command: [], launched: false, startTicks: nil),
    host: .init(name: "", kernel: "", architecture: "", cores: 0, container: false),
    startedAt: -1, start: Instant(nanoseconds: 0), period: .zero)

  static let all: [ProbeEvent] =
    [
      .started(start),
      .started(bareStart),
      .threadSeen(
        ThreadSeen(
          tid: ThreadID(43), name: [0xff, 0, 0x0a], isNew: true, cpu: Nanoseconds(1),
          runDelay: Nanoseconds(2), at: Instant(nanoseconds: 3))),
      .threadNamed(ThreadID(43), name: Array("new\nname".utf8)),
      .threadEnded(ThreadID(43), at: Instant(nanoseconds: 4)),
      .tick(tick),
      .tick(
        Tick(
          at: Instant(nanoseconds: 6), late: .zero, skipped: 0, processCPU: nil, threadCount: 0,
          threads: [])),
      .threadDetail(
        ThreadDetail(tid: ThreadID(1), voluntarySwitches: .max, involuntarySwitches: 0)),
      .memory(memory),
      .memory(
        MemoryReading(
          at: Instant(nanoseconds: 9), anonymous: 0, shared: 0, swap: 0, pageTables: 0, huge: 0,
          residentPeak: 0)),
      .processTimes(ProcessTimes(user: 1, system: 2, childUser: 3, childSystem: 4, childFaults: 5)),
      .member(
        MemberSeen(
          pid: ProcessID(50), parent: ProcessID(42), name: Array("sh".utf8),
          at: Instant(nanoseconds: 10), cpuBefore: Nanoseconds(11))),
      .memberReading(member(memory)),
      .memberReading(member(nil)),
      .memberEnded(ProcessID(50), at: Instant(nanoseconds: 12)),
      .treeRound(at: Instant(nanoseconds: 13), cpu: Nanoseconds(.max)),
      .treeRound(at: Instant(nanoseconds: 14), cpu: nil, stolen: Nanoseconds(15)),
      .executed(at: Instant(nanoseconds: 14), executable: Array("/bin/sh".utf8)),
      .stopped(true, at: Instant(nanoseconds: 15)),
      .stopped(false, at: Instant(nanoseconds: 16)),
      .observer(
        ObserverReading(
          cpu: Nanoseconds(17), residentPeak: 18, droppedEvents: 19, captures: captures)),
      .observer(ObserverReading(cpu: Nanoseconds(17), residentPeak: nil, droppedEvents: 0)),
      .exited(
        TargetExit(
          at: Instant(nanoseconds: 20), status: .code(255), maxResident: 21,
          launcherResident: 1 << 40)),
      .exited(TargetExit(at: Instant(nanoseconds: 20), status: .signal(11), maxResident: nil)),
      .exited(TargetExit(at: Instant(nanoseconds: 20), status: nil, maxResident: nil)),
      .capability("tracepoints", value: "no: not mounted"),
      .loop(loop),
      .loop(LoopReading(tid: ThreadID(1), observer: .proc)),
      .stallBegan(
        StallBegan(id: 7, tid: ThreadID(1), start: Instant(nanoseconds: 23), kind: .startup)),
      .stallRetracted(7),
      .stall(stall),
      .codePlace(
        CodePlaceReading(
          number: 3,
          frames: [
            Summary.Frame(
              function: "f<\u{1b}>", module: "/a b", offset: "0x1", file: "x.c", line: 7,
              inlined: true, found: .inline, inApp: true),
            Summary.Frame(function: nil, module: nil, offset: nil, found: .framePointer),
          ])),
      .codePlace(CodePlaceReading(number: .max, frames: [])),
      .stack(
        StackReading(
          tid: ThreadID(1), at: Instant(nanoseconds: 24), stopTime: Nanoseconds(5),
          truncation: .copyLimit, places: [3, 3, .max])),
      .stack(
        StackReading(
          tid: ThreadID(1), at: Instant(nanoseconds: 25), stopTime: .zero, truncation: nil,
          places: [])),
      .wait(wait),
      .wait(
        WaitReading(
          tid: ThreadID(1), at: Instant(nanoseconds: 1), call: "", object: WaitObject(.other))),
      .surroundings(StallSurroundings(stall: 7, length: .seconds(1))), .surroundings(surroundings),
      .descriptors(DescriptorsReading(at: Instant(nanoseconds: 27), count: .max)),
      .stallGoesOn(stall, nil), .stallGoesOn(stall, surroundings),
      .waitProfile(WaitSamples.profile), .threadAlarm(WaitSamples.alarm),
      .waitStack(WaitSamples.stack),
      .threadAlarm(
        ThreadAlarmReading(
          number: 2, at: Instant(nanoseconds: 1), reason: .growth, limit: 2, threads: 0)),
      .parked(WaitSamples.parked),
      .stallsIgnored(["load-1234abcd", "save-*"]),
    ]
    + NoticeCode.allCases.map { .notice($0, detail: "3 of 4 \u{1b}[31m") }
    + EndReason.allCases.map {
      .ended(SessionEnd(at: Instant(nanoseconds: 22), reason: $0))
    }

  static let captures: CaptureCosts = {
    var costs = CaptureCosts()
    costs.add(.microseconds(40))
    costs.add(.microseconds(60))
    costs.add(.zero)
    return costs
  }()

  static let wait: WaitReading = {
    var object = WaitObject(.fileLock)
    object.path = "/a \u{1b}[31m"
    object.isDeleted = true
    object.peer = "[::1]:80"
    object.process = NeighbourProcess(pid: 9, name: "sh", command: "sh -c \u{2026}")
    object.lock = "mutex"
    object.isWriting = true
    object.others = .max
    var wait = WaitReading(
      tid: ThreadID(1), at: Instant(nanoseconds: 26), call: "flock", object: object)
    wait.isProbable = true
    wait.cycle = -1
    wait.chain = [
      WaitLink(tid: ThreadID(2), name: "a", call: "futex", object: WaitObject(.lock)),
      WaitLink(tid: ThreadID(3), name: "", call: nil, object: nil),
    ]
    wait.chain[0].places = [1, .max]
    return wait
  }()

  static let surroundings: StallSurroundings = {
    var value = StallSurroundings(
      stall: .max, length: Nanoseconds(1), processCPU: Nanoseconds(2), threadCPU: Nanoseconds(3))
    value.machineCPU = Nanoseconds(4)
    value.stolen = Nanoseconds(5)
    value.throttled = Nanoseconds(6)
    value.minorFaults = .max
    value.majorFaults = 0
    return value
  }()

  static let loop: LoopReading = {
    var loop = LoopReading(tid: ThreadID(42), observer: .kernel)
    loop.homes = [
      .init(
        site: WaitSite(call: 232, stackPointer: .max, programCounter: 1), call: "epoll_wait",
        visits: 9)
    ]
    loop.turns = 10
    loop.longTurns = 2
    loop.blockingTime = .milliseconds(40)
    loop.longestTurn = .milliseconds(70)
    loop.startup = .milliseconds(3)
    loop.undecided = .milliseconds(1)
    loop.verdictless = "why"
    loop.histogram = TurnHistogram(counts: [3: 4, 200: 1])
    return loop
  }()

  static let stall: StallReading = {
    var parts = Summary.CauseParts()
    for (index, field) in Summary.CauseParts.fields.enumerated() {
      parts[keyPath: field] = Nanoseconds(Int64(index))
    }
    return StallReading(
      id: 7, tid: ThreadID(1), kind: .nested, start: Instant(nanoseconds: 23),
      duration: .milliseconds(300), error: .milliseconds(5), observer: .proc,
      certainty: .probable, parts: parts)
  }()

  static let tick = Tick(
    at: Instant(nanoseconds: .max), late: Nanoseconds(-5), skipped: 2, processCPU: .seconds(7),
    threadCount: 3,
    threads: [
      ThreadReading(tid: ThreadID(42), cpu: Nanoseconds(1), runDelay: Nanoseconds(2)),
      ThreadReading(tid: ThreadID(.max), cpu: Nanoseconds(.max), runDelay: Nanoseconds(.min)),
    ])

  private static func member(_ memory: MemoryReading?) -> MemberReading {
    MemberReading(
      pid: ProcessID(50), parent: ProcessID(42), name: [], at: Instant(nanoseconds: 10),
      cpu: Nanoseconds(11), childCPU: Nanoseconds(12), minorFaults: 13, memory: memory)
  }

  /// All events as one stream, and where each frame ends.
  static func stream() -> (bytes: [UInt8], ends: [Int]) {
    var out = ByteWriter()
    var ends: [Int] = []
    for event in all {
      EventCodec.encode(event, into: &out)
      ends.append(out.count)
    }
    return (out.bytes, ends)
  }
}
