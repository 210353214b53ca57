// Which turns are worth a look at the stack while they last: those that are one for all we know.

import Testing

@testable import ProbeCore

@Suite struct OpenTurnTests {
  private func detector(launched: Bool = false) -> LoopDetector {
    LoopDetector(
      tid: ThreadID(77),
      LoopDetector.Settings(
        threshold: .ms(250), probePeriod: .ms(25), observer: .proc,
        launchedAt: launched ? Instant(nanoseconds: 0) : nil))
  }

  private func probe(
    _ milliseconds: Int64, _ state: ThreadProbe.State, slices: UInt64, sleeps: UInt64
  ) -> ThreadProbe {
    ThreadProbe(
      at: Instant(nanoseconds: milliseconds * 1_000_000), state: state,
      cpu: .milliseconds(milliseconds), runDelay: .zero, slices: slices, sleeps: sleeps)
  }

  /// At home for half a second, once a probe.
  private func resting(launched: Bool = false) -> LoopDetector {
    var detector = detector(launched: launched)
    for turn in 0..<20 as Range<Int64> {
      detector.take(
        probe(turn * 25, .waiting(Site.poll), slices: UInt64(turn), sleeps: UInt64(turn)))
    }
    return detector
  }

  @Test func `a thread at home has none`() {
    #expect(resting().openTurn == nil)
  }

  @Test func `away since a probe, it is open and grows`() throws {
    var detector = resting()
    detector.take(probe(500, .running, slices: 20, sleeps: 19))
    let first = try #require(detector.openTurn)
    detector.take(probe(600, .running, slices: 20, sleeps: 19))
    let later = try #require(detector.openTurn)
    #expect(first.start == later.start)
    #expect(later.length - first.length == .ms(100))
    #expect(later.lastSeen == Instant(nanoseconds: 600_000_000))
  }

  @Test func `a sleep that nobody saw may have been at home, so it is not looked at`() {
    var detector = resting()
    detector.take(probe(500, .running, slices: 20, sleeps: 19))
    detector.take(probe(600, .running, slices: 20, sleeps: 19))
    #expect(detector.openTurn != nil)
    detector.take(probe(625, .running, slices: 22, sleeps: 21))
    #expect(detector.openTurn == nil)
  }

  @Test func `a stall is told while it goes on, with the parts of it so far`() throws {
    var detector = resting()
    detector.take(probe(500, .running, slices: 20, sleeps: 19))
    #expect(detector.openStall == nil)
    for time in stride(from: 525 as Int64, through: 1000, by: 25) {
      detector.take(probe(time, .running, slices: 20, sleeps: 19))
    }
    let stall = try #require(detector.openStall)
    #expect(abs((stall.duration - .ms(500)).inMilliseconds) <= 25)
    #expect(stall.kind == .stall && stall.parts.runDelay <= .ms(1))
    #expect(abs((stall.parts.cpuUser - stall.duration).inMilliseconds) <= 1)
    let began = detector.news.compactMap {
      if case .began(let began) = $0 { began.id } else { nil }
    }
    #expect(began == [stall.id])
    detector.take(probe(1025, .waiting(Site.poll), slices: 20, sleeps: 20))
    #expect(detector.openStall == nil)
  }

  @Test func `of a stall that goes on, time without any sign of work may be the machine's`() throws
  {
    var detector = resting()
    for time in stride(from: 500 as Int64, through: 1000, by: 25) {
      var starved = probe(time, .running, slices: 20, sleeps: 19)
      starved.cpu = min(starved.cpu, .ms(600))
      detector.take(starved)
    }
    let stall = try #require(detector.openStall)
    #expect(abs((stall.parts.runDelay - .ms(400)).inMilliseconds) <= 30, "\(stall)")
    let sum = Summary.CauseParts.fields.reduce(Nanoseconds.zero) { $0 + stall.parts[keyPath: $1] }
    #expect(sum == stall.duration)
  }

  @Test func `stopped by somebody, it is let alone, and the time does not count`() throws {
    var detector = resting()
    detector.take(probe(500, .running, slices: 20, sleeps: 19))
    detector.take(probe(525, .running, slices: 20, sleeps: 19))
    let before = try #require(detector.openTurn).length
    detector.take(probe(600, .stopped, slices: 20, sleeps: 20))
    #expect(detector.openTurn == nil)
    detector.take(probe(610, .running, slices: 21, sleeps: 20))
    #expect(try #require(detector.openTurn).length == before + .ms(10))
  }

  @Test func `before homes are known the time since the launch counts`() throws {
    var detector = detector(launched: true)
    detector.take(probe(40, .running, slices: 1, sleeps: 0))
    #expect(detector.openTurn?.length == .ms(40))
    detector.take(probe(60, .waiting(Site.poll), slices: 1, sleeps: 1))
    #expect(detector.openTurn == nil)
    detector.take(probe(80, .running, slices: 2, sleeps: 1))
    detector.take(probe(130, .running, slices: 2, sleeps: 1))
    #expect(detector.openTurn?.length == .ms(50))
  }
}
