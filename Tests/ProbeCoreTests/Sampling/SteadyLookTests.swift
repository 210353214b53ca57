// Looks at a steady beat, over a real process that sleeps.

import Glibc
import Testing

@testable import ProbeCore

@Suite struct SteadyLookTests {
  /// A sampler of a process that does nothing, ready for looks.
  private struct Sleeper: ~Copyable {
    let running: RunningTarget
    var sampler: ThreadSampler
    var source: ProcSource
    var out: ByteWriter

    init() throws {
      var out = ByteWriter()
      let process = try Launching.request("/bin/sleep", "100").hold().release()
      let pid = process.pid
      let isStill = Launching.eventually {
        let clock = Clock.processCPU(pid)
        usleep(20_000)
        return clock != nil && Clock.processCPU(pid) == clock ? true : nil
      }
      try #require(isStill == true)
      var own = ProcSource(root: "/proc", pid: pid)
      var made = try ThreadSampler(own)
      for isFirst in [true, false] {
        _ = made.tick(
          at: Clock.now(), late: .zero, skipped: 0, clock: Clock.processCPU(pid),
          clockAgain: { Clock.processCPU(pid) }, isFirst: isFirst, &own, into: &out)
      }
      out.removeAll()
      made.arm(statm: -1)
      self.out = out
      running = process
      source = own
      sampler = made
    }

    func end() throws {
      try running.signal(SIGKILL)
      _ = try running.reap()
    }

    /// A beat of 5 ms that begins now; ticks are never too late for it.
    func beat(limit: Nanoseconds = .seconds(60), age: Nanoseconds = .seconds(60)) -> QuickTicks.Beat
    {
      let now = Clock.now()
      return QuickTicks.Beat(
        pid: running.pid, deadline: now + .milliseconds(5), period: .milliseconds(5),
        limit: now + limit, latest: .seconds(60), age: age, now: now)
    }
  }

  @Test func `they go on until the notes are old enough, and are ticks like others`() throws {
    var sleeper = try Sleeper()
    let bell = try WakeUp()
    var set = WaitSet([bell.descriptor.raw])
    var beat = sleeper.beat(age: .milliseconds(15))
    let first = beat.deadline
    var answer = sleeper.sampler.lookOn(&beat, &set)
    // A busy machine is late by more than a period, and that is not for them to judge.
    var isLate = false
    while answer == .woken, !set.isReady(0) {
      isLate = true
      beat = sleeper.beat(age: .milliseconds(15))
      answer = sleeper.sampler.lookOn(&beat, &set)
    }
    #expect(answer == .aged)
    #expect(isLate || (beat.deadline - first).rawValue % 5_000_000 == 0)
    _ = sleeper.sampler.writeLooks(memory: nil, into: &sleeper.out)
    let ticks = events(&sleeper.out).compactMap { event in
      if case .tick(let tick) = event { tick } else { nil }
    }
    #expect(ticks.count >= 2)
    let (clock, oldest) = (sleeper.sampler.seenClock, sleeper.sampler.oldestLook)
    #expect(ticks.allSatisfy { $0.threads.isEmpty && $0.processCPU == clock })
    #expect(oldest == nil)
    try sleeper.end()
  }

  @Test func `a bell and the limit end them without a note of that moment`() throws {
    var sleeper = try Sleeper()
    let bell = try WakeUp()
    var set = WaitSet([bell.descriptor.raw])
    var beat = sleeper.beat(limit: .zero)
    let limited = sleeper.sampler.lookOn(&beat, &set)
    let isRung = set.isReady(0)
    #expect(limited == .woken && !isRung)
    #expect(beat.now >= beat.limit)
    bell.signal()
    beat = sleeper.beat()
    let deadline = beat.deadline
    let woken = sleeper.sampler.lookOn(&beat, &set)
    let (isRungNow, oldest) = (set.isReady(0), sleeper.sampler.oldestLook)
    #expect(woken == .woken && isRungNow)
    #expect(beat.deadline == deadline && oldest == nil)
    try sleeper.end()
  }

  @Test func `they do not begin unless the threads are known, and end with the process`() throws {
    var sleeper = try Sleeper()
    let bell = try WakeUp()
    var set = WaitSet([bell.descriptor.raw])
    let isKnown = sleeper.sampler.prepareSlowLook(at: Clock.now())
    let isKnownLater = sleeper.sampler.prepareSlowLook(at: Clock.now() + .seconds(10))
    #expect(isKnown && !isKnownLater)
    try sleeper.end()
    let isKnownWhenGone = sleeper.sampler.prepareSlowLook(at: Clock.now())
    #expect(!isKnownWhenGone)
    var beat = sleeper.beat()
    var answer = sleeper.sampler.lookOn(&beat, &set)
    while answer == .woken {
      beat = sleeper.beat()
      answer = sleeper.sampler.lookOn(&beat, &set)
    }
    #expect(answer == .unknown)
    let pid = sleeper.running.pid
    _ = sleeper.sampler.tick(
      at: Clock.now(), late: .zero, skipped: 0, clock: Clock.processCPU(pid), clockAgain: { nil },
      &sleeper.source, into: &sleeper.out)
    answer = sleeper.sampler.lookOn(&beat, &set)
    #expect(answer == nil)
  }
}
