// A damaged or forged recording gives odd figures, never a crash: a trap here ends the test process.

import Testing

@testable import ProbeCore

@Suite struct HostileRecordingTests {
  /// PERFWATCH_FUZZ=N makes the tests take N times as long, with other numbers each N.
  private let effort = Int(Environment.value("PERFWATCH_FUZZ") ?? "1") ?? 1

  /// A run with threads, a tree, memory and all other kinds of events.
  private func sound() -> [ProbeEvent] {
    let tree: [ProbeEvent] = [100, 101].map {
      .member(
        MemberSeen(
          pid: ProcessID($0), parent: ProcessID($0 - 1), name: Array("m".utf8), at: Script.at(1),
          cpuBefore: .zero))
    }
    let reading = MemberReading(
      pid: ProcessID(101), parent: ProcessID(100), name: Array("m".utf8), at: Script.at(100),
      cpu: .milliseconds(30), childCPU: .milliseconds(10), minorFaults: 9,
      memory: Script.reading(anonymous: 4096, shared: 8192, peak: 1 << 20))
    return [
      .started(Script.start(followsChildren: true)),
      Script.seen(100, "main", isNew: false), Script.seen(101, "w", at: 3),
    ] + tree + [
      Script.times(user: 3, system: 1, childUser: 50, childSystem: 2), Script.tick(0, cpu: 0),
      Script.tick(100, cpu: 90, late: 3, skipped: 1, count: 2, [(100, 60), (101, 20)]),
      Script.memory(100, anonymous: 1 << 20, shared: 3, peak: 1 << 21), .memberReading(reading),
      .treeRound(at: Script.at(100), cpu: nil), Script.tick(200, cpu: 150, [(101, 70)]),
      Script.memory(200, anonymous: 1 << 21), Script.memory(300, anonymous: 1 << 22),
      .memberEnded(ProcessID(101), at: Script.at(210)), Script.gone(101, at: 220),
      .treeRound(at: Script.at(300), cpu: .milliseconds(400)),
      .observer(ObserverReading(cpu: .milliseconds(2), residentPeak: 1 << 20, droppedEvents: 1)),
      .notice(.otherUser, detail: "uid 3"),
      .loop(SampleEvents.loop), .stall(SampleEvents.stall),
      .exited(TargetExit(at: Script.at(310), status: .signal(9), maxResident: 5)),
      Script.ended(310),
    ]
  }

  private func recording(_ events: [ProbeEvent]) -> [UInt8] {
    var out = ByteWriter()
    for event in events { EventCodec.encode(event, into: &out) }
    return RecordingFormat.magic + out.bytes
  }

  /// Everything that the program would make of a recording.
  private func use(_ bytes: [UInt8]) {
    var fold = EventFold()
    fold.apply(ByteReader(bytes, from: RecordingFormat.magic.count, to: bytes.count))
    if let state = fold.state {
      let snapshot = LiveSnapshot(state, at: Script.at(500), title: "x")
      _ = LiveLine.render(snapshot)
      let style = TextStyle(color: true, unicode: true, width: 80)
      _ = LiveBlock.render(snapshot, size: (80, 24), style: style)
    }
    guard let summary = try? Replay.summary(bytes, name: "x") else { return }
    for reporter in ReporterCatalog.all { _ = try? reporter.render(summary) }
  }

  @Test func `the sound recording gives a full report`() throws {
    let summary = try Replay.summary(recording(sound()), name: "x")
    #expect(summary.run.complete)
    #expect(summary.cpu.total == .milliseconds(150))
    #expect(summary.tree?.cpu == .milliseconds(400))
    #expect(summary.exit.perfwatch == 137)
  }

  @Test func `a flipped bit in each byte is survived`() {
    let bytes = recording(sound())
    for index in RecordingFormat.magic.count..<bytes.count {
      for bit in 0..<min(8, effort) {
        var damaged = bytes
        damaged[index] ^= 1 << ((index * 5 + bit) % 8)
        use(damaged)
      }
    }
  }

