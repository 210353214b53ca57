// Storms of stalls cost bounded memory and lose no count.

import Testing

@testable import ProbeCore

@Suite struct StallAccountTests {
  private func stall(
    _ id: Int, _ length: Nanoseconds, kind: StallKind = .stall, stopped: Nanoseconds = .zero
  ) -> StallReading {
    var parts = Summary.CauseParts()
    parts.stopped = stopped
    parts.cpuUser = length - stopped
    return StallReading(
      id: id, tid: ThreadID(7), kind: kind, start: Instant(nanoseconds: Int64(id) * 1_000_000_000),
      duration: length, error: .zero, observer: .kernel, certainty: .exact, parts: parts)
  }

  @Test func `of 100 000 stalls the hundred longest are kept and all are counted`() {
    var account = StallAccount()
    var random = Seeded(5)
    var lengths: [Nanoseconds] = []
    for id in 1...100_000 {
      let length = Nanoseconds(250_000_000 + Int64(random.next() % 1_000_000_000))
      lengths.append(length)
      account.began(
        StallBegan(id: id, tid: ThreadID(7), start: Instant(nanoseconds: 0), kind: .stall))
      account.ended(stall(id, length))
    }
    #expect(account.stalls.count == 100)
    #expect(account.omitted == 99_900)
    #expect(account.count == 100_000)
    #expect(account.ended == 100_000)
    #expect(account.open.isEmpty)
    #expect(account.recent.count <= 8)
    #expect(account.recent.last?.id == 100_000)
    #expect(account.total == lengths.reduce(.zero, +))
    lengths.sort(by: >)
    #expect(account.longest == lengths[0])
    #expect(account.stalls.map(\.duration).sorted(by: >) == Array(lengths[..<100]))
    let rows = account.stallRows(start: Instant(nanoseconds: 0)) { "t\($0)" }
    #expect(rows.map(\.start) == rows.map(\.start).sorted())
    #expect(rows.count == 100)
  }

  @Test func `stalls that never end cost bounded memory as well`() {
    var account = StallAccount()
    for id in 1...10_000 {
      account.began(
        StallBegan(id: id, tid: ThreadID(7), start: Instant(nanoseconds: 0), kind: .stall))
    }
    #expect(account.open.count == 100)
    account.retracted(1)
    account.retracted(1)
    account.retracted(-5)
    #expect(account.open.count == 99)
  }

  @Test func `what is told of a stall that goes on counts only for who asks, and ends with it`() {
    var account = StallAccount()
    account.began(
      StallBegan(id: 1, tid: ThreadID(7), start: Instant(nanoseconds: 0), kind: .stall))
    account.goesOn(stall(1, .seconds(1)), nil)
    account.goesOn(stall(1, .seconds(2)), nil)
    #expect(account.count == 0 && account.growing.count == 1)
    var soFar = account
    soFar.endGrowing()
    #expect(soFar.count == 1 && soFar.longest == .seconds(2))
    #expect(soFar.open.isEmpty && soFar.growing.isEmpty)
    account.ended(stall(1, .seconds(3)))
    #expect(account.growing.isEmpty && account.longest == .seconds(3))
    account.goesOn(stall(2, .seconds(1)), nil)
    account.retracted(2)
    #expect(account.growing.isEmpty)
  }

  @Test func `nested waits and start-up are kept but not counted`() {
    var account = StallAccount()
    account.ended(stall(1, .seconds(9), kind: .nested))
    account.ended(stall(2, .seconds(9), kind: .startup))
    #expect(account.count == 0)
    #expect(account.total == .zero)
    #expect(account.longest == nil)
    account.ended(stall(3, .seconds(2), kind: .exit))
    account.ended(stall(4, .seconds(3), stopped: .ms(2600)))
    #expect(account.count == 2)
    #expect(account.total == .ms(2400))
    #expect(account.longest == .seconds(2))
    let rows = account.stallRows(start: Instant(nanoseconds: 0)) { _ in "main" }
    #expect(rows.map(\.kind) == ["nested", "startup", "exit", "stall"])
    // Levels go by what is left without the time in which it was stopped.
    #expect(rows.map(\.level) == ["stuck", "stuck", "severe", "stall"])
  }

  @Test func `a later reading of a loop replaces the earlier one`() {
    var account = StallAccount()
    var reading = LoopReading(tid: ThreadID(7), observer: .kernel)
    reading.verdictless = "nothing seen yet"
    account.loop(reading)
    #expect(account.totals(of: []).count == nil)
    account.loop(LoopReading(tid: ThreadID(8), observer: .proc))
    #expect(account.totals(of: []).count == 0)
    reading.verdictless = nil
    reading.histogram = TurnHistogram()
    reading.histogram?.add(.ms(1))
    reading.histogram?.add(.ms(1))
    reading.histogram?.add(Nanoseconds(3))
    account.loop(reading)
    let rows = account.loopRows { _ in "main" }
    #expect(rows.map(\.tid) == [7, 8])
    // 3 ns is in the bucket below 4 ns; 1 ms in that from 983 040 to 1 048 576 ns (15 * 2^16).
    #expect(rows[0].histogram?.map(\.count) == [1, 2])
    #expect(rows[0].histogram?.map(\.below) == [Nanoseconds(4), Nanoseconds(1_048_576)])
  }

  @Test func `the sentence names the largest part`() {
    var one = stall(1, .ms(300))
    let account = StallAccount()
    func sentence() -> String { account.sentence(of: one, thread: "main") }
    #expect(sentence().hasSuffix("computing"))
    one.parts.cpuUser = .ms(100)
    one.parts.lock = .ms(200)
    #expect(sentence().contains(" waiting for a lock"))
    one.parts = .init()
    #expect(sentence() == "not measured")
    one.kind = .nested
    one.parts.otherWait = .ms(300)
    #expect(sentence().hasSuffix("in a nested wait"))
  }
}
