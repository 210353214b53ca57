// The sums over turns: long turns, blocking time, the longest one, and the histogram.

import Testing

@testable import ProbeCore

@Suite struct TurnLogTests {
  private func log(
    _ lengths: [Nanoseconds], kind: StallKind = .stall, threshold: Nanoseconds = .ms(250)
  ) -> TurnLog {
    var log = TurnLog(tid: ThreadID(1), observer: .kernel, threshold: threshold, firstID: 1)
    for length in lengths {
      let start = Instant(nanoseconds: 5)
      log.end(
        Turn(
          kind: kind, start: start, end: start + length, error: .zero, stopped: .zero,
          certainty: .exact, parts: .init()))
    }
    return log
  }

  @Test func `blocking time is what long turns have over 50 ms`() {
    // 0 + 0.001 + 30 + 250
    let log = log([.ms(1), .ms(49.999), .ms(50), .ms(50.001), .ms(80), .ms(300)])
    #expect(log.turns == 6)
    #expect(log.longTurns == 4)
    #expect(log.blockingTime == .ms(280.001))
    #expect(log.longest == .ms(300))
    #expect(log.histogram.counts.values.reduce(0, +) == 6)
  }

  @Test(arguments: [StallKind.nested, .startup, .exit])
  func `other kinds are no turns of the loop`(kind: StallKind) {
    let log = log([.ms(300)], kind: kind)
    #expect(log.turns == 0)
    #expect(log.longTurns == 0)
    #expect(log.longest == nil)
    #expect(log.histogram.counts.isEmpty)
    #expect(log.news.count == 1)
  }

  @Test(arguments: [
    (StallKind.startup, 100.0, 249.0, 0), (.startup, 100, 250, 1), (.startup, 400, 399, 0),
    (.startup, 400, 400, 1), (.stall, 100, 100, 1), (.nested, 100, 249, 1), (.exit, 100, 99, 0),
  ])
  func `start-up is told from 250 ms on, however low the threshold of stalls is`(
    kind: StallKind, threshold: Double, length: Double, expected: Int
  ) {
    let log = log([.ms(length)], kind: kind, threshold: .ms(threshold))
    #expect(log.news.count == expected)
    #expect(log.startup == (kind == .startup ? .ms(length) : nil))
  }

  @Test func `stopped and winding-down time is not held against a turn`() {
    var turn = Turn(
      kind: .stall, start: Instant(nanoseconds: 0), end: Instant(nanoseconds: 400_000_000),
      error: .zero, stopped: .ms(100), certainty: .exact, parts: .init())
    #expect(turn.judged == .ms(300))
    turn.windingDown = .ms(250)
    #expect(turn.judged == .ms(50))
    turn.windingDown = .ms(900)
    #expect(turn.judged == .zero)
    turn.end = Instant(nanoseconds: -5)
    #expect(turn.length == .zero)
  }

  @Test func `each bucket holds what is below its bound and not below the bound before`() {
    var random = Seeded(3)
    var values = (0...300).map { Int64($0) }
    for shift in 3...60 {
      let power = Int64(1) << Int64(shift)
      values += [power - 1, power, power + 1, power + Int64(random.next() % UInt64(power))]
    }
    for value in values {
      let bucket = TurnHistogram.bucket(Nanoseconds(value))
      #expect(Nanoseconds(value) < TurnHistogram.upperBound(bucket))
      if bucket > 0 { #expect(Nanoseconds(value) >= TurnHistogram.upperBound(bucket - 1)) }
      // Within 12.5 %: the width of a bucket is at most an eighth of its lower bound.
      if value >= 8 {
        let width = TurnHistogram.upperBound(bucket) - TurnHistogram.upperBound(bucket - 1)
        #expect(width.rawValue * 8 <= TurnHistogram.upperBound(bucket - 1).rawValue)
      }
    }
    #expect(TurnHistogram.bucket(Nanoseconds(-1)) == 0)
    #expect(TurnHistogram.bucket(Nanoseconds(.min)) == 0)
    let last = TurnHistogram.bucket(Nanoseconds(.max))
    #expect(last < 512)
    #expect(TurnHistogram.upperBound(last) == Nanoseconds(.max))
  }

  @Test func `histograms add up by adding their counts`() {
    var random = Seeded(4)
    var one = TurnHistogram()
    var other = TurnHistogram()
    var both = TurnHistogram()
    for number in 0..<2000 {
      let length = Nanoseconds(Int64(random.next() % 5_000_000_000))
      if number.isMultiple(of: 3) { one.add(length) } else { other.add(length) }
      both.add(length)
    }
    #expect(TurnHistogram(counts: one.counts.merging(other.counts, uniquingKeysWith: +)) == both)
  }

  @Test func `records count every turn, however short`() {
    let script = times(500, .wait(Site.poll, .ms(0.1)), .ms(1)) + [.wait(Site.poll, .ms(5))]
    let reading = Watching(observer: .kernel, isLaunched: true).watch(script).reading
    // 500 turns, one of which may belong to the start-up.
    #expect((499...500).contains(reading.turns ?? 0))
    #expect(reading.histogram?.counts.values.reduce(0, +) == reading.turns)
    #expect(reading.histogram?.counts.keys.sorted() == [TurnHistogram.bucket(.ms(1))])
    #expect(reading.longestTurn == .ms(1))
    #expect(reading.longTurns == 0)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `long turns and blocking time are summed by either observer`(observer: LoopObserver) {
    let script =
      calm(Site.poll) + times(20, .wait(Site.poll, .ms(60)), .ms(120))
      + [.wait(Site.poll, .ms(60)), .wait(Site.file, .ms(400))] + calm(Site.poll)
    let reading = Watching(observer: observer).watch(script).reading
    #expect(reading.longTurns == 21)
    // Twenty of 120 ms and one of 400 ms, each less 50 ms.
    let expected = 20 * 70 + 350.0
    #expect(abs(reading.blockingTime.inMilliseconds - expected) < 40)
    #expect(reading.longestTurn.map { abs($0.inMilliseconds - 400) <= 25 } == true)
    #expect((reading.turns != nil) == (observer == .kernel))
  }
}
