// Thousands of random lives: no stall where no turn is long, and each long turn found once and measured.

import Testing

@testable import ProbeCore

@Suite struct TurnPropertyTests {
  /// Where a turn spends its time when it is not computing; none of them is ever a home.
  static let blocks = [Site.child, Site.file, Site.socket, Site.lock, Site.handlerSleep]

  /// A turn of exactly that length, made of pieces of at least `grain`.
  static func turn(_ length: Nanoseconds, grain: Nanoseconds, _ random: inout Seeded) -> [Act] {
    var acts: [Act] = []
    var rest = length
    var wasWait = false
    // It wakes up, and it runs a little before it goes to wait again.
    let wake = SimulatedThread.betweenWaits
    guard rest > wake + wake + grain else { return [.compute(rest)] }
    acts.append(.compute(wake))
    rest -= wake + wake
    while rest > .zero {
      var piece = grain + Nanoseconds(Int64(random.next() % UInt64(max(1, rest.rawValue))))
      if rest - piece < grain { piece = rest }
      rest -= piece
      let choice = wasWait ? 3 : random.next() % 4
      wasWait = choice != 3
      switch choice {
      case 0: acts.append(.wait(blocks[Int(random.next() % UInt64(blocks.count))], piece))
      case 1: acts.append(.preempted(piece))
      case 2: acts.append(.fault(piece))
      default: acts.append(.compute(piece))
      }
    }
    acts.append(.compute(wake))
    return acts
  }

  struct Life {
    var acts: [Act]
    var long: [Nanoseconds]
  }

  /// Calm turns, and with `long` some at least so long, each between visits home that probes can see.
  static func life(
    below: Nanoseconds, long: Nanoseconds?, grain: Nanoseconds, stay: Nanoseconds,
    _ random: inout Seeded
  ) -> Life {
    var life = Life(acts: [], long: [])
    for _ in 0..<12 { life.acts += [.wait(Site.poll, stay), .compute(.ms(1))] }
    for _ in 0..<(8 + random.next() % 8) {
      life.acts.append(.wait(Site.poll, stay + Nanoseconds(Int64(random.next() % 60_000_000))))
      if let long, random.next() % 3 == 0 {
        let length = long + Nanoseconds(Int64(random.next() % 900_000_000))
        life.acts += turn(length, grain: grain, &random)
        life.long.append(length)
      } else {
        let length = Nanoseconds(Int64(random.next() % UInt64(below.rawValue)) + 1000)
        life.acts += turn(length, grain: .ms(0.1), &random)
      }
    }
    life.acts.append(.wait(Site.poll, stay))
    return life
  }

  static let thresholds: [Nanoseconds] = [.ms(250), .ms(100), .ms(60)]

  @Test(arguments: thresholds)
  func `where no turn comes near the threshold there is no stall`(threshold: Nanoseconds) {
    let period = ProbeSchedule.period(threshold: threshold)
    var random = Seeded(UInt64(threshold.rawValue))
    for seed in 1...120 as ClosedRange<UInt64> {
      let life = Self.life(
        below: threshold - period * 2, long: nil, grain: .ms(0.1),
        // Long enough for a probe to be sure to see it: a jittered period is 1.25 of one at the most.
        stay: period * 5 / 4 + .ms(0.1), &random)
      let watching = Watching(
        threshold: threshold, jitter: Double(seed % 4) / 12, seed: seed,
        counterLag: seed.isMultiple(of: 2) ? .ms(4) : .zero)
      let told = watching.watch(life.acts)
      #expect(told.stalls.isEmpty, "seed \(seed): \(told.stalls.map(\.duration.inMilliseconds))")
    }
  }

  @Test(arguments: thresholds)
  func `probes find each turn two periods over the threshold, within a period`(
    threshold: Nanoseconds
  ) {
    let period = ProbeSchedule.period(threshold: threshold)
    var random = Seeded(UInt64(threshold.rawValue) + 1)
    for seed in 1...120 as ClosedRange<UInt64> {
      let life = Self.life(
        below: threshold - period * 2, long: threshold + period * 2, grain: period * 3 / 2,
        stay: period * 5 / 4 + .ms(0.1), &random)
      let told = Watching(
        threshold: threshold, seed: seed, counterLag: seed.isMultiple(of: 2) ? .ms(4) : .zero
      ).watch(life.acts)
      #expect(
        told.stalls.count == life.long.count,
        "seed \(seed): \(told.stalls.map(\.duration)) of \(life.long)")
      for (stall, length) in zip(told.stalls, life.long) {
        let off = abs((stall.duration - length).rawValue)
        #expect(off <= stall.error.rawValue + 1000, "seed \(seed): \(stall.duration) of \(length)")
        // Two jittered periods, half of each.
        #expect(off <= period.rawValue * 5 / 4, "seed \(seed): \(stall.duration) of \(length)")
      }
    }
  }

  @Test(arguments: thresholds)
  func `records find each turn at the threshold and measure it to the microsecond`(
    threshold: Nanoseconds
  ) {
    var random = Seeded(UInt64(threshold.rawValue) + 2)
    for seed in 1...120 as ClosedRange<UInt64> {
      let life = Self.life(
        below: threshold - .microseconds(2), long: threshold, grain: .ms(0.1), stay: .ms(0.2),
        &random)
      let told = Watching(observer: .kernel, threshold: threshold, seed: seed).watch(life.acts)
      #expect(told.stalls.count == life.long.count, "seed \(seed)")
      for (stall, length) in zip(told.stalls, life.long) {
        #expect(abs((stall.duration - length).rawValue) <= 1000, "seed \(seed)")
        #expect(stall.certainty == .exact)
      }
    }
  }
}
