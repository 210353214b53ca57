import Testing

@testable import ProbeCore

@Suite struct ReplayTests {
  private let events: [ProbeEvent] = [
    .started(Script.start()), Script.seen(100, "main", isNew: false), Script.tick(0, cpu: 0),
    Script.tick(100, cpu: 40, [(100, 40)]), Script.memory(100, anonymous: 4096, peak: 8192),
    Script.times(user: 3, system: 1), Script.tick(200, cpu: 90, [(100, 90)]),
    .exited(TargetExit(at: Script.at(210), status: .code(3), maxResident: nil)),
    Script.ended(210),
  ]

  private func recording() -> (bytes: [UInt8], ends: [Int]) {
    var out = ByteWriter()
    var ends: [Int] = []
    for event in events {
      EventCodec.encode(event, into: &out)
      ends.append(RecordingFormat.magic.count + out.count)
    }
    return (RecordingFormat.magic + out.bytes, ends)
  }

  @Test func `a whole recording gives what the live fold gives`() throws {
    let bytes = recording().bytes
    var live = Script.state(Array(events.dropFirst())).summary()
    live.exit.perfwatch = 3
    let replayed = try Replay.summary(bytes, name: "x")
    #expect(replayed == live)
    #expect(replayed.run.complete)

    // Live, the bytes come in batches of whole frames.
    var fold = EventFold()
    var reader = ByteReader(bytes, from: RecordingFormat.magic.count, to: bytes.count)
    while let event = try EventCodec.decode(&reader) {
      var one = ByteWriter()
      EventCodec.encode(event, into: &one)
      fold.apply(one.bytes)
    }
    #expect(fold.state?.summary().cpu == replayed.cpu)
    #expect(fold.failure == nil)
  }

  @Test func `a recording cut anywhere gives what is there, marked incomplete, or says why not`()
    throws
  {
    let (bytes, ends) = recording()
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      let whole = ends.count { $0 <= count }
      guard count >= RecordingFormat.magic.count else {
        let error = #expect(throws: WatchError.self) { try Replay.summary(cut, name: "cut") }
        #expect(error?.message.contains("is no recording") == true)
        continue
      }
      guard whole > 0 else {
        let error = #expect(throws: WatchError.self) { try Replay.summary(cut, name: "cut") }
        #expect(error?.message.contains("before its first event") == true)
        continue
      }
      let summary = try Replay.summary(cut, name: "cut")
      #expect(!summary.run.complete, "cut at \(count)")
      #expect(summary.warning(.recordingCut) != nil)
      let expected = Script.state(Array(events[1..<whole])).summary()
      #expect(summary.cpu == expected.cpu && summary.memory == expected.memory, "cut at \(count)")
    }
  }

  @Test func `what follows an unreadable frame is left out`() throws {
    var (bytes, ends) = recording()
    // The kind of the fifth frame stays, its payload becomes endless numbers.
    for index in ends[3] + 5..<ends[4] { bytes[index] = 0xff }
    let summary = try Replay.summary(bytes, name: "x")
    #expect(!summary.run.complete)
    #expect(summary.cpu.total == .milliseconds(40))
    #expect(summary.memory.footprintPeak == nil)
  }

  @Test func `a second start inside a recording does not begin anew`() throws {
    var out = ByteWriter()
    for event in events.prefix(4) + [events[0]] + events.dropFirst(4) {
      EventCodec.encode(event, into: &out)
    }
    let summary = try Replay.summary(RecordingFormat.magic + out.bytes, name: "x")
    #expect(summary.cpu.total == .milliseconds(90))
  }

  @Test func `a file that cannot be read is named, without raw bytes of its name`() {
    let error = #expect(throws: WatchError.self) {
      try Replay.summary(of: "/no/such\u{1b}[31m/file")
    }
    #expect(error?.message == "cannot read /no/such\\x1b[31m/file: No such file or directory")
  }
}
