// What records of context switches add to probes: exact ends, and what is sure although nobody saw it.

import Testing

@testable import ProbeCore

@Suite struct SwitchTurnTests {
  static let thresholds = TurnPropertyTests.thresholds

  private func told(
    _ script: [Act], threshold: Nanoseconds = .ms(250), seed: UInt64 = 1,
    blind: [ClosedRange<Nanoseconds>] = [], lost: ClosedRange<Nanoseconds>? = nil
  ) -> Watching.Told {
    Watching(
      threshold: threshold, seed: seed, counterLag: .ms(4), blind: blind, switches: true, lost: lost
    ).watch(script)
  }

  // MARK: Ends

  @Test(arguments: [ThresholdTests.Work.computing, .locked, .sleeping, .waitingForChild])
  func `a turn a tenth of a millisecond over the threshold is found, one under it is none`(
    work: ThresholdTests.Work
  ) {
    func script(_ length: Nanoseconds) -> [Act] {
      // Home for long enough afterwards that a probe is sure to see it.
      let turn = ThresholdTests.script(work, length).dropLast(80)
      return Array(turn) + calm(Site.poll, wait: 40)
    }
    for seed in 1...30 as ClosedRange<UInt64> {
      let over = told(script(.ms(250.1)), seed: seed)
      #expect(over.counted.count == 1, "seed \(seed)")
      #expect(over.counted.allSatisfy { abs($0.duration.inMilliseconds - 250.1) <= 0.1 })
      #expect(over.counted.allSatisfy { $0.error <= .ms(0.2) })
      #expect(told(script(.ms(249.8)), seed: seed).stalls.isEmpty)
    }
  }

  @Test func `records make what was proved no less certain, and what was not no more`() {
    func certainty(_ work: ThresholdTests.Work) -> [Certainty] {
      told(ThresholdTests.script(work, .ms(600))).stalls.map(\.certainty)
    }
    #expect(certainty(.locked) == [.exact])
    // It may have asked its home wait without sleeping there: no switch tells.
    #expect(certainty(.computing) == [.probable])
  }

