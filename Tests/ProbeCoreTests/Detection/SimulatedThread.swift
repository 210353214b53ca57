// A thread that does what a script says, on a clock of its own: what the kernel would show of it.

@testable import ProbeCore

/// What a scripted thread does next.
enum Act: Sendable {
  case wait(Wait, Nanoseconds)
  /// On a CPU; `io` read and write calls a millisecond, `system` of the time in the kernel.
  case compute(Nanoseconds, io: Double, system: Double)
  /// Ready, but others have the CPU.
  case preempted(Nanoseconds)
  /// Blocked outside a call, as in a page fault.
  case fault(Nanoseconds)
  /// Stopped by a signal while it ran.
  case stopped(Nanoseconds)
  /// Stopped by a signal while it waited: it does not run before that.
  case stoppedIn(Nanoseconds)
  /// The machine stands still, the clock goes on.
  case frozen(Nanoseconds)
  /// exit was called; the kernel takes the thread apart for so long.
  case exiting(Nanoseconds)

  static func ms(_ milliseconds: Int64) -> Act { .compute(.milliseconds(milliseconds)) }
  static func compute(_ time: Nanoseconds) -> Act { .compute(time, io: 0, system: 0) }

  var length: Nanoseconds {
    switch self {
    case .wait(_, let time), .compute(let time, _, _), .preempted(let time), .fault(let time),
      .stopped(let time), .stoppedIn(let time), .frozen(let time), .exiting(let time):
      time
    }
  }
}

/// The places where scripted threads wait, as a C program on x86-64 would show them.
enum Site {
  static let main: UInt64 = 0x7ffd_0000_8000

  static func wait(
    _ call: Int32, _ waitClass: WaitClass, _ category: WaitCategory, deeper: UInt64,
    code: UInt64
  ) -> Wait {
    Wait(
      site: WaitSite(
        call: call, stackPointer: main - deeper, programCounter: 0x7f00_0000_0000 + code),
      waitClass: waitClass, category: category)
  }

  static let poll = wait(7, .idle, .idle, deeper: 0, code: 0x11_8000)
  static let epoll = wait(232, .idle, .idle, deeper: 0, code: 0x12_8000)
  /// A loop inside a handler: a modal dialog, execSync.
  static let innerPoll = wait(7, .idle, .idle, deeper: 4096, code: 0x11_8000)
  /// A wait for one connection before there is a loop.
  static let connectPoll = wait(7, .idle, .idle, deeper: 2048, code: 0x11_8000)

  static let sleep = wait(230, .learnable, .sleep, deeper: 48, code: 0xe_6230)
  /// glibc's other system call instruction: taken from the creation of the first thread on.
  static let sleepTwin = wait(230, .learnable, .sleep, deeper: 88, code: 0xe_626f)
  static let handlerSleep = wait(230, .learnable, .sleep, deeper: 304, code: 0xe_6230)
  static let read = wait(0, .learnable, .pipe, deeper: 32, code: 0x11_4000)
  static let handlerRead = wait(0, .learnable, .pipe, deeper: 700, code: 0x11_4000)
  static let condition = wait(202, .learnable, .lock, deeper: 96, code: 0x9_4000)
  static let lock = wait(202, .learnable, .lock, deeper: 900, code: 0x9_7000)

  static let goEpoll = wait(281, .idle, .idle, deeper: 0, code: 0x40_4000)
  /// Go parks a thread by futex a few instructions away from its epoll_pwait, and not deeper.
  static let goPark = wait(202, .learnable, .lock, deeper: 0, code: 0x40_4000 - 541)

  static let child = wait(61, .never, .child, deeper: 500, code: 0xd_0000)
  static let join = wait(202, .learnable, .join, deeper: 500, code: 0x9_9000)
  static let socket = wait(42, .never, .socket, deeper: 800, code: 0x12_0000)
  static let file = wait(74, .never, .disk, deeper: 600, code: 0x12_1000)
}

/// The whole life of a scripted thread, ready to be looked at.
struct SimulatedThread: Sendable {
  /// Between two waits a thread runs at least so long.
  static let betweenWaits = Nanoseconds.microseconds(20)
  static let birth = Instant(nanoseconds: 1_000_000_000_000)

  private enum State: Sendable {
    case running, ready, frozen, exiting
    case waiting(Wait)
    case blocked, stopped
  }

  private struct Piece: Sendable {
    var start: Instant
    var end: Instant
    var state: State
    /// Sums at the start of the piece.
    var cpu: Nanoseconds
    var runDelay: Nanoseconds
    var slices: UInt64
    var sleeps: UInt64
    var system: Double
    var systemShare: Double
    var io: Double
    var ioRate: Double
  }

  private(set) var records: [WaitRecord] = []
  /// As perf_event_open records them: one `ran` for each slice that /proc counts.
  private(set) var switches: [SwitchRecord] = []
  private var pieces: [Piece] = []
  private(set) var end = SimulatedThread.birth
  /// Of a kernel that counts a running thread's time only at its ticks (4 ms at HZ=250).
  var counterLag = Nanoseconds.zero

