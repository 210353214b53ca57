// Scripted sessions: events at milliseconds since the start of watching, on a clock of our own.

@testable import ProbeCore

enum Script {
  static let origin = Instant(nanoseconds: 5_000_000_000_000)

  static func at(_ milliseconds: Int64) -> Instant { origin + .milliseconds(milliseconds) }

  static func start(
    launched: Bool = true, cpuBefore: Nanoseconds? = .zero,
    followsChildren: Bool = false, period: Nanoseconds = .milliseconds(100)
  ) -> SessionStart {
    SessionStart(
      build: .init(version: "1", commit: nil),
      target: .init(
        pid: 100, executable: nil, command: ["app"], launched: launched, startTicks: 7),
      host: .init(name: "h", kernel: "6", architecture: "x86_64", cores: 2, container: false),
      startedAt: 0, start: origin, period: period, pageSize: 4096, clockTicksPerSecond: 100,
      cpuBefore: cpuBefore, followsChildren: followsChildren)
  }

  /// The state after the events.
  static func state(_ events: [ProbeEvent]) -> SessionState { state(start(), events) }

  static func state(_ start: SessionStart, _ events: [ProbeEvent]) -> SessionState {
    var state = SessionState(start)
    for event in events { state.apply(event) }
    return state
  }

  static func summary(_ events: [ProbeEvent]) -> Summary { state(events).summary() }

  static func summary(_ start: SessionStart, _ events: [ProbeEvent]) -> Summary {
    state(start, events).summary()
  }

  /// A tick; all times in milliseconds.
  static func tick(
    _ time: Int64, cpu: Int64?, late: Int64 = 0, skipped: Int = 0, count: Int = 1,
    _ threads: [(tid: Int32, cpu: Int64)] = []
  ) -> ProbeEvent {
    .tick(
      Tick(
        at: at(time), late: .milliseconds(late), skipped: skipped,
        processCPU: cpu.map { .milliseconds($0) }, threadCount: count,
        threads: threads.map {
          ThreadReading(
            tid: ThreadID($0.tid), cpu: .milliseconds($0.cpu), runDelay: .milliseconds($0.cpu / 10))
        }))
  }

  static func seen(
    _ tid: Int32, _ name: String = "app", isNew: Bool = true, cpu: Int64 = 0, at time: Int64 = 0
  ) -> ProbeEvent {
    .threadSeen(
      ThreadSeen(
        tid: ThreadID(tid), name: Array(name.utf8), isNew: isNew, cpu: .milliseconds(cpu),
        runDelay: .milliseconds(cpu / 10), at: at(time)))
  }

  static func gone(_ tid: Int32, at time: Int64) -> ProbeEvent {
    .threadEnded(ThreadID(tid), at: at(time))
  }

  static func ended(_ time: Int64, _ reason: EndReason = .exit) -> ProbeEvent {
    .ended(SessionEnd(at: at(time), reason: reason))
  }

  static func memory(
    _ time: Int64, anonymous: UInt64, shared: UInt64 = 0, peak: UInt64 = 0
  ) -> ProbeEvent {
    .memory(reading(time, anonymous: anonymous, shared: shared, peak: peak))
  }

  static func reading(
    _ time: Int64 = 0, anonymous: UInt64, shared: UInt64 = 0, peak: UInt64 = 0
  ) -> MemoryReading {
    MemoryReading(
      at: at(time), anonymous: anonymous, shared: shared, swap: 0, pageTables: 0, huge: 0,
      residentPeak: peak)
  }

  static func times(
    user: UInt64 = 0, system: UInt64 = 0, childUser: UInt64 = 0, childSystem: UInt64 = 0,
    childFaults: UInt64 = 0
  ) -> ProbeEvent {
    .processTimes(
      ProcessTimes(
        user: user, system: system, childUser: childUser, childSystem: childSystem,
        childFaults: childFaults))
  }
}

extension Summary {
  func warning(_ code: NoticeCode) -> Notice? { warnings.first { $0.code == code.rawValue } }
  func thread(_ name: String) -> ThreadCPU? { cpu.byThread.first { $0.name == name } }
}
