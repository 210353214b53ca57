import Testing

@testable import ProbeCore

@Suite struct SessionThreadsTests {
  @Test func `each thread has its CPU, its share of its own life and its waiting`() throws {
    let summary = Script.summary([
      Script.seen(100, "main", isNew: false),
      Script.tick(100, cpu: 50, [(100, 50)]),
      Script.seen(101, "worker", at: 200),
      Script.tick(200, cpu: 80, [(100, 60), (101, 20)]),
      .threadDetail(
        ThreadDetail(tid: ThreadID(101), voluntarySwitches: 7, involuntarySwitches: 8)),
      Script.tick(300, cpu: 160, [(101, 100)]), Script.ended(300),
    ])
    #expect(summary.cpu.byThread.map(\.name) == ["worker", "main"])
    let main = try #require(summary.thread("main"))
    let worker = try #require(summary.thread("worker"))
    #expect(main.cpu == .milliseconds(60) && main.averagePercent == 20)  // 60 of 300 ms
    #expect(worker.cpu == .milliseconds(100) && worker.averagePercent == 100)  // 100 of 100 ms
    #expect(worker.runDelay == .milliseconds(10))
    #expect(worker.voluntarySwitches == 7 && worker.involuntarySwitches == 8)
    #expect(main.voluntarySwitches == nil)
    #expect(main.startedAt == .zero && worker.startedAt == .milliseconds(200))
    #expect(worker.endedAt == nil)
    #expect(summary.threads.created == 1)
  }

  @Test func `a thread that was there at an attach is charged from then on`() {
    let summary = Script.summary(
      Script.start(launched: false, cpuBefore: .seconds(9)),
      [
        Script.seen(100, "old", isNew: false, cpu: 9000, at: 1), Script.tick(1, cpu: 9000),
        Script.tick(100, cpu: 9030, [(100, 9030)]), Script.ended(100),
      ])
    #expect(summary.thread("old")?.cpu == .milliseconds(30))
    #expect(summary.thread("old")?.runDelay == .milliseconds(3))
    #expect(summary.thread("(exited)") == nil)
    #expect(summary.threads.created == 0)
  }

  @Test func `a new thread's first reading is its own doing`() {
    let summary = Script.summary([
      Script.seen(101, "quick", cpu: 30, at: 100), Script.tick(100, cpu: 30), Script.ended(100),
    ])
    #expect(summary.thread("quick")?.cpu == .milliseconds(30))
  }

  @Test func `CPU of threads that came and went between ticks is one row`() throws {
    let summary = Script.summary([
      Script.seen(100, "main", isNew: false), Script.tick(100, cpu: 100, [(100, 40)]),
      Script.ended(100),
    ])
    let exited = try #require(summary.cpu.byThread.last)
    #expect(exited.name == "(exited)" && exited.tid == nil)
    #expect(exited.cpu == .milliseconds(60))
    let sum = summary.cpu.byThread.reduce(Nanoseconds.zero) { $0 + $1.cpu }
    #expect(sum == summary.cpu.total)
  }

  @Test(arguments: [(101, false), (102, true)])
  func `a millisecond between two readings is no exited thread`(clock: Int64, hasRow: Bool) {
    let summary = Script.summary([
      Script.seen(100, "main", isNew: false), Script.tick(100, cpu: clock, [(100, 100)]),
      Script.ended(100),
    ])
    #expect((summary.thread("(exited)") != nil) == hasRow)
  }

  @Test func `a number used again is another thread`() {
    let summary = Script.summary([
      Script.seen(101, "first", at: 10), Script.tick(100, cpu: 50, [(101, 50)]),
      Script.gone(101, at: 150), Script.seen(101, "second", at: 160),
      Script.tick(200, cpu: 70, [(101, 20)]), Script.ended(200),
    ])
    #expect(summary.thread("first")?.cpu == .milliseconds(50))
    #expect(summary.thread("first")?.endedAt == .milliseconds(150))
    #expect(summary.thread("second")?.cpu == .milliseconds(20))
    #expect(summary.cpu.byThread.count == 2)
  }

  @Test func `a number used again although its end was missed is another thread too`() {
    let summary = Script.summary([
      Script.seen(101, "first", at: 10), Script.tick(100, cpu: 50, [(101, 50)]),
      Script.seen(101, "second", at: 160), Script.tick(200, cpu: 70, [(101, 20)]),
      Script.ended(200),
    ])
    #expect(summary.thread("first")?.cpu == .milliseconds(50))
    #expect(summary.thread("first")?.endedAt == .milliseconds(160))
    #expect(summary.thread("second")?.cpu == .milliseconds(20))
  }

  @Test func `a renamed thread keeps its account`() {
    let summary = Script.summary([
      Script.seen(101, "app", at: 10), Script.tick(100, cpu: 50, [(101, 50)]),
      .threadNamed(ThreadID(101), name: Array("io\u{1b}[2J".utf8)),
      Script.tick(200, cpu: 70, [(101, 70)]), Script.ended(200),
    ])
    #expect(summary.cpu.byThread.map(\.name) == ["io\u{1b}[2J"])
    #expect(summary.cpu.byThread.first?.cpu == .milliseconds(70))
  }

  @Test func `a thread's counter that moves backwards is a stale read`() {
    let summary = Script.summary([
      Script.seen(101, "app"), Script.tick(100, cpu: 50, [(101, 50)]),
      Script.tick(200, cpu: 50, [(101, 20)]), Script.tick(300, cpu: 60, [(101, 60)]),
      Script.ended(300),
    ])
    #expect(summary.thread("app")?.cpu == .milliseconds(60))
  }

  @Test func `events of threads that nobody saw change nothing`() {
    let known = [Script.seen(100, "main"), Script.tick(100, cpu: 5, [(100, 5)])]
    let strange: [ProbeEvent] = [
      .threadNamed(ThreadID(9), name: [0x41]), Script.gone(9, at: 50),
      .threadDetail(ThreadDetail(tid: ThreadID(9), voluntarySwitches: 1, involuntarySwitches: 1)),
      .memberEnded(ProcessID(9), at: Script.at(60)),
      .treeRound(at: Script.at(70), cpu: .seconds(9)),
    ]
    let tail = [Script.tick(200, cpu: 6, [(9, 500)]), Script.ended(200)]
    let without = [Script.tick(200, cpu: 6), Script.ended(200)]
    #expect(Script.summary(known + strange + tail) == Script.summary(known + without))
  }

  @Test func `the peak number of threads and the last one are kept`() {
    let summary = Script.summary([
      Script.tick(0, cpu: 0, count: 1), Script.tick(100, cpu: 0, count: 12),
      Script.tick(200, cpu: 0, count: 3),
    ])
    #expect(summary.threads.peak == 12 && summary.threads.atEnd == 3)
    // The tick at the start covers no time, so its bucket has none.
    #expect(summary.series.threads == [nil, 12, 3])
    #expect(Script.summary([]).threads.peak == nil)
  }

  @Test func `only busy threads have a series, the busiest first`() {
    let summary = Script.summary([
      Script.seen(1, "idle"), Script.seen(2, "half"), Script.seen(3, "full"),
      Script.tick(100, cpu: 150, [(2, 50), (3, 100)]),
      Script.tick(200, cpu: 300, [(2, 100), (3, 200)]), Script.ended(200),
    ])
    #expect(summary.series.perThreadCPU.map(\.name) == ["full", "half"])
    #expect(summary.series.perThreadCPU.map(\.values) == [[nil, 100, 100], [nil, 50, 50]])
  }
}
