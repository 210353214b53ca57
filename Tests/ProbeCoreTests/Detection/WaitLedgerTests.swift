// Off-CPU time of a scripted thread, laid out by probes and records, against what the script says.

import Testing

@testable import ProbeCore

@Suite struct WaitLedgerTests {
  private static let zero = Instant(nanoseconds: 5_000_000_000)
  private static let fsync = Site.file
  private static let poll = Site.poll

  /// A thread with counters: what it does is added, and probes are taken in between.
  private struct Rig {
    var ledger = WaitLedger()
    var now = WaitLedgerTests.zero
    var cpu = Nanoseconds.zero
    var delay = Nanoseconds.zero
    var slices: UInt64 = 1
    var span: SwitchSpan?

    mutating func run(_ time: Nanoseconds, delayed: Nanoseconds = .zero) {
      now = now + time + delayed
      cpu += time
      delay += delayed
      slices += 1
    }

    mutating func sleep(_ time: Nanoseconds) { now = now + time }

    mutating func probe(_ state: ThreadProbe.State) {
      var probe = ThreadProbe(
        at: now, state: state, cpu: cpu, runDelay: delay, slices: slices, sleeps: 0)
      probe.switches = span
      span = nil
      ledger.take(probe)
    }

    mutating func row(_ wait: Wait) -> WaitLedger.Row? {
      ledger.takeNews().map(\.row).first { $0.key.call == wait.site.call }
    }
  }

  @Test func `a sleep that both probes saw is counted whole`() {
    var rig = Rig()
    rig.probe(.waiting(Self.poll))
    rig.sleep(.milliseconds(20))
    rig.probe(.waiting(Self.poll))
    #expect(rig.ledger.blocked == .milliseconds(20))
    let row = rig.row(Self.poll)
    #expect(row?.exact == .milliseconds(20) && row?.seen == 1)
  }

  @Test func `without records two probes share what the counters say was slept`() {
    var rig = Rig()
    rig.probe(.waiting(Self.poll))
    rig.sleep(.milliseconds(6))
    rig.run(.milliseconds(3), delayed: .milliseconds(1))
    rig.sleep(.milliseconds(10))
    rig.probe(.waiting(Self.fsync))
    #expect(rig.ledger.blocked == .milliseconds(16))
    let rows = rig.ledger.takeNews().map(\.row)
    #expect(rows.map(\.sampled) == [.milliseconds(8), .milliseconds(8)])
    // What may be all the other's.
    #expect(rows.allSatisfy { $0.squares.squareRoot() == 8_000_000 })
  }

  @Test func `with records each sleep gets what it lasted`() {
    var rig = Rig()
    rig.probe(.waiting(Self.poll))
    rig.sleep(.milliseconds(6))
    let woke = rig.now
    rig.run(.milliseconds(3))
    let slept = rig.now
    rig.sleep(.milliseconds(10))
    rig.span = SwitchSpan(wokeAt: woke, asleepSince: slept)
    rig.probe(.waiting(Self.fsync))
    let rows = rig.ledger.takeNews().map(\.row)
    #expect(rows.map(\.exact) == [.milliseconds(6), .milliseconds(10)])
    #expect(rig.ledger.unseen == .zero)
  }

  @Test func `a wait for a CPU after the wake-up is no sleep`() {
    var rig = Rig()
    rig.probe(.waiting(Self.poll))
    rig.sleep(.milliseconds(6))
    // By the records it was put on a CPU 4 ms after it was woken.
    rig.run(.milliseconds(3), delayed: .milliseconds(4))
    rig.span = SwitchSpan(
      wokeAt: Self.zero + .milliseconds(10), asleepSince: Self.zero + .milliseconds(13))
    rig.probe(.waiting(Self.fsync))
    #expect(rig.ledger.blocked == .milliseconds(6))
    #expect(rig.row(Self.poll)?.exact == .milliseconds(6))
  }

