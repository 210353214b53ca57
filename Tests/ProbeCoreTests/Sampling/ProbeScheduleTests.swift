import Testing

@testable import ProbeCore

@Suite struct ProbeScheduleTests {
  @Test(
    arguments: [
      (10, 5), (50, 5), (60, 6), (100, 10), (249, 24.9), (250, 25), (251, 25), (60_000, 25),
    ] as [(Double, Double)])
  func `the period is a tenth of the threshold, within limits`(threshold: Double, period: Double) {
    #expect(ProbeSchedule.period(threshold: .ms(threshold)) == .ms(period))
  }

  @Test func `the beat is irregular by a quarter and keeps its mean`() {
    let start = Instant(nanoseconds: 123_456_789)
    var schedule = ProbeSchedule(start: start, threshold: .ms(250))
    #expect(schedule.deadline == start)
    var gaps: [Double] = []
    for _ in 0..<4000 {
      let before = schedule.deadline
      schedule.advance(from: before + .microseconds(80), wantsQuick: false)
      gaps.append((schedule.deadline - before).inMilliseconds)
    }
    #expect(gaps.allSatisfy { (18.75...31.25).contains($0) })
    #expect(abs(gaps.reduce(0, +) / 4000 - 25) < 0.5)
    #expect(Set(gaps.map { Int($0 * 10) }).count > 50)
  }

  @Test func `a late probe is not made up for`() {
    var schedule = ProbeSchedule(start: Instant(nanoseconds: 0), threshold: .ms(250))
    let late = Instant(nanoseconds: 10_000_000_000)
    schedule.advance(from: late, wantsQuick: false)
    #expect(schedule.deadline >= late + .ms(6.25))
    #expect(schedule.deadline <= late + .ms(31.25))
  }

  @Test func `quick probes come a millisecond apart and end when not wanted`() {
    var schedule = ProbeSchedule(start: Instant(nanoseconds: 0), threshold: .ms(250))
    let now = Instant(nanoseconds: 50_000_000)
    schedule.advance(from: now, wantsQuick: true)
    #expect(schedule.isQuick)
    #expect(schedule.deadline == now + .ms(1))
    schedule.advance(from: now + .ms(1), wantsQuick: true)
    #expect(schedule.deadline == now + .ms(2))
    schedule.advance(from: now + .ms(2), wantsQuick: false)
    #expect(!schedule.isQuick)
    #expect(schedule.deadline >= now + .ms(2) + .ms(6.25))
    #expect(schedule.deadline <= now + .ms(2) + .ms(31.25))
  }
}
