// Records of context switches that tell where the thread slept: every sleep is seen, and nothing is in doubt.

import Testing

@testable import ProbeCore

@Suite struct SleepPlaceTests {
  @Test func `a stall of many short sleeps is found whole, and without quick probes`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      for (sleep, work) in [(0.05, 4.0), (1, 11.5), (3, 9)] {
        let turn = times(
          Int(700 / (sleep + work)), .wait(Site.lock, .ms(sleep)), .compute(.ms(work)))
        let length = turn.reduce(Nanoseconds.zero) { $0 + $1.length }
        let told = Watching(seed: seed, switches: true, places: true)
          .watch(calm(Site.poll) + turn + calm(Site.poll))
        #expect(told.counted.count == 1, "\(sleep)+\(work), seed \(seed)")
        for stall in told.counted {
          // A calm turn's millisecond goes before.
          let difference = (stall.duration - length).inMilliseconds
          #expect(difference > -0.1 && difference < 1.5, "\(difference)")
          #expect(stall.error <= .ms(0.2), "\(stall.error)")
        }
        #expect(told.quickProbes == 0)
        #expect(told.reading.undecided == .zero)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a loop that is home for short moments neither stalls nor is in doubt`(blocks: Bool) {
    let loops = [(60, 2), (60, 5), (100, 10), (12, 1), (12, 4), (1, 1)] as [(Int64, Int64)]
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
            threshold: .milliseconds(threshold), seed: seed, counterLag: .ms(4), switches: true,
            places: true
          ).watch(script)
          #expect(told.stalls.isEmpty, "\(busy)+\(idle), \(threshold), seed \(seed)")
          #expect(told.reading.undecided == .zero, "\(busy)+\(idle), \(threshold), seed \(seed)")
          #expect(told.quickProbes == 0)
        }
      }
    }
  }

  @Test func `a stall between short turns is measured as records measure it`() {
    for (busy, idle) in [(60, 5), (12, 1), (2, 1)] as [(Int64, Int64)] {
      for seed in 1...10 as ClosedRange<UInt64> {
        let turn: [Act] = [.wait(Site.poll, .milliseconds(idle)), .ms(busy)]
        let script =
          calm(Site.poll) + times(40, turn[0], turn[1])
          + [turn[0], .ms(300), .wait(Site.handlerSleep, .ms(0.2)), .ms(300)]
          + times(40, turn[0], turn[1])
        let told = Watching(seed: seed, switches: true, places: true).watch(script)
        #expect(told.counted.count == 1, "\(busy)+\(idle), seed \(seed)")
        for stall in told.counted {
          let difference = stall.duration.inMilliseconds - 600.2
          #expect(abs(difference) < 0.2, "\(busy)+\(idle), seed \(seed): \(difference)")
        }
      }
    }
  }

  @Test func `of random lives each long turn is found once and to a fraction of a millisecond`() {
    var random = Seeded(11)
    for number in 0..<200 {
      let life = TurnPropertyTests.life(
        below: .ms(200), long: .ms(260), grain: .ms(0.3), stay: .ms(1), &random)
      let told = Watching(seed: UInt64(number), switches: true, places: true).watch(
        calm(Site.poll) + life.acts + calm(Site.poll))
      let lengths = told.counted.map(\.duration)
      #expect(lengths.count == life.long.count, "life \(number)")
      for (found, made) in zip(lengths, life.long) {
        #expect(abs((found - made).inMilliseconds) < 0.5, "life \(number): \(found), \(made)")
      }
    }
  }

  @Test func `where one instruction makes several calls, its sleeps stay in doubt`() {
    var places = SleepPlaces(threshold: .ms(250))
    let place = SleepPlace(
      stackPointer: Site.poll.site.stackPointer, programCounter: Site.poll.site.programCounter)
    let record = SwitchRecord(at: Instant(nanoseconds: 1), step: .slept, place: place)
    #expect(places.state(record) == nil)
    places.saw(Site.poll)
    #expect(places.state(record) == .waiting(Site.poll))
    // Deeper at the same instruction it may be any call, at another one it is no home.
    var other = record
    other.place?.stackPointer -= 64
    #expect(places.state(other) == nil)
    other.place?.programCounter += 64
    guard case .waiting(let wait)? = places.state(other) else {
      Issue.record("\(String(describing: places.state(other)))")
      return
    }
    #expect(wait.waitClass == .never && wait.site.call == WaitSite.unknownCall)
    var read = Site.read
    read.site.stackPointer = place.stackPointer
    read.site.programCounter = place.programCounter
    places.saw(read)
    places.saw(Site.poll)
    #expect(places.state(record) == nil)
  }

  @Test func `of a loop of thousands of short turns only the edges are looked at`() {
    var trail = SwitchTrail()
    var places = SleepPlaces(threshold: .ms(100))
    places.saw(Site.poll)
    let start = Instant(nanoseconds: 1_000_000_000)
    func probe(_ time: Nanoseconds, _ slices: UInt64) -> ThreadProbe {
      ThreadProbe(
        at: start + time, state: .waiting(Site.poll), cpu: time, runDelay: .zero, slices: slices,
        sleeps: slices)
    }
    let place = SleepPlace(
      stackPointer: Site.poll.site.stackPointer, programCounter: Site.poll.site.programCounter)
    _ = trail.probes(to: probe(.zero, 0), places: places) { _ in true }
    for turn in 0..<500 as Range<Int64> {
      // Asleep for 50 us, awake for 50 us; one of them for 30 ms.
      let late = turn > 300 ? Nanoseconds.ms(30) : .zero
      let time = start + Nanoseconds(turn * 100_000 + 50_000) + late
      trail.add(SwitchRecord(at: time, step: .ran))
      let awake = turn == 300 ? Nanoseconds.ms(30) : .zero
      trail.add(
        SwitchRecord(at: time + Nanoseconds(50_000) + awake, step: .slept, place: place))
    }
    let seen = trail.probes(to: probe(.ms(81), 500), places: places) { _ in true }
    // Both ends of the long turn, and the probe itself; the others are told of as short ones.
    #expect(seen.count == 3)
    #expect(seen.last?.switches?.hidden?.count == 198)
    for (one, other) in zip(seen, seen.dropFirst()) {
      #expect(one.at < other.at && one.slices < other.slices && one.sleeps < other.sleeps)
      #expect(one.cpu <= other.cpu)
    }
  }
}
