// What is told of waits, as times with errors; bounded and safe whatever a recording says.

import Testing

@testable import ProbeCore

@Suite struct WaitProfilesTests {
  private func reading(
    blocked: Int64, unseen: Int64 = 0, _ rows: [WaitProfileReading.Row]
  ) -> ProbeEvent {
    .waitProfile(
      WaitProfileReading(
        tid: ThreadID(7), length: .seconds(10), blocked: .milliseconds(blocked),
        unseen: .milliseconds(unseen), rows: rows))
  }

  private func profile(_ events: [ProbeEvent]) throws -> Summary.WaitProfile {
    try #require(Script.summary([Script.seen(7, "ui")] + events).waits.first)
  }

  @Test func `later rows replace those with their number, others stay`() throws {
    let profile = try profile([
      reading(
        blocked: 30,
        [
          .init(number: 0, call: "poll", category: .idle, exact: .milliseconds(20)),
          .init(number: 1, call: "read", category: .pipe, object: "x", exact: .milliseconds(10)),
        ]),
      reading(
        blocked: 60,
        [.init(number: 1, call: "read", category: .pipe, object: "y", exact: .milliseconds(40))]),
    ])
    #expect(profile.name == "ui" && profile.blocked == .milliseconds(60))
    #expect(profile.rows.map(\.call) == ["read", "poll"])
    #expect(profile.rows.map(\.time) == [.milliseconds(40), .milliseconds(20)])
    #expect(profile.rows.map(\.object) == ["y", nil])
    #expect(profile.unseen == .zero)
  }

  @Test func `sleeps that nobody saw go to their like, in proportion to what was seen of them`()
    throws
  {
    let profile = try profile([
      reading(
        blocked: 100, unseen: 40,
        [
          .init(number: 0, call: "poll", category: .idle, exact: .milliseconds(60)),
          .init(
            number: 1, call: "fsync", category: .disk, exact: .zero, hits: 3,
            hitTime: .milliseconds(75)),
          .init(
            number: 2, call: "read", category: .pipe, exact: .zero, hits: 1,
            hitTime: .milliseconds(25)),
        ])
    ])
    #expect(profile.rows.map(\.time) == [60, 30, 10].map { .milliseconds($0) })
    #expect(profile.unseen == .zero)
    // 4 of 6 and 2 of 6 by the rule of succession: 2 sqrt(2/3 * 1/3 / 7) = 0.36 of 40 ms.
    for row in profile.rows.dropFirst() {
      #expect(abs(row.error.inMilliseconds - 14.25) < 0.1)
    }
    #expect(profile.rows[0].error == .zero)
  }

  @Test func `where no short sleep was seen they stay unseen`() throws {
    let profile = try profile([
      reading(
        blocked: 100, unseen: 40,
        [.init(number: 0, call: "poll", category: .idle, exact: .milliseconds(60))])
    ])
    #expect(profile.rows[0].time == .milliseconds(60) && profile.unseen == .milliseconds(40))
  }

  @Test func `rows of the same name are one`() throws {
    let profile = try profile([
      reading(
        blocked: 30,
        [
          .init(
            number: 0, call: "fsync", category: .disk, object: "/a", exact: .milliseconds(10),
            longest: .milliseconds(4)),
          .init(
            number: 1, call: "fsync", category: .disk, object: "/a", exact: .milliseconds(20),
            longest: .milliseconds(9)),
        ])
    ])
    #expect(profile.rows.count == 1)
    #expect(profile.rows[0].time == .milliseconds(30) && profile.rows[0].seen == 2)
    #expect(profile.rows[0].longest == .milliseconds(9))
  }

  @Test func `calls from different functions are one row with their stacks, the longest first`()
    throws
  {
    func row(_ number: Int, _ time: Int64) -> WaitProfileReading.Row {
      .init(
        number: number, call: "read", category: .pipe, object: "pipe", exact: .milliseconds(time))
    }
    func place(_ number: Int, _ function: String) -> ProbeEvent {
      .codePlace(
        CodePlaceReading(
          number: number,
          frames: [
            Summary.Frame(
              function: function, module: "/opt/app", offset: "0x1", found: .cfi, inApp: true)
          ]))
    }
    func stack(_ row: Int, _ place: Int) -> ProbeEvent {
      .waitStack(
        WaitStackReading(tid: ThreadID(7), row: row, places: [place], truncation: nil))
    }
    let summary = Script.summary([
      Script.seen(7, "ui"), place(1, "load"), place(2, "save"), stack(0, 1), stack(1, 2),
      // The same function, called from elsewhere on the stack.
      stack(2, 2), reading(blocked: 100, [row(0, 30), row(1, 25), row(2, 25), row(3, 20)]),
    ])
    let only = try #require(summary.waits.first?.rows.first)
    #expect(summary.waits[0].rows.count == 1 && only.time == .milliseconds(100))
    #expect(only.stacks.map(\.time) == [.milliseconds(50), .milliseconds(30)])
    #expect(
      WaitFolded.render(summary) == """
        ui;[no stack];[read pipe] 20000
        ui;load;[read pipe] 30000
        ui;save;[read pipe] 50000

        """)
    let text = TextReport.render(summary, style: .file, allWaits: true)
    #expect(text.contains("read for pipe, 50 % of it from") && text.contains("      save"))
  }

  @Test func `a hostile recording fills no memory and traps nowhere`() throws {
    var rows = (0..<1000).map {
      WaitProfileReading.Row(
        number: $0, call: "c\($0)", category: .lock, exact: Nanoseconds(.max),
        sampled: Nanoseconds(.min), sampledError: Nanoseconds(.max), hits: .max,
        hitTime: Nanoseconds(.max), seen: .max, longest: Nanoseconds(.min))
    }
    rows[1].hits = .min
    let events = (0..<200).map { tid in
      ProbeEvent.waitProfile(
        WaitProfileReading(
          tid: ThreadID(tid), length: Nanoseconds(.min), blocked: Nanoseconds(.max),
          unseen: Nanoseconds(.max), rows: rows))
    }
    let summary = Script.summary(events)
    #expect(summary.waits.count == WaitProfiles.capacity)
    #expect(summary.waits.allSatisfy { $0.rows.count <= WaitProfiles.rowCapacity })
    #expect(!TextReport.render(summary, style: .file, allWaits: true).isEmpty)
  }

  @Test func `folded lines hold thread, kind, call and object, in microseconds`() {
    let summary = Script.summary([
      Script.seen(7, "u;i"), .waitProfile(WaitSamples.profile),
    ])
    var renamed = summary
    renamed.waits[0].name = "u;i"
    renamed.waits[0].rows[1].time = .milliseconds(2)
    let lines = WaitFolded.render(renamed).split(separator: "\n")
    #expect(lines.contains("u:i;events;[poll] 2000000"))
    #expect(
      lines.contains { $0.hasPrefix("u:i;pipe;[read pipe from x") && $0.hasSuffix("] 2000") })
    #expect(!lines.contains { $0.contains("\u{1b}") })
  }
}