  @Test func `random bytes in random places are survived`() {
    let bytes = recording(sound())
    var dice = Dice(seed: UInt64(effort) * 10 + 5)
    for _ in 0..<150 * effort {
      var damaged = bytes
      for _ in 0...dice.below(12) {
        let place =
          RecordingFormat.magic.count + dice.below(bytes.count - RecordingFormat.magic.count)
        damaged[place] = UInt8(truncatingIfNeeded: dice.next())
      }
      use(damaged)
    }
    for _ in 0..<100 * effort {
      use(
        RecordingFormat.magic
          + (0..<dice.below(300)).map { _ in UInt8(truncatingIfNeeded: dice.next()) })
    }
  }

  @Test func `well-formed events with any numbers in any order are survived`() {
    var dice = Dice(seed: UInt64(effort) * 10 + 7)
    for _ in 0..<400 * effort {
      var wild = Wild(dice: dice)
      var events = [ProbeEvent.started(wild.start())]
      for _ in 0..<dice.below(40) { events.append(wild.event()) }
      use(recording(events))
      dice = wild.dice
    }
  }

  @Test func `one thread's series for a hundred wild times is survived`() {
    for period in [Int64.min, -1, 0, 1, 99_999_999, .max / 2, .max] {
      for start in [Int64.min, -1, 0, .max] {
        var begin = Script.start(period: Nanoseconds(period))
        begin.start = Instant(nanoseconds: start)
        let events = [Int64.min, -1, 0, 1, 1 << 40, .max].flatMap { time -> [ProbeEvent] in
          let at = Instant(nanoseconds: time)
          return [
            .threadSeen(
              ThreadSeen(
                tid: ThreadID(1), name: [], isNew: true, cpu: Nanoseconds(.min),
                runDelay: Nanoseconds(.max), at: at)),
            .tick(
              Tick(
                at: at, late: Nanoseconds(.max), skipped: .max, processCPU: Nanoseconds(.max),
                threadCount: .min,
                threads: [
                  ThreadReading(
                    tid: ThreadID(1), cpu: Nanoseconds(.max), runDelay: Nanoseconds(.min))
                ])),
          ]
        }
        use(recording([.started(begin)] + events))
      }
    }
  }
}

/// Makes events of every kind out of extreme and ordinary numbers.
private struct Wild {
  var dice: Dice

  mutating func number() -> Int64 {
    let edges: [Int64] = [
      .min, .min + 1, -1_000_000_000, -1, 0, 1, 2, 100, 1_000_000, 1_000_000_000, 1 << 40, 1 << 53,
      .max / 2, .max - 1, .max,
    ]
    let pick = dice.below(edges.count + 3)
    return pick < edges.count ? edges[pick] : Int64(bitPattern: dice.next())
  }
  mutating func unsigned() -> UInt64 { UInt64(bitPattern: number()) }
  mutating func time() -> Instant { Instant(nanoseconds: number()) }
  mutating func length() -> Nanoseconds { Nanoseconds(number()) }
  mutating func id() -> Int32 {
    dice.below(9) == 0 ? Int32(truncatingIfNeeded: number()) : Int32(dice.below(4))
  }
  mutating func flag() -> Bool { dice.below(2) == 0 }
  mutating func text() -> String { ["", "a", "\u{1b}[31m", "\u{202e}x", "name"][dice.below(5)] }
  mutating func maybe<T>(_ body: (inout Wild) -> T) -> T? { flag() ? body(&self) : nil }

  mutating func start() -> SessionStart {
    SessionStart(
      build: .init(version: text(), commit: nil),
      target: .init(
        pid: id(), executable: maybe { $0.text() }, command: flag() ? [] : [text()],
        launched: flag(), startTicks: maybe { $0.unsigned() }),
      host: .init(
        name: text(), kernel: text(), architecture: "", cores: Int(number()), container: flag()),
      startedAt: number(), start: time(), period: length(), pageSize: Int(number()),
      clockTicksPerSecond: Int(number()), cpuBefore: maybe { $0.length() },
      followsChildren: flag())
  }

