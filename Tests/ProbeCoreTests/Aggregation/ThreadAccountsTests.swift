import Testing

@testable import ProbeCore

@Suite struct ThreadAccountsTests {
  /// Creates and ends threads 1...count, each with as many microseconds of CPU as its number.
  private func churn(_ count: Int32, from first: Int32 = 1) -> [ProbeEvent] {
    (first..<first + count).flatMap { number -> [ProbeEvent] in
      [
        .threadSeen(
          ThreadSeen(
            tid: ThreadID(number), name: Array("t\(number)".utf8), isNew: true,
            cpu: .microseconds(Int64(number)), runDelay: .zero, at: Script.at(1))),
        Script.gone(number, at: 2),
      ]
    }
  }

  @Test func `thousands of ended threads stay bounded and nothing is lost`() throws {
    let count: Int32 = 10_000
    let total = Nanoseconds.microseconds(Int64(count) * Int64(count + 1) / 2)
    let summary = Script.summary(
      churn(count) + [
        .tick(Tick(at: Script.at(3), processCPU: total, threadCount: 0, threads: [])),
        Script.ended(3),
      ])
    #expect(summary.cpu.byThread.count <= 2 * ThreadAccounts.exitedCapacity + 1)
    #expect(summary.threads.created == Int(count))
    // The busiest stay, the rest is in one row, and the sum is exact.
    #expect(summary.cpu.byThread.first?.name == "t\(count)")
    let exited = try #require(summary.thread("(exited)"))
    #expect(exited.cpu > .zero)
    #expect(summary.cpu.byThread.reduce(Nanoseconds.zero) { $0 + $1.cpu } == total)
  }

  @Test func `exactly as many as are kept are all kept`() {
    let count = Int32(2 * ThreadAccounts.exitedCapacity)
    #expect(Script.summary(churn(count)).cpu.byThread.count == Int(count))
    #expect(
      Script.summary(churn(count + 1)).cpu.byThread.count == ThreadAccounts.exitedCapacity)
  }

  @Test func `threads that live on keep their accounts and series when others are given up`() {
    var events = churn(3000)
    events += [
      Script.seen(50_001, "steady", at: 3), Script.seen(50_002, "other", at: 3),
      Script.tick(100, cpu: 100, [(50_001, 80), (50_002, 20)]),
    ]
    events += churn(6000, from: 10_000)
    events += [
      Script.tick(200, cpu: 200, [(50_001, 120), (50_002, 80)]),
      .threadNamed(ThreadID(50_001), name: Array("renamed".utf8)), Script.ended(200),
    ]
    let summary = Script.summary(events)
    #expect(summary.thread("renamed")?.cpu == .milliseconds(120))
    #expect(summary.thread("other")?.cpu == .milliseconds(80))
    // 80 then 40 ms, 20 then 60 ms of a bucket each: the second half is charged to the same thread.
    let series = summary.series.perThreadCPU
    #expect(series.first { $0.name == "renamed" }?.values == [nil, 80, 40])
    #expect(series.first { $0.name == "other" }?.values == [nil, 20, 60])
  }
}
