// When many threads are worth a word: at a limit, at fast growth, once an episode.

import Testing

@testable import ProbeCore

@Suite struct ThreadAlarmTests {
  /// What the alarm says of counts, one each 100 ms.
  private func news(_ counts: [Int], limit: Int = 64) -> [(tick: Int, news: ThreadAlarm.News)] {
    var alarm = ThreadAlarm(limit: limit)
    return counts.enumerated().compactMap { tick, count in
      alarm.take(count, at: Script.at(Int64(tick) * 100)).map { (tick, $0) }
    }
  }

  private func begins(_ counts: [Int], limit: Int = 64) -> [Int] {
    news(counts, limit: limit).compactMap { if case .began = $0.news { $0.tick } else { nil } }
  }

  @Test func `the limit is reached, and that is told once`() {
    let slow = (1...80).map { $0 }  // ten a second
    let told = news(slow)
    #expect(told.count == 2)
    #expect(told[0].tick == 63)
    guard case .began(let reason, let from, let since) = told[0].news else {
      Issue.record("\(told[0])")
      return
    }
    // The fewest within the second before.
    #expect(reason == .limit && from == 54 && since == Script.at(5300))
    // Two ticks later they are looked at.
    #expect(told[1].tick == 65 && told[1].news == .look)
  }

  @Test func `half the limit within a second is an alarm below the limit`() {
    let told = news([1, 1, 1, 20, 33, 33, 33, 33])
    guard case .began(let reason, let from, let since)? = told.first?.news else {
      Issue.record("\(told)")
      return
    }
    #expect(told[0].tick == 4 && reason == .growth && from == 1 && since == Script.at(200))
  }

  @Test func `thirty threads made at once are none, nor are many made slowly`() {
    #expect(begins([1, 31, 31, 31]) == [])
    #expect(begins((0..<300).map { 1 + $0 / 5 }) == [])
  }

  @Test func `threads that were there from the start are told of, without a growth`() {
    guard case .began(let reason, let from, _)? = news([100, 100]).first?.news else {
      Issue.record("no alarm")
      return
    }
    #expect(reason == .limit && from == nil)
  }

  @Test func `a few threads less and more are the same episode, a quarter less ends it`() {
    let slow = (1...70).map { $0 }
    #expect(begins(slow + [60, 66, 60, 66, 49, 70]) == [63])
    let ended = news(slow + [47, 40])
    #expect(ended.last?.tick == 70 && ended.last?.news == .ended)
    // And then it may begin again.
    #expect(begins(slow + [47] + Array(repeating: 40, count: 12) + [72]) == [63, 83])
  }

  @Test func `when their number has doubled they are looked at again`() {
    let looks = news(
      Array(repeating: 70, count: 5) + Array(repeating: 139, count: 5)
        + Array(repeating: 141, count: 5) + Array(repeating: 150, count: 5)
    ).filter { $0.news == .look }.map(\.tick)
    #expect(looks == [2, 12])
  }
}
