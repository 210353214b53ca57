// What cannot be decided from outside, and our own faults: doubts are said, never guessed away.

import Testing

@testable import ProbeCore

@Suite struct DoubtTests {
  @Test(arguments: [true, false])
  func `short sleeps inside a stall are looked at closely, and the stall is probable`(
    switches: Bool
  ) {
    for seed in 1...20 as ClosedRange<UInt64> {
      // Locks for 3 ms, computes for 9: each lock may have been a visit home.
      let script = calm(Site.poll) + times(60, .wait(Site.lock, .ms(3)), .ms(9)) + calm(Site.poll)
      let told = Watching(seed: seed, switches: switches).watch(script)
      #expect(told.counted.count == 1, "seed \(seed)")
      for stall in told.counted {
        // It claims what was surely one turn, and says how much more it may be.
        let (length, error) = (stall.duration.inMilliseconds, stall.error.inMilliseconds)
        #expect(length >= 250 && length <= 745 && length + error >= 695, "\(length) +- \(error)")
        // Records tell that those that were not seen are like those that were.
        if switches { #expect(length >= 670, "\(length)") }
      }
      #expect(told.counted.allSatisfy { $0.certainty == .probable })
      #expect(told.quickProbes > 0 && told.quickProbes <= 360)
    }
  }

  @Test func `records need no quick probes, and make the same stall exact`() {
    let script = calm(Site.poll) + times(60, .wait(Site.lock, .ms(3)), .ms(9)) + calm(Site.poll)
    let told = Watching(observer: .kernel).watch(script)
    #expect(told.counted.map(\.certainty) == [.exact])
    #expect(told.quickProbes == 0)
  }

  /// Measured on a loop of 12 ms work and 8 ms sleep probed every 10 ms: false stalls of 106 ms.
  @Test func `a loop that beats with the probes does not stall`() {
    for (busy, idle) in [(12, 8), (17, 3), (22, 3), (45, 5), (5, 5)] as [(Int64, Int64)] {
      for seed in 1...10 as ClosedRange<UInt64> {
        for (threshold, jitter) in [(100, 0.25), (100, 0), (250, 0.25)] as [(Int64, Double)] {
          let script = times(600, .wait(Site.poll, .milliseconds(idle)), .ms(busy))
          let told = Watching(
            threshold: .milliseconds(threshold), jitter: jitter, seed: seed, counterLag: .ms(4)
          ).watch(script)
          #expect(told.stalls.isEmpty, "\(busy)+\(idle), \(threshold), \(jitter), seed \(seed)")
        }
      }
    }
  }

  /// Measured with records of switches: false stalls of 260 to 2700 ms.
  @Test(arguments: [true, false], [false, true])
  func `a busy loop that is home for short moments does not stall`(
    switches: Bool, blocks: Bool
  ) {
    let loops = [(60, 2), (60, 5), (100, 10), (12, 1), (12, 4)] as [(Int64, Int64)]
    for (busy, idle) in loops {
      for seed in 1...8 as ClosedRange<UInt64> {
        for threshold in [Int64(30), 50, 100, 250] where threshold > busy + busy / 5 {
          let work: Act =
            blocks
            ? .wait(Site.handlerSleep, .milliseconds(busy)) : .compute(.milliseconds(busy))
          let script =
            calm(Site.poll)
            + times(Int(20_000 / (busy + idle)), .wait(Site.poll, .milliseconds(idle)), work)
          let told = Watching(
            threshold: .milliseconds(threshold), seed: seed, counterLag: .ms(4),
            switches: switches
          ).watch(script)
          #expect(told.stalls.isEmpty, "\(busy)+\(idle), \(threshold), seed \(seed)")
          #expect(told.retractedAll)
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `a stall in a busy loop is found, and no more than it`(switches: Bool) {
    for (busy, idle) in [(60, 5), (12, 1)] as [(Int64, Int64)] {
      for seed in 1...10 as ClosedRange<UInt64> {
        let turn: [Act] = [
          .wait(Site.poll, .milliseconds(idle)), .compute(.milliseconds(busy)),
        ]
        let script =
          calm(Site.poll) + times(40, turn[0], turn[1]) + [turn[0], .ms(600)]
          + times(40, turn[0], turn[1])
        let told = Watching(seed: seed, switches: switches).watch(script)
        #expect(told.counted.count == 1, "\(busy)+\(idle), seed \(seed)")
        for stall in told.counted {
          let length = stall.duration.inMilliseconds
          #expect(length > 500 && length < 600 + Double(busy + idle) + 15, "\(length)")
        }
      }
    }
  }

  @Test func `a loop that is home for a moment only is never certain to stall`() {
    for (busy, idle) in [(8, 2), (19, 1), (16, 0)] as [(Int64, Int64)] {
      for seed in 1...10 as ClosedRange<UInt64> {
        let home = Act.wait(Site.poll, .milliseconds(idle) + .microseconds(300))
        let told = Watching(threshold: .ms(100), seed: seed).watch(times(600, home, .ms(busy)))
        #expect(told.stalls.allSatisfy { $0.certainty == .probable })
      }
    }
  }

  @Test func `a saturated loop is never certain to stall`() {
    // Its waits are over at once: it never sleeps, and no probe sees it at home.
    let script = calm(Site.epoll) + [.compute(.seconds(3), io: 8, system: 0.5)] + calm(Site.epoll)
    let told = Watching().watch(script)
    #expect(told.began.isEmpty)
    #expect(told.stalls.allSatisfy { $0.certainty == .probable })
    // With records each of its waits is seen.
    let turns = times(5000, .wait(Site.epoll, .microseconds(1)), .compute(.microseconds(200)))
    let exact = Watching(observer: .kernel).watch(calm(Site.epoll) + turns + calm(Site.epoll))
    #expect(exact.stalls.isEmpty)
    #expect((exact.reading.turns ?? 0) >= 5000)
  }

  @Test func `a computation that reads a file now and then is found, as probable`() {
    let script =
      calm(Site.epoll) + [.compute(.seconds(1), io: 0.7, system: 0.1)]
      + calm(Site.epoll)
    #expect(Watching().watch(script).stalls.map(\.certainty) == [.probable])
  }

  @Test func `what was mostly blocked away from home is certain, what only ran is probable`() {
    func certainty(_ work: ThresholdTests.Work) -> [Certainty] {
      Watching().watch(ThresholdTests.script(work, .ms(600))).stalls.map(\.certainty)
    }
    #expect(certainty(.locked) == [.exact])
    #expect(certainty(.sleeping) == [.exact])
    #expect(certainty(.waitingForChild) == [.exact])
    #expect(certainty(.computing) == [.probable])
  }

  // MARK: We did not look

  @Test func `a loop that turned while we did not look did not stall`() {
    for home in [Site.poll, Site.sleep] {
      let script = calm(home, turns: 200)
      let told = Watching(blind: [.ms(1000) ... .ms(2000), .ms(2500) ... .ms(2900)]).watch(script)
      #expect(told.stalls.isEmpty)
      #expect(told.began.isEmpty)
    }
    // It was busy at either end of the gap.
    let busy = times(200, .wait(Site.poll, .ms(2)), .ms(19))
    #expect(Watching(blind: [.ms(1000) ... .ms(2000)]).watch(busy).stalls.isEmpty)
  }

  @Test func `a thread that never slept while we did not look is still in the same turn`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(40)), .seconds(2)] + calm(Site.poll, wait: 40)
    let told = Watching(blind: [.ms(1000) ... .ms(2500)]).watch(script)
    #expect(told.stalls.map(\.duration) == [.seconds(2)])
  }

  @Test func `a stall that goes on after a gap is judged from the end of the gap`() {
    let script = calm(Site.poll) + times(10, .wait(Site.file, .ms(200))) + calm(Site.poll)
    let told = Watching(blind: [.ms(900) ... .ms(1700)]).watch(script)
    #expect(told.stalls.count == 1)
    // The stall lasts from 840 ms to 2840 ms.
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 1140) <= 25 })
    #expect(told.stalls.allSatisfy { $0.parts.disk > .ms(1000) })
  }

  @Test func `while the machine stands still nothing stalls`() {
    let script = calm(Site.poll) + [.ms(50), .frozen(.seconds(3600)), .ms(50)] + calm(Site.poll)
    let asleep = Watching(blind: [.ms(870) ... .ms(3_600_880)]).watch(script)
    #expect(asleep.counted.isEmpty)
    #expect(asleep.retractedAll)
    let stalled = calm(Site.poll) + [.ms(200), .frozen(.seconds(3600)), .ms(200)] + calm(Site.poll)
    let told = Watching(blind: [.ms(950) ... .ms(3_600_990)]).watch(stalled)
    #expect(told.stalls.allSatisfy { $0.duration - $0.parts.stopped < .ms(500) })
  }

  // MARK: Records are lost

  @Test func `turns are not told where records are missing, and the next whole one is probable`() {
    let script =
      calm(Site.poll) + [.ms(600)] + calm(Site.poll, turns: 1)
      + [.wait(Site.poll, .ms(20)), .ms(400)] + calm(Site.poll) + [.ms(300)] + calm(Site.poll)
    let told = Watching(observer: .kernel, lost: .ms(900) ... .ms(910)).watch(script)
    #expect(told.stalls.map(\.certainty) == [.exact, .exact, .exact])
    let missing = Watching(observer: .kernel, lost: .ms(900) ... .ms(1445)).watch(script)
    #expect(missing.counted.map(\.certainty).last == .exact)
    #expect(missing.counted.dropLast().allSatisfy { $0.certainty == .probable })
  }

  @Test func `a loop that turns calmly does not stall however many records are lost`() {
    for seed in 1...100 as ClosedRange<UInt64> {
      var random = Seeded(seed)
      let from = Double.random(in: 0...1500, using: &random)
      let length = Double.random(in: 0...2000, using: &random)
      let told = Watching(observer: .kernel, lost: .ms(from) ... .ms(from + length))
        .watch(calm(Site.poll, turns: 200))
      #expect(told.stalls.isEmpty, "\(from) for \(length)")
    }
  }

  // MARK: Counters that lie

  @Test func `counters that move backwards make no stall and hide none`() {
    let script =
      calm(Site.poll) + [.ms(400)] + calm(Site.poll) + [.wait(Site.file, .ms(400))]
      + calm(Site.poll)
    for at in 0..<120 {
      let told = Watching(spoil: { number, probe in
        guard number >= at else { return probe }
        var probe = probe
        probe.cpu = max(.zero, probe.cpu - .seconds(1))
        probe.runDelay = .zero
        probe.sleeps -= min(probe.sleeps, 20)
        probe.userTicks = 0
        probe.systemTicks = 0
        probe.ioCalls = 0
        return probe
      }).watch(script)
      #expect(told.counted.count == 2, "from probe \(at): \(told.stalls.map(\.duration))")
      #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 401) <= 32 }, "\(at)")
    }
  }

  @Test func `counters that jump ahead make no stall of a calm loop`() {
    for at in 0..<80 {
      let told = Watching(spoil: { number, probe in
        guard number >= at else { return probe }
        var probe = probe
        probe.cpu += .seconds(1000)
        probe.runDelay += .seconds(1000)
        return probe
      }).watch(calm(Site.poll, turns: 80))
      #expect(told.stalls.isEmpty, "from probe \(at): \(told.stalls.map(\.duration))")
    }
  }

  @Test func `single probes that could not be read change nothing`() {
    let script =
      calm(Site.poll) + [.ms(400)] + calm(Site.poll) + [.wait(Site.file, .ms(400))]
      + calm(Site.poll)
    for seed in 1...30 as ClosedRange<UInt64> {
      let told = Watching(
        seed: seed,
        spoil: { number, probe in
          var probe = probe
          if (UInt64(number) &* 7 &+ seed) % 5 == 0 { probe.state = .unknown }
          return probe
        }
      ).watch(script)
      #expect(told.counted.count == 2, "seed \(seed)")
      #expect(
        told.counted.allSatisfy {
          abs($0.duration.inMilliseconds - 400) <= 40 + $0.error.inMilliseconds
        })
    }
  }
}

extension Watching.Told {
  /// Everything that was announced was taken back.
  var retractedAll: Bool { Set(began.map(\.id)) == Set(retracted) }
}
