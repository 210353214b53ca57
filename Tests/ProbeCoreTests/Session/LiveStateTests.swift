import Testing

@testable import ProbeCore

@Suite struct LiveStateTests {
  @Test func `the picture shows the last tick, the average and the hottest threads`() {
    let state = Script.state([
      Script.seen(1, "main"), Script.seen(2, "busy"), Script.seen(3, "idle"),
      Script.tick(100, cpu: 50, count: 3, [(1, 50)]), Script.memory(100, anonymous: 900),
      Script.tick(200, cpu: 150, count: 3, [(1, 60), (2, 90)]), Script.memory(200, anonymous: 500),
      .notice(.otherUser, detail: "uid 7"),
    ])
    let snapshot = LiveSnapshot(state, at: Script.at(250), title: "app (100)")
    #expect(snapshot.title == "app (100)")
    #expect(snapshot.elapsed == .milliseconds(250))
    #expect(snapshot.state == "running")
    #expect(snapshot.cpuPercentNow == 100)
    #expect(snapshot.cpuAverage == 60)  // 150 of 250 ms
    #expect(snapshot.hottest.map(\.name) == ["busy", "main"])
    #expect(snapshot.hottest.map(\.percent) == [90, 10])
    #expect(snapshot.footprint == 500 && snapshot.footprintPeak == 900)
    #expect(snapshot.footprintHistory == [900, 500])
    #expect(snapshot.threadCount == 3 && snapshot.processCount == nil)
    #expect(snapshot.lastNotices.count == 1)
    #expect(snapshot.lateTicks == 0)
  }

  @Test func `before the first tick nothing is claimed`() {
    let snapshot = LiveSnapshot(Script.state([]), at: Script.origin, title: "")
    #expect(snapshot.cpuPercentNow == nil && snapshot.cpuAverage == nil)
    #expect(snapshot.footprint == nil && snapshot.threadCount == nil)
    #expect(snapshot.hottest.isEmpty && snapshot.elapsed == .zero)
  }

  @Test func `a thread that ran earlier but not in the last tick is not hot`() {
    let state = Script.state([
      Script.seen(1, "main"), Script.tick(100, cpu: 50, [(1, 50)]), Script.tick(200, cpu: 50),
    ])
    #expect(LiveSnapshot(state, at: Script.at(200), title: "").hottest.isEmpty)
  }

  @Test func `a thread that ended is not hot`() {
    let state = Script.state([
      Script.seen(1, "main"), Script.tick(100, cpu: 50, [(1, 50)]), Script.gone(1, at: 100),
    ])
    #expect(LiveSnapshot(state, at: Script.at(100), title: "").hottest.isEmpty)
  }

  @Test func `stopped and late are shown, also before the clock of the caller`() {
    var state = Script.state([
      Script.tick(100, cpu: 0, late: 90, skipped: 4), .stopped(true, at: Script.at(110)),
    ])
    var snapshot = LiveSnapshot(state, at: Script.at(-5), title: "")
    #expect(snapshot.state == "stopped" && state.isTargetStopped)
    #expect(snapshot.lateTicks == 5 && snapshot.elapsed == .zero)
    state.apply(.stopped(false, at: Script.at(120)))
    snapshot = LiveSnapshot(state, at: Script.at(130), title: "")
    #expect(snapshot.state == "running")
  }

  @Test func `with the tree followed its size is shown`() {
    let state = Script.state(
      Script.start(followsChildren: true),
      [
        .member(
          MemberSeen(
            pid: ProcessID(100), parent: ProcessID(1), name: [], at: Script.at(0), cpuBefore: .zero)
        )
      ])
    #expect(LiveSnapshot(state, at: Script.at(1), title: "").processCount == 1)
  }
}
