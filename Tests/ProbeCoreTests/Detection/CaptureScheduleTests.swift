// When stacks are taken: not in short turns, seldom in long ones, and within a budget.

import Testing

@testable import ProbeCore

@Suite struct CaptureScheduleTests {
  private func turn(_ length: Nanoseconds, start: Int64 = 0) -> OpenTurn {
    let begin = Instant(nanoseconds: start)
    return OpenTurn(start: begin, length: length, lastSeen: begin + length)
  }

  /// Lengths at which a capture is made in a turn that goes on until `end`, looked at each 10 ms.
  private func captures(_ schedule: inout CaptureSchedule, until end: Nanoseconds) -> [Int64] {
    var made: [Int64] = []
    for milliseconds in stride(from: Int64(0), through: end.rawValue / 1_000_000, by: 10) {
      let open = turn(.milliseconds(milliseconds))
      if schedule.isDue(open) {
        schedule.take(open)
        made.append(milliseconds)
      }
    }
    return made
  }

  @Test func `the first is at half the threshold, the next ones follow Fibonacci up to a second`() {
    var schedule = CaptureSchedule(threshold: .milliseconds(200))
    // Steps of 50, 50, 100, 150, 250, 400, 650 ms, then a second each.
    #expect(
      captures(&schedule, until: .seconds(4))
        == [100, 150, 200, 300, 450, 700, 1100, 1750, 2750, 3750])
  }

  @Test func `twenty captures reach over minutes and then it is enough`() {
    var schedule = CaptureSchedule(threshold: .milliseconds(200))
    let made = captures(&schedule, until: .seconds(600))
    #expect(made.count == CaptureSchedule.limit)
    #expect(made.last! > 40_000 && made.last! < 300_000)  // there are twenty
    let steps = zip(made.dropFirst(), made).map { $0 - $1 }
    #expect(steps == steps.sorted())
  }

  @Test func `a turn that is shorter is not looked at, nor is a thread that rests`() {
    var schedule = CaptureSchedule(threshold: .milliseconds(250))
    #expect(captures(&schedule, until: .milliseconds(124)).isEmpty)
    #expect(!schedule.isDue(nil))
    #expect(schedule.isDue(turn(.milliseconds(125))))
    #expect(!schedule.isDue(turn(.milliseconds(500)), atLeast: .milliseconds(501)))
  }

  @Test func `another turn begins anew`() {
    var schedule = CaptureSchedule(threshold: .milliseconds(200))
    _ = captures(&schedule, until: .seconds(600))
    let next = turn(.milliseconds(100), start: 900_000_000_000)
    #expect(schedule.isFirst(next) && schedule.isDue(next))
    #expect(!schedule.isDue(turn(.milliseconds(99), start: 900_000_000_000)))
    schedule.take(next)
    #expect(!schedule.isFirst(next) && !schedule.isDue(next))
  }

  @Test func `stops may take a thousandth of the time, and our CPU a hundredth`() {
    func allows(_ stopped: Nanoseconds, _ cpu: Nanoseconds, first: Bool = false) -> Bool {
      CaptureBudget.allows(stopped: stopped, cpu: cpu, elapsed: .seconds(100), isFirst: first)
    }
    // 2 ms + 100 s / 1000 = 102 ms; 150 ms + 100 s / 100 = 1150 ms.
    #expect(allows(.milliseconds(102), .milliseconds(1150)))
    #expect(!allows(.milliseconds(103), .zero))
    #expect(!allows(.zero, .milliseconds(1151)))
    #expect(allows(.milliseconds(1020), .zero, first: true))
    #expect(!allows(.milliseconds(1021), .zero, first: true))
  }

  @Test func `with many stalls only those that would be kept are looked at`() {
    var kept = KeptLengths(capacity: 3)
    for length in [300, 500, 400] as [Int64] {
      #expect(kept.shortestKept == .zero)
      kept.add(.milliseconds(length))
    }
    #expect(kept.shortestKept == .milliseconds(300))
    kept.add(.milliseconds(100))
    #expect(kept.shortestKept == .milliseconds(300))
    kept.add(.milliseconds(450))
    #expect(kept.shortestKept == .milliseconds(400))
  }
}