  mutating func memory() -> MemoryReading {
    MemoryReading(
      at: time(), anonymous: unsigned(), shared: unsigned(), swap: unsigned(),
      pageTables: unsigned(), huge: unsigned(), residentPeak: unsigned(),
      proportional: maybe { $0.unsigned() })
  }

  mutating func event() -> ProbeEvent {
    switch dice.below(22) {
    case 0, 1:
      let threads = (0..<dice.below(4)).map { _ in
        ThreadReading(tid: ThreadID(id()), cpu: length(), runDelay: length())
      }
      return .tick(
        Tick(
          at: time(), late: length(), skipped: Int(number()), processCPU: maybe { $0.length() },
          threadCount: Int(number()), threads: threads))
    case 2:
      return .threadSeen(
        ThreadSeen(
          tid: ThreadID(id()), name: Array(text().utf8), isNew: flag(), cpu: length(),
          runDelay: length(), at: time()))
    case 3: return .threadNamed(ThreadID(id()), name: [0xff, 0x0a])
    case 4: return .threadEnded(ThreadID(id()), at: time())
    case 5:
      return .threadDetail(
        ThreadDetail(
          tid: ThreadID(id()), voluntarySwitches: unsigned(), involuntarySwitches: unsigned()))
    case 6: return .memory(memory())
    case 7:
      return .processTimes(
        ProcessTimes(
          user: unsigned(), system: unsigned(), childUser: unsigned(), childSystem: unsigned(),
          childFaults: unsigned()))
    case 8:
      return .member(
        MemberSeen(
          pid: ProcessID(id()), parent: ProcessID(id()), name: Array(text().utf8), at: time(),
          cpuBefore: length()))
    case 9, 10:
      return .memberReading(
        MemberReading(
          pid: ProcessID(id()), parent: ProcessID(id()), name: [], at: time(), cpu: length(),
          childCPU: length(), minorFaults: unsigned(), memory: maybe { $0.memory() }))
    case 11: return .memberEnded(ProcessID(id()), at: time())
    case 12: return .treeRound(at: time(), cpu: dice.below(4) == 0 ? length() : nil)
    case 18:
      var loop = LoopReading(tid: ThreadID(id()), observer: flag() ? .proc : .kernel)
      loop.homes = [
        .init(
          site: WaitSite(call: id(), stackPointer: unsigned(), programCounter: unsigned()),
          call: text(), visits: Int(number()))
      ]
      loop.turns = maybe { Int($0.number()) }
      loop.longTurns = Int(number())
      loop.blockingTime = length()
      loop.longestTurn = maybe { $0.length() }
      loop.startup = maybe { $0.length() }
      loop.undecided = length()
      loop.verdictless = maybe { $0.text() }
      loop.histogram = TurnHistogram(counts: [Int(number()): Int(number()), 3: 1])
      return .loop(loop)
    case 19:
      var parts = Summary.CauseParts()
      for field in Summary.CauseParts.fields { parts[keyPath: field] = length() }
      return .stall(
        StallReading(
          id: Int(number()), tid: ThreadID(id()), kind: flag() ? .stall : .nested, start: time(),
          duration: length(), error: length(), observer: .proc, certainty: .probable, parts: parts))
    case 20:
      return flag()
        ? .stallRetracted(Int(number()))
        : .stallBegan(
          StallBegan(id: Int(number()), tid: ThreadID(id()), start: time(), kind: .startup))
    case 21: return .capability(text(), value: text())
    case 13: return .executed(at: time(), executable: [0x2f, 0xff])
    case 14: return .stopped(flag(), at: time())
    case 15:
      return .observer(
        ObserverReading(
          cpu: length(), residentPeak: maybe { $0.unsigned() }, droppedEvents: Int(number())))
    case 16:
      let status: ProbeCore.ExitStatus? = maybe {
        $0.flag() ? .code(.max) : .signal($0.flag() ? .max : .min)
      }
      return .exited(
        TargetExit(
          at: time(), status: status, maxResident: maybe { $0.unsigned() },
          launcherResident: maybe { $0.unsigned() }))
    default:
      return .ended(
        SessionEnd(at: time(), reason: EndReason.allCases[dice.below(EndReason.allCases.count)]))
    }
  }
}