  @Test(arguments: thresholds)
  func `each turn just over the threshold is found and measured, and nothing else`(
    threshold: Nanoseconds
  ) {
    let period = ProbeSchedule.period(threshold: threshold)
    var random = Seeded(UInt64(threshold.rawValue) + 3)
    for seed in 1...120 as ClosedRange<UInt64> {
      let life = TurnPropertyTests.life(
        below: threshold - .microseconds(2), long: threshold + .ms(0.1), grain: period * 3 / 2,
        stay: period * 5 / 4 + .ms(0.1), &random)
      let told = told(life.acts, threshold: threshold, seed: seed)
      #expect(
        told.stalls.count == life.long.count,
        "seed \(seed): \(told.stalls.map(\.duration)) of \(life.long)")
      for (stall, length) in zip(told.stalls, life.long) {
        // A sleep of less than a period at an end of the turn may be seen or not.
        let off = abs((stall.duration - length).rawValue)
        #expect(off <= stall.error.rawValue, "seed \(seed): \(stall.duration) of \(length)")
        #expect(off <= 200_000, "seed \(seed): \(stall.duration) of \(length)")
      }
    }
  }

  @Test(arguments: thresholds)
  func `short sleeps that nobody saw make no stall where every turn is under the threshold`(
    threshold: Nanoseconds
  ) {
    let period = ProbeSchedule.period(threshold: threshold)
    var random = Seeded(UInt64(threshold.rawValue) + 4)
    for seed in 1...120 as ClosedRange<UInt64> {
      let life = TurnPropertyTests.life(
        below: threshold - .microseconds(2), long: nil, grain: .ms(0.1),
        stay: period * 5 / 4 + .ms(0.1), &random)
      let told = told(life.acts, threshold: threshold, seed: seed)
      #expect(told.stalls.isEmpty, "seed \(seed): \(told.stalls.map(\.duration))")
    }
  }

  @Test func `visits home that no probe sees never make a stall certain`() {
    for (busy, idle) in [(8, 2), (19, 1), (45, 5), (90, 1)] as [(Int64, Int64)] {
      for seed in 1...10 as ClosedRange<UInt64> {
        let script = times(400, .wait(Site.poll, .milliseconds(idle)), .ms(busy))
        let told = told(calm(Site.poll) + script, threshold: .ms(100), seed: seed)
        #expect(told.stalls.allSatisfy { $0.certainty == .probable }, "\(busy)+\(idle) \(seed)")
      }
    }
  }

  // MARK: Who has the CPU

  @Test func `a thread that was woken at home and gets no CPU has not begun a turn`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(30)), .preempted(.ms(400)), .ms(2)]
      + calm(Site.poll)
    #expect(told(script).stalls.isEmpty)
    // Without records it looks as if it computed.
    #expect(Watching().watch(script).stalls.count == 1)
  }

  @Test func `what it waited for a CPU at home is no part of the stall that follows`() {
    let script =
      calm(Site.poll)
      + [.wait(Site.poll, .ms(30)), .preempted(.ms(60)), .ms(200), .wait(Site.file, .ms(100))]
      + calm(Site.poll)
    for stall in told(script).stalls {
      #expect(abs(stall.duration.inMilliseconds - 301) <= 1.2)
      #expect(stall.parts.runDelay <= .ms(1))
      #expect(abs(stall.parts.disk.inMilliseconds - 100) <= 2)
    }
    #expect(told(script).stalls.count == 1)
  }

  @Test func `losing the CPU in a turn is part of it, as run delay`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(30)), .ms(100), .preempted(.ms(150)), .ms(50)]
      + calm(Site.poll)
    let stalls = told(script).stalls
    #expect(stalls.count == 1)
    #expect(stalls.allSatisfy { abs($0.duration.inMilliseconds - 300) <= 1.2 })
    #expect(stalls.allSatisfy { abs($0.parts.runDelay.inMilliseconds - 150) <= 1.2 })
  }

  // MARK: Nobody saw where it slept

  @Test func `a short turn home and back before a stall is not counted in`() {
    // Awake for 1 ms, home for 8 that no probe sees, then away for 300.
    for seed in 1...20 as ClosedRange<UInt64> {
      let script =
        calm(Site.poll, wait: 60) + [.wait(Site.poll, .ms(60)), .ms(1), .wait(Site.poll, .ms(8))]
        + [.ms(300)] + calm(Site.poll, wait: 60)
      let stalls = told(script, seed: seed).stalls
      #expect(stalls.count == 1, "seed \(seed)")
      // Where the visit was not seen it is said how much longer the turn may have been.
      #expect(stalls.allSatisfy { abs($0.duration.inMilliseconds - 300) <= 0.1 }, "seed \(seed)")
      #expect(stalls.allSatisfy { $0.error <= .ms(9.2) }, "seed \(seed)")
    }
  }

  @Test func `a turn that ends in sleeps nobody saw ends with the first of them`() {
    var close = 0
    for seed in 1...20 as ClosedRange<UInt64> {
      let script =
        calm(Site.poll, wait: 60) + [.wait(Site.poll, .ms(60)), .ms(300), .wait(Site.poll, .ms(8))]
        + [.ms(1)] + calm(Site.poll, wait: 60)
      let stalls = told(script, seed: seed).stalls
      #expect(stalls.count == 1, "seed \(seed)")
      // A probe that finds it awake once more before it is home takes the short turn for a part: 9 ms.
      for stall in stalls {
        let more = stall.duration.inMilliseconds - 300
        #expect(abs(more) <= 0.1 || abs(more - 9) <= 0.2, "seed \(seed)")
      }
      close += stalls.count { abs($0.duration.inMilliseconds - 300) <= 0.1 }
    }
    #expect(close >= 15)
  }

  // MARK: We did not look

  @Test func `a turn in which we did not look is measured all the same`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(40)), .ms(300)] + calm(Site.poll, wait: 40)
    // The turn is from 880 to 1180 ms.
    let seen = told(script, blind: [.ms(870) ... .ms(1190)])
    #expect(seen.stalls.count == 1)
    #expect(seen.stalls.allSatisfy { abs($0.duration.inMilliseconds - 300) <= 0.1 })
    #expect(Watching(blind: [.ms(870) ... .ms(1190)]).watch(script).stalls.count <= 1)
  }

  @Test func `of turns that we did not see the one that is surely long is told`() {
    let script =
      calm(Site.poll) + times(5, .wait(Site.poll, .ms(4)), .ms(20)) + [.wait(Site.poll, .ms(4))]
      + [.ms(300)] + times(5, .wait(Site.poll, .ms(4)), .ms(20)) + calm(Site.poll, wait: 40)
    let blind = [Nanoseconds.ms(835) ... .ms(1420)]
    #expect(Watching(blind: blind).watch(script).stalls.isEmpty)
    let seen = told(script, blind: blind)
    #expect(seen.stalls.count == 1)
    #expect(seen.stalls.allSatisfy { abs($0.duration.inMilliseconds - 300) <= 0.1 })
    // Whether it began or ended at home is not known, only that it was no shorter.
    #expect(seen.stalls.allSatisfy { $0.certainty == .probable })
  }

  @Test func `a loop that turned while we did not look did not stall`() {
    for home in [Site.poll, Site.sleep] {
      let blind = [Nanoseconds.ms(1000) ... .ms(2000), .ms(2500) ... .ms(2900)]
      let calmly = told(calm(home, turns: 200), blind: blind)
      #expect(calmly.stalls.isEmpty && calmly.began.isEmpty)
    }
    let busy = times(200, .wait(Site.poll, .ms(2)), .ms(19))
    #expect(told(busy, blind: [.ms(1000) ... .ms(2000)]).stalls.isEmpty)
  }

  // MARK: Records are missing

  @Test func `where records are lost the turn is judged by probes alone`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(40)), .ms(400)] + calm(Site.poll)
      + [.wait(Site.poll, .ms(40)), .ms(400)] + calm(Site.poll)
    for from in stride(from: 700.0, to: 1500, by: 37) {
      for seed in 1...4 as ClosedRange<UInt64> {
        let told = told(script, seed: seed, lost: .ms(from) ... .ms(from + 30))
        #expect(told.stalls.count == 2, "from \(from)")
        for stall in told.stalls {
          let off = abs(stall.duration.inMilliseconds - 400)
          #expect(off <= stall.error.inMilliseconds + 1, "from \(from): \(stall)")
          #expect(off <= 32, "from \(from): \(stall)")
        }
      }
    }
  }

  @Test func `a calm loop does not stall however many records are lost`() {
    for seed in 1...60 as ClosedRange<UInt64> {
      var random = Seeded(seed)
      let from = Double.random(in: 0...1500, using: &random)
      let length = Double.random(in: 0...2000, using: &random)
      let told = told(
        calm(Site.poll, turns: 200), seed: seed, lost: .ms(from) ... .ms(from + length))
      #expect(told.stalls.isEmpty, "\(from) for \(length)")
    }
  }

  @Test func `an inner loop's first wait ends the stall before it to the microsecond`() {
    let script =
      calm(Site.poll) + [.wait(Site.poll, .ms(40)), .ms(400)]
      + times(10, .wait(Site.innerPoll, .ms(40)), .ms(1)) + calm(Site.poll)
    let stalls = told(script).stalls.filter { $0.kind == .stall }
    #expect(stalls.count == 1)
    #expect(stalls.allSatisfy { abs($0.duration.inMilliseconds - 400) <= 0.1 })
  }
}
