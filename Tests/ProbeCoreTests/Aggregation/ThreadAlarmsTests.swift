// Thread alarms in the summary, in the report and in the live view.

import Testing

@testable import ProbeCore

@Suite struct ThreadAlarmsTests {
  private static func place(_ number: Int, _ function: String, inApp: Bool) -> ProbeEvent {
    .codePlace(
      CodePlaceReading(
        number: number,
        frames: [
          Summary.Frame(
            function: function, module: inApp ? "/opt/app" : "/lib/libc.so.6", offset: "0x1",
            found: .cfi, inApp: inApp)
        ]))
  }

  private static let events: [ProbeEvent] = [
    Script.seen(42, "main"), place(1, "pthread_mutex_lock", inApp: false),
    place(2, "take", inApp: true), .threadAlarm(WaitSamples.alarm), .parked(WaitSamples.parked),
  ]

  @Test func `the sentence says how many, how fast, where, and what it did to the main thread`()
    throws
  {
    let alarm = try #require(Script.summary(Self.events).threads.alarms.first)
    #expect(
      alarm.sentence
        == "81 threads at most, 69 of them came within 100 ms, from 500 ms on; 58 of 64 wait at the same lock, "
        + "in take: a mutex held by thread ma\\x1bin (tid 42), which was running; "
        + "main waits for a CPU 10.0 % of the time, 0.20 % before")
    #expect(alarm.looked == 64 && alarm.blocked == 62)
    #expect(alarm.parked.map(\.count) == [60, 2])
    #expect(alarm.parked[0].frames.compactMap(\.function) == ["pthread_mutex_lock", "take"])
    #expect(alarm.runDelayBefore == 0.2 && alarm.runDelayDuring == 10)
  }

  @Test func `where they wait for different things the commonest stack is told`() throws {
    var parked = WaitSamples.parked
    parked.objects = []
    let alarm = try #require(
      Script.summary(Self.events.dropLast() + [.parked(parked)]).threads.alarms.first)
    #expect(alarm.sentence.contains("; 60 of 64 are in futex, in take; "))
    parked.groups = (0..<9).map { .init(count: 1, call: "read", places: [$0]) }
    let spread = try #require(
      Script.summary(Self.events.dropLast() + [.parked(parked)]).threads.alarms.first)
    #expect(spread.sentence.contains("62 of 64 are blocked at different places"))
    parked.blocked = 3
    let busy = try #require(
      Script.summary(Self.events.dropLast() + [.parked(parked)]).threads.alarms.first)
    #expect(busy.sentence.contains("61 of 64 run or are ready to"))
  }

  @Test func `a delay that was not there before is blamed on them, else it is said that it is not`()
    throws
  {
    func sentence(_ before: Int64?, _ during: Int64) throws -> String {
      var alarm = WaitSamples.alarm
      alarm.before = before.map { .init(.milliseconds($0), over: .seconds(1)) }
      alarm.during = .init(.milliseconds(during), over: .seconds(1))
      return try #require(
        Script.summary([Script.seen(42, "main"), .threadAlarm(alarm)]).threads.alarms.first
      ).sentence
    }
    #expect(try sentence(100, 150).hasSuffix("main waits no longer for a CPU than before"))
    #expect(try sentence(0, 5).hasSuffix("main waits no longer for a CPU than before"))
    #expect(
      try sentence(10, 150).hasSuffix("main waits for a CPU 15.0 % of the time, 1.00 % before"))
    // What it was before is not known: a little proves nothing.
    #expect(try !sentence(nil, 50).contains("CPU"))
    #expect(try sentence(nil, 300).hasSuffix("main waits for a CPU 30.0 % of the time"))
  }

  @Test func `the live view tells of an alarm once, when it is known where they are`() {
    var alarm = WaitSamples.alarm
    alarm.endedAt = nil
    var state = Script.state(
      [.capability("observer", value: "proc")] + Self.events.dropLast(2) + [.threadAlarm(alarm)])
    #expect(state.alarmTexts(after: 0) == [])
    state.apply(Self.events[4])
    #expect(state.alarmTexts(after: 0).count == 1)
    #expect(state.alarmTexts(after: 1) == [])
    let snapshot = LiveSnapshot(state, at: Script.at(900), title: "")
    let block = LiveBlock.render(
      snapshot, size: (200, 24), style: TextStyle(color: false, unicode: true, width: 200))
    #expect(block.count { $0.hasPrefix("! thread alarm: 81 threads") } == 1)
    #expect(!block.joined().contains("\u{1b}"))
  }

  @Test func `an alarm of which nobody can say where they are is told of all the same`() {
    var alarm = WaitSamples.alarm
    alarm.endedAt = nil
    var state = Script.state([.capability("observer", value: "proc"), .threadAlarm(alarm)])
    #expect(state.alarmTexts(after: 0) == [])
    state.apply(Script.tick(2200, cpu: 1))
    #expect(state.alarmTexts(after: 0).count == 1)
    // Where no stalls are watched nobody looks, and there is nothing to wait for.
    #expect(Script.state([.threadAlarm(alarm)]).alarmTexts(after: 0).count == 1)
  }

  @Test func `alarms are bounded, and what belongs to none is left out`() {
    let many = (0..<1000).map {
      ProbeEvent.threadAlarm(
        ThreadAlarmReading(
          number: $0, at: Script.at(1), reason: .growth, limit: .min, threads: .min))
    }
    var orphan = WaitSamples.parked
    orphan.alarm = 7777
    var hostile = WaitSamples.parked
    hostile.alarm = 3
    (hostile.looked, hostile.blocked) = (.max, .min)
    hostile.groups = Array(repeating: .init(count: .max, call: nil, places: [.max]), count: 999)
    hostile.objects[0].count = .max
    var grown = WaitSamples.alarm
    grown.grown = (from: .min, since: Instant(nanoseconds: .max))
    let summary = Script.summary(
      [.threadAlarm(grown)] + many + [.parked(orphan), .parked(hostile)])
    #expect(summary.threads.alarms.count == ThreadAlarms.capacity)
    #expect(!TextReport.render(summary, style: .file).isEmpty)
  }

  @Test func `the report shows the stacks of the parked threads`() {
    let text = TextReport.render(Script.summary(Self.events), style: .file)
    #expect(text.contains("thread alarm: 81 threads at most"))
    #expect(text.contains("60 threads in futex, innermost function first"))
    #expect(text.contains("      take"))
    #expect(text.contains("and 2 threads with other stacks") == false)
    let folded = WaitFolded.renderThreads(Script.summary(Self.events))
    #expect(folded.contains("alarm 1;[truncated];take;pthread_mutex_lock;[futex] 60\n"))
  }
}