  @Test func `what a running thread's late counters claim too much is taken back`() {
    var rig = Rig()
    rig.probe(.waiting(Self.poll))
    rig.sleep(.milliseconds(10))
    rig.run(.milliseconds(4))
    // The counter does not know of these 4 ms yet.
    rig.cpu -= .milliseconds(4)
    rig.span = SwitchSpan(wokeAt: Self.zero + .milliseconds(10))
    rig.probe(.running)
    rig.cpu += .milliseconds(4)
    rig.run(.milliseconds(1))
    rig.span = SwitchSpan(asleepSince: rig.now)
    rig.sleep(.milliseconds(5))
    rig.probe(.waiting(Self.poll))
    #expect(rig.ledger.blocked == .milliseconds(15))
    #expect(rig.ledger.unseen == .zero)
    #expect(rig.row(Self.poll)?.exact == .milliseconds(15))
  }

  @Test func `blocked outside of a call is a page fault, and a stop is a stop`() {
    var rig = Rig()
    rig.probe(.blocked)
    rig.sleep(.milliseconds(3))
    rig.probe(.blocked)
    rig.run(.microseconds(1))
    rig.probe(.stopped)
    rig.sleep(.milliseconds(9))
    rig.probe(.stopped)
    let rows = rig.ledger.takeNews().map(\.row)
    #expect(rows.map(\.key) == [.pageFault, .stopped])
    #expect(rows.map(\.exact) == [.milliseconds(3), .milliseconds(9)])
  }

  @Test func `objects of one call are told apart, and files behind one descriptor, too`() {
    var rig = Rig()
    func read(_ handle: UInt64, _ link: String?) -> ThreadProbe.State {
      .waiting(
        Wait(
          site: Site.read.site, waitClass: .learnable, category: .disk, handle: handle,
          link: link.map { Array($0.utf8) }))
    }
    for state in [read(3, "/a"), read(4, "/a"), read(3, "/b"), read(3, "/a"), read(5, nil)] {
      rig.run(.microseconds(1))
      rig.probe(state)
    }
    #expect(rig.ledger.rows.count == 4)
    #expect(rig.ledger.rows.map(\.seen) == [2, 1, 1, 1])
  }

  @Test func `however many objects there are, memory is bounded and no time is lost`() {
    var rig = Rig()
    for handle in 0..<2000 {
      rig.run(.zero)
      rig.probe(
        .waiting(
          Wait(
            site: WaitSite(
              call: Int32(handle % 70), stackPointer: 0, programCounter: 0),
            waitClass: .never, category: .disk, handle: UInt64(handle))))
      rig.sleep(.milliseconds(1))
    }
    #expect(rig.ledger.rows.count <= 2 * WaitLedger.capacity)
    let rows = rig.ledger.takeNews().map(\.row)
    let sum = rows.reduce(rig.ledger.unseen) { $0 + $1.exact + $1.sampled }
    #expect(sum == rig.ledger.blocked)
    #expect(sum == .milliseconds(1999))
  }

  @Test func `the kernel's records of calls tell of each, cut to the time that was slept`() {
    var rig = Rig()
    rig.probe(.running)
    for _ in 0..<4 {
      rig.ledger.take(WaitRecord(at: rig.now, step: .entered(Self.poll)))
      rig.sleep(.milliseconds(2))
      rig.ledger.take(WaitRecord(at: rig.now, step: .left))
      rig.run(.milliseconds(1))
    }
    // It also computed for half a millisecond in that call.
    rig.ledger.take(WaitRecord(at: rig.now, step: .entered(Self.poll)))
    rig.run(.microseconds(500))
    rig.ledger.take(WaitRecord(at: rig.now, step: .left))
    rig.probe(.running)
    #expect(rig.ledger.blocked == .milliseconds(8))
    let row = rig.row(Self.poll)
    #expect(row?.exact == .milliseconds(8) && row?.seen == 5)
    #expect(row?.longest == .milliseconds(2))
  }

