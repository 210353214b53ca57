import Testing

@testable import ProbeCore

@Suite struct SessionNoticesTests {
  @Test(arguments: [
    (90, true), (94, true), (95, false), (2000, false),  // 95 ms is the shortest window for a rate
  ])
  func `a short run has a warning`(milliseconds: Int64, warns: Bool) {
    let summary = Script.summary([Script.tick(1, cpu: 1), Script.ended(milliseconds)])
    #expect((summary.warning(.shortRun) != nil) == warns)
  }

  @Test func `a run that never came to a tick is not called short`() {
    #expect(Script.summary([Script.ended(3)]).warning(.shortRun) == nil)
  }

  @Test(
    arguments: [
      // own CPU in ms, waited-for children's ticks before and after (10 ms each)
      (100, 0, 0, nil), (100, 0, 10, nil), (100, 0, 30, "75 %"), (50, 0, 10, "67 %"),
      (10, 0, 11, "92 %"), (2, 0, 2, "91 %"), (2, 0, 1, nil), (100, 1000, 1030, "75 %"),
      (100, 1000, 1005, nil),
    ] as [(Int64, UInt64, UInt64, String?)])
  func `most of the work in children is noticed`(
    own: Int64, before: UInt64, after: UInt64, share: String?
  ) {
    let summary = Script.summary(
      Script.start(launched: false),
      [
        Script.times(childUser: before), Script.tick(500, cpu: own),
        Script.times(
          user: 1, childUser: after - after / 2 + before / 2, childSystem: after / 2 - before / 2),
        Script.ended(500),
      ])
    let warning = summary.warning(.workInChildren)
    #expect((warning != nil) == (share != nil))
    if let share { #expect(warning?.message.contains(share) == true, "\(warning as Any)") }
  }

  @Test func `with the whole tree counted there is no advice to count it`() {
    let summary = Script.summary(
      Script.start(followsChildren: true),
      [Script.tick(500, cpu: 100), Script.times(childUser: 500), Script.ended(500)])
    #expect(summary.warning(.workInChildren) == nil)
    #expect(summary.tree != nil)
  }

  @Test func `a launched target's children all count from zero`() {
    let summary = Script.summary([
      Script.times(childUser: 20), Script.tick(500, cpu: 100), Script.times(childUser: 30),
      Script.ended(500),
    ])
    #expect(summary.warning(.workInChildren)?.message.contains("75 %") == true)
  }

  @Test(
    arguments: [
      // ru_maxrss, ours when we forked, child faults, whether stat was read; the resident peak
      (9000, 5000, 0, true, 9000),  // larger than ours was, no child: the target's own
      (9000, 9000, 0, true, 100),  // may be ours: the kernel lets it begin there
      (4000, 9000, 0, true, 100), (9000, 5000, 1, true, 100),  // may be a child's
      (9000, 5000, 0, false, 100),  // not known whether there were children
      (9000, nil, 0, true, 100), (nil, 5000, 0, true, 100), (50, 10, 0, true, 100),
    ] as [(UInt64?, UInt64?, UInt64, Bool, UInt64)])
  func `ru_maxrss counts only where it can be nobody else's`(
    reaped: UInt64?, launcher: UInt64?, childFaults: UInt64, hasTimes: Bool, expected: UInt64
  ) {
    var events = [Script.memory(10, anonymous: 1, peak: 100)]
    if hasTimes { events.append(Script.times(childFaults: childFaults)) }
    events.append(
      .exited(
        TargetExit(
          at: Script.at(20), status: .code(0), maxResident: reaped, launcherResident: launcher)))
    let summary = Script.summary(events)
    #expect(summary.memory.residentPeak == expected)
  }

  @Test func `a notice said again replaces its detail and keeps its place`() {
    let summary = Script.summary([
      .notice(.descriptorLimit, detail: "1 thread"), .notice(.otherUser, detail: "uid 7"),
      .notice(.descriptorLimit, detail: "9 threads"), Script.ended(200),
    ])
    #expect(summary.warnings.map(\.code) == ["descriptor-limit", "other-user"])
    #expect(summary.warnings.first?.message.hasSuffix("9 threads") == true)
    #expect(summary.warnings.allSatisfy { !$0.advice.isEmpty })
  }

  @Test func `dropped events are a warning`() {
    let summary = Script.summary([
      .observer(ObserverReading(cpu: .milliseconds(3), residentPeak: 5, droppedEvents: 4)),
      Script.ended(300),
    ])
    #expect(summary.warning(.droppedEvents)?.message.contains("4 events") == true)
    #expect(summary.observer.cpu == .milliseconds(3))
    #expect(summary.observer.cpuPercent == 1)
    #expect(summary.observer.residentPeak == 5)
  }

  @Test(
    arguments: [
      (.code(7), 7, nil), (.signal(11), nil, 11),
    ] as [(ProbeCore.ExitStatus, Int32?, Int32?)])
  func `the exit status is told apart`(status: ProbeCore.ExitStatus, code: Int32?, signal: Int32?) {
    let summary = Script.summary([
      .exited(TargetExit(at: Script.at(20), status: status, maxResident: nil)), Script.ended(20),
    ])
    #expect(summary.exit.code == code && summary.exit.signal == signal)
  }

  @Test func `two states are equal when they report the same`() {
    let events = [Script.tick(100, cpu: 5), Script.ended(100)]
    #expect(Script.state(events) == Script.state(events))
    #expect(Script.state(events) != Script.state([Script.tick(100, cpu: 6), Script.ended(100)]))
  }
}