  init(_ acts: [Act]) {
    pieces.reserveCapacity(acts.count * 2)
    for act in acts { add(act) }
  }

  private mutating func add(_ act: Act) {
    switch act {
    case .compute(let time, let io, let system): piece(.running, time, system: system, io: io)
    case .preempted(let time): piece(.ready, time)
    case .frozen(let time): piece(.frozen, time)
    case .exiting(let time):
      records.append(WaitRecord(at: end, step: .exiting))
      piece(.exiting, time)
    case .stopped(let time):
      runBetween()
      piece(.stopped, time)
    case .fault(let time):
      runBetween()
      piece(.blocked, time)
    case .wait(let wait, let time):
      runBetween()
      record(.entered(wait), wait)
      piece(.waiting(wait), time)
      record(.left, wait)
    case .stoppedIn(let time):
      piece(.stopped, time)
    }
  }

  /// Between two sleeps a thread runs.
  private mutating func runBetween() {
    switch pieces.last?.state {
    case .running?, nil: break
    default: piece(.running, Self.betweenWaits)
    }
  }

  private mutating func record(_ step: WaitRecord.Step, _ wait: Wait) {
    // The tracepoints are filtered to calls that can be homes.
    if wait.waitClass != .never { records.append(WaitRecord(at: end, step: step)) }
  }

  private mutating func piece(
    _ state: State, _ length: Nanoseconds, system: Double = 0, io: Double = 0
  ) {
    var next =
      pieces.last.map { after($0) }
      ?? Piece(
        start: Self.birth, end: Self.birth, state: state, cpu: .zero, runDelay: .zero, slices: 1,
        sleeps: 0, system: 0, systemShare: 0, io: 0, ioRate: 0)
    next.start = end
    next.end = end + length
    next.state = state
    next.systemShare = system
    next.ioRate = io
    switch state {
    case .waiting, .blocked, .stopped: next.sleeps += 1
    case .running:
      if let last = pieces.last, case .running = last.state { break }
      if !pieces.isEmpty { next.slices += 1 }
    case .ready, .frozen, .exiting: break
    }
    recordSwitch(to: state)
    end = next.end
    pieces.append(next)
  }

  private mutating func recordSwitch(to state: State) {
    var hasCPU = true
    switch pieces.last?.state {
    case .running?, .exiting?, nil: break
    case .ready?, .frozen?, .waiting?, .blocked?, .stopped?: hasCPU = false
    }
    switch state {
    case .waiting, .blocked, .stopped:
      guard hasCPU else { break }
      var record = SwitchRecord(at: end, step: .slept)
      if case .waiting(let wait) = state {
        record.place = SleepPlace(
          stackPointer: wait.site.stackPointer, programCounter: wait.site.programCounter)
        record.kind = WaitCalls.wait(wait.site).map { .waiting($0) }
      }
      if case .blocked = state { record.kind = .blocked }
      switches.append(record)
    case .ready, .frozen:
      if hasCPU { switches.append(SwitchRecord(at: end, step: .preempted)) }
    case .running: if !hasCPU { switches.append(SwitchRecord(at: end, step: .ran)) }
    case .exiting: break
    }
  }

  private func after(_ piece: Piece) -> Piece {
    var next = piece
    let length = piece.end - piece.start
    switch piece.state {
    case .running:
      next.cpu += length
      next.system += length.inSeconds * piece.systemShare
      next.io += length.inMilliseconds * piece.ioRate
    case .ready: next.runDelay += length
    case .frozen, .exiting, .waiting, .blocked, .stopped: break
    }
    return next
  }

  /// What /proc shows at that time. Calls must not go back in time.
  func probe(at time: Instant, cursor: inout Int) -> ThreadProbe? {
    while cursor < pieces.count, pieces[cursor].end <= time { cursor += 1 }
    guard cursor < pieces.count, time >= pieces[cursor].start else { return nil }
    let piece = pieces[cursor]
    var seen = piece
    seen.end = time
    if case .running = piece.state, counterLag > .zero {
      let tick = Instant(nanoseconds: time.nanoseconds / counterLag.rawValue * counterLag.rawValue)
      seen.end = max(piece.start, tick)
    }
    let counters = after(seen)
    var probe = ThreadProbe(
      at: time, state: shown(piece.state), cpu: counters.cpu, runDelay: counters.runDelay,
      slices: counters.slices, sleeps: counters.sleeps)
    if case .exiting = piece.state { probe.isExiting = true }
    let ticks = counters.cpu.rawValue / 10_000_000
    let systemTicks = Int64(counters.system * 100)
    probe.systemTicks = UInt64(min(ticks, systemTicks))
    probe.userTicks = UInt64(max(0, ticks - systemTicks))
    if case .waiting(let wait) = probe.state, wait.waitClass == .idle { return probe }
    probe.ioCalls = UInt64(counters.io)
    return probe
  }

  private func shown(_ state: State) -> ThreadProbe.State {
    switch state {
    case .running, .ready, .frozen, .exiting: .running
    case .waiting(let wait): .waiting(wait)
    case .blocked: .blocked
    case .stopped: .stopped
    }
  }
}