  /// A loop with a long home wait and two kinds of short sleeps, probed at random: short sleeps are seen
  /// seldom, but in their proportion.
  @Test(arguments: [true, false]) func `shares come out right within the errors that are told`(
    hasRecords: Bool
  ) throws {
    let short = Site.sleep
    var random = SystemRandom(seed: 7)
    // (wait, nanoseconds): 30 ms home, 6 ms in one call, 2 ms in another, computing between them.
    let acts: [(Wait?, Int64)] = [
      (Self.poll, 30_000_000), (nil, 1_000_000), (short, 6_000_000), (nil, 500_000),
      (Self.fsync, 2_000_000), (nil, 2_500_000),
    ]
    var rig = Rig()
    var nextProbe = rig.now
    var wokeAt: Instant?
    var sleptAt: Instant?
    var hidden: SwitchSpan.Hidden?
    var isFirst = true
    for _ in 0..<400 {
      for (wait, length) in acts {
        var left = Nanoseconds(length)
        if wait == nil {
          rig.slices += 1
        } else {
          sleptAt = rig.now
        }
        while left > .zero {
          let step = min(left, max(Nanoseconds(1), nextProbe - rig.now))
          rig.now = rig.now + step
          if wait == nil { rig.cpu += step }
          left -= step
          guard rig.now >= nextProbe else { continue }
          if hasRecords {
            rig.span =
              isFirst ? nil : SwitchSpan(wokeAt: wokeAt, asleepSince: wait == nil ? nil : sleptAt)
            rig.span?.hidden = hidden
          }
          rig.probe(wait.map { .waiting($0) } ?? .running)
          (wokeAt, hidden, isFirst) = (nil, nil, false)
          nextProbe = rig.now + Nanoseconds(15_000_000 + Int64(random.next() % 20_000_000))
        }
        guard wait != nil, let began = sleptAt else { continue }
        // The end of a sleep: of the one that the last probe saw, or of one that none saw.
        if let last = rig.ledger.last, last.at >= began {
          wokeAt = rig.now
        } else {
          let length = rig.now - began
          hidden = SwitchSpan.Hidden(
            count: (hidden?.count ?? 0) + 1, start: hidden?.start ?? began, end: rig.now,
            asleep: (hidden?.asleep ?? .zero) + length, shortest: length)
        }
      }
    }
    let reading = WaitProfileReading(
      tid: ThreadID(1), length: rig.now - Self.zero, blocked: rig.ledger.blocked,
      unseen: rig.ledger.unseen,
      rows: rig.ledger.takeNews().map { number, row in
        .init(
          number: number, call: "\(row.key.call)", category: row.key.category, exact: row.exact,
          sampled: row.sampled,
          sampledError: Nanoseconds(Int64(row.squares.squareRoot())), hits: row.hits,
          hitTime: row.hitTime, seen: row.seen, longest: row.longest)
      })
    var profiles = WaitProfiles()
    profiles.add(reading)
    let profile = try #require(profiles.rows(names: { _ in "main" }, frames: { _ in [] }).first)
    // 400 turns of 38 ms of sleep; what came after the last probe is not in it.
    #expect(abs(profile.blocked.inMilliseconds - 400 * 38) < 40)
    let sum = profile.rows.reduce(profile.unseen) { $0 + $1.time }
    #expect(sum == profile.blocked)
    for (wait, truth) in [(Self.poll, 12_000.0), (short, 2400.0), (Self.fsync, 800.0)] {
      let row = try #require(profile.rows.first { $0.call == "\(wait.site.call)" })
      let off = abs(row.time.inMilliseconds - truth)
      #expect(off <= row.error.inMilliseconds + 40, "\(row)")
      // The errors are worth something.
      #expect(row.error.inMilliseconds < (hasRecords ? 400 : 600), "\(row)")
    }
  }
}

/// A repeatable one.
private struct SystemRandom {
  var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state >> 11
  }
}
