import Testing

@testable import ProbeCore

@Suite struct TickerTests {
  private let early: [Nanoseconds] = [1, 3, 10, 30].map { .milliseconds($0) }

  private func ticker(early: [Nanoseconds] = []) -> Ticker {
    Ticker(start: Script.origin, period: .milliseconds(100), early: early)
  }

  struct Step: Sendable {
    var at: Int64
    var late: Int64
    var skipped = 0
    var next: Int64
    var isSuspended = false
  }

  /// Plays the steps; all times in milliseconds.
  private func play(_ ticker: Ticker, _ steps: [Step]) {
    var ticker = ticker
    for step in steps {
      let taken = ticker.take(
        at: Script.at(step.at), isOver: false, wasSuspended: step.isSuspended)
      #expect(taken.late == .milliseconds(step.late), "\(step)")
      #expect(taken.skipped == step.skipped, "\(step)")
      #expect(ticker.deadline == Script.at(step.next), "\(step)")
    }
  }

  @Test func `ticks taken elsewhere leave it on the grid, which begins after the early ones`() {
    var ticker = ticker(early: early)
    for time in [Int64(1), 3, 10, 30] {
      #expect(!ticker.isSteady)
      _ = ticker.take(at: Script.at(time), isOver: false, wasSuspended: false)
    }
    #expect(ticker.isSteady)
    ticker.skip(to: Script.at(400))
    #expect(ticker.isSteady)
    play(ticker, [Step(at: 402, late: 2, next: 500)])
  }

  @Test func `ticks stay on the grid however late each one is`() {
    #expect(ticker().deadline == Script.at(100))
    play(
      ticker(),
      [
        Step(at: 100, late: 0, next: 200), Step(at: 203, late: 3, next: 300),
        Step(at: 399, late: 99, next: 400), Step(at: 400, late: 0, next: 500),
      ])
  }

  @Test func `ticks that cannot be made any more are left out and counted`() {
    play(
      ticker(),
      [
        Step(at: 200, late: 100, skipped: 1, next: 300),
        Step(at: 1050, late: 750, skipped: 7, next: 1100),
        Step(at: 1100, late: 0, next: 1200),
      ])
  }

  @Test func `time that perfwatch was stopped is no lateness`() {
    play(
      ticker(),
      [
        Step(at: 100, late: 0, next: 200),
        Step(at: 60_050, late: 0, next: 60_100, isSuspended: true),
        Step(at: 60_130, late: 30, next: 60_200),
      ])
  }

  @Test func `early ticks come first, then the grid`() {
    #expect(ticker(early: early).deadline == Script.at(1))
    play(
      ticker(early: early),
      [
        Step(at: 1, late: 0, next: 3), Step(at: 3, late: 0, next: 10),
        Step(at: 10, late: 0, next: 30), Step(at: 30, late: 0, next: 100),
        Step(at: 100, late: 0, next: 200),
      ])
  }

  @Test func `a late early tick leaves out only those that are past`() {
    play(
      ticker(early: early),
      [Step(at: 5, late: 4, next: 10), Step(at: 30, late: 20, next: 100)])
    play(ticker(early: early), [Step(at: 250, late: 249, skipped: 2, next: 300)])
  }

  @Test func `the last tick comes when it comes and is never late`() {
    for time in [20, 100, 950] as [Int64] {
      var ticker = ticker()
      let taken = ticker.take(at: Script.at(time), isOver: true, wasSuspended: false)
      #expect(taken.late == .zero && taken.skipped == 0)
    }
  }

  @Test func `a tick before its time is not late`() {
    play(ticker(), [Step(at: 40, late: 0, next: 100)])
  }
}
