import Testing

@testable import ProbeCore

@Suite struct SessionTotalsTests {
  @Test func `total, average and peak come from the process clock`() {
    // 100 ms windows with 50, 100 and 0 ms of CPU: peak 100 %, average 150 of 300.
    let summary = Script.summary([
      Script.tick(0, cpu: 0), Script.tick(100, cpu: 50), Script.tick(200, cpu: 150),
      Script.tick(300, cpu: 150), Script.ended(300),
    ])
    #expect(summary.cpu.total == .milliseconds(150))
    #expect(summary.cpu.averagePercent == 50)
    #expect(summary.cpu.peakPercent == 100)
    #expect(summary.run.duration == .milliseconds(300))
    #expect(summary.run.complete && summary.run.endedBy == .exit)
    #expect(summary.series.cpuPercent == [nil, 50, 100, 0])
  }

  @Test func `short ticks at the start make no peak of their own`() {
    // The counter moves by 4 ms between ticks 1 and 3 ms: 200 % over 2 ms, which is granularity.
    let summary = Script.summary([
      Script.tick(0, cpu: 0), Script.tick(1, cpu: 0), Script.tick(3, cpu: 4),
      Script.tick(10, cpu: 8), Script.tick(30, cpu: 28), Script.tick(100, cpu: 60),
      Script.tick(200, cpu: 100), Script.ended(200),
    ])
    #expect(summary.cpu.peakPercent == 60)
  }

  @Test func `a run shorter than a window has a total and an average but no peak`() {
    let summary = Script.summary([
      Script.tick(0, cpu: 0), Script.tick(3, cpu: 2), Script.tick(4, cpu: 4), Script.ended(5),
    ])
    #expect(summary.cpu.total == .milliseconds(4))
    #expect(summary.cpu.averagePercent == 80)
    #expect(summary.cpu.peakPercent == nil)
  }

  @Test func `a tick without the clock does not make the next one a peak`() {
    // 100 ms of CPU in the 200 ms between the two readings of the clock: 50 %.
    let state = Script.state([
      Script.tick(100, cpu: 50), Script.tick(200, cpu: nil), Script.tick(300, cpu: 150),
    ])
    #expect(state.summary().cpu.peakPercent == 50)
    #expect(state.recentPercent == 50)
    #expect(state.summary().cpu.total == .milliseconds(150))
  }

  @Test func `without any clock nothing is claimed`() {
    let summary = Script.summary(
      Script.start(cpuBefore: nil), [Script.tick(100, cpu: nil), Script.ended(100)])
    #expect(summary.cpu.total == nil)
    #expect(summary.cpu.averagePercent == nil)
    #expect(summary.cpu.peakPercent == nil)
    #expect(summary.metrics["cpu.seconds"]?.value == nil)
  }

  @Test func `a clock that runs backwards charges nothing and is not believed later`() {
    let summary = Script.summary([
      Script.tick(100, cpu: 80), Script.tick(200, cpu: 10), Script.tick(300, cpu: 90),
      Script.ended(300),
    ])
    #expect(summary.cpu.total == .milliseconds(90))
    #expect(summary.cpu.peakPercent == 80)
  }

  @Test func `what a target used before an attach is not charged`() {
    let summary = Script.summary(
      Script.start(launched: false, cpuBefore: .seconds(100)),
      [
        Script.times(user: 8000, system: 2000), Script.tick(0, cpu: 100_000),
        Script.tick(100, cpu: 100_080), Script.times(user: 8006, system: 2002), Script.ended(100),
      ])
    #expect(summary.cpu.total == .milliseconds(80))
    #expect(summary.cpu.peakPercent == 80)
    // 6 of 8 new clock ticks were user time; the 10 000 before do not count.
    #expect(summary.cpu.user == .milliseconds(60))
    #expect(summary.cpu.system == .milliseconds(20))
  }

  @Test func `user and system split the exact total by their ratio`() {
    let summary = Script.summary([
      Script.tick(100, cpu: 90), Script.times(user: 2, system: 1), Script.ended(100),
    ])
    #expect(summary.cpu.user == .milliseconds(60))
    #expect(summary.cpu.system == .milliseconds(30))
  }

  @Test func `a run without a clock tick of stat has no split`() {
    let summary = Script.summary([Script.tick(100, cpu: 3), Script.times(), Script.ended(100)])
    #expect(summary.cpu.user == nil && summary.cpu.system == nil)
    #expect(summary.cpu.total == .milliseconds(3))
  }

  @Test func `late and skipped ticks are counted together`() {
    let summary = Script.summary([
      Script.tick(0, cpu: 0),
      Script.tick(150, cpu: 0, late: 50),  // half a period: not late yet
      Script.tick(251, cpu: 0, late: 51), Script.tick(700, cpu: 0, late: 300, skipped: 3),
      Script.ended(700),
    ])
    #expect(summary.observer.probes == 4)
    #expect(summary.observer.lateProbes == 2 + 3)
    #expect(summary.warning(.lateTicks)?.message.contains("5 of 7 ticks") == true)
  }

  @Test(arguments: [
    (1, 1, false),  // less than three late ones prove nothing
    (3, 57, false),  // 3 of 60: exactly a twentieth
    (3, 56, true),
  ])
  func `late ticks are worth a warning above one in twenty`(late: Int, good: Int, warns: Bool) {
    let ticks = (0..<late + good).map {
      Script.tick(Int64($0) * 100, cpu: 0, late: $0 < late ? 60 : 0)
    }
    #expect((Script.summary(ticks).warning(.lateTicks) != nil) == warns)
  }

  @Test func `time that runs backwards gives no negative length`() {
    let summary = Script.summary([
      Script.tick(500, cpu: 10), Script.tick(400, cpu: 20), Script.tick(-900, cpu: 30),
      Script.memory(-100, anonymous: 1), Script.ended(-1),
    ])
    #expect(summary.run.duration == .zero)
    #expect(summary.cpu.total == .milliseconds(30))
    #expect(summary.cpu.averagePercent == nil)
  }

  @Test func `a run without an end is incomplete and says so`() {
    let summary = Script.summary([Script.tick(100, cpu: 10), Script.tick(200, cpu: 20)])
    #expect(!summary.run.complete && summary.run.endedBy == nil)
    #expect(summary.run.duration == .milliseconds(200))
    #expect(summary.warning(.recordingCut) != nil)
  }

  @Test func `the footprint's peak keeps its parts, its end and its trend`() {
    // 1 MB a second over three seconds, then back to half.
    let summary = Script.summary([
      Script.memory(0, anonymous: 1_000_000), Script.memory(1000, anonymous: 2_000_000),
      Script.memory(2000, anonymous: 1_000_000, shared: 2_500_000, peak: 9), Script.ended(2000),
    ])
    #expect(summary.memory.footprintPeak == 3_500_000)
    #expect(summary.memory.parts?.shared == 2_500_000)
    #expect(summary.memory.footprintAtEnd == 3_500_000)
    // Points 1, 2 and 3.5 MB at 0, 1 and 2 s: (3.5 - 1) / 2.
    #expect(summary.memory.footprintSlopePerSecond == 1_250_000)
    #expect(summary.memory.residentPeak == 9)
  }

  @Test func `the program that runs last is the one that is named`() {
    let summary = Script.summary([
      .executed(at: Script.at(1), executable: Array("/bin/sh".utf8)),
      .executed(at: Script.at(2), executable: [0x2f, 0xff]),
    ])
    #expect(summary.target.executable == "/\\xff")
    #expect(summary.run.duration == .milliseconds(2))
  }
}
