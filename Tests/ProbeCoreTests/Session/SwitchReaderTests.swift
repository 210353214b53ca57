// Whether switch records are used: from the first rest on where permitted, and silently not elsewhere.

import Testing

@testable import ProbeCore

@Suite struct SwitchReaderTests {
  private static let isPermitted = (try? SwitchTrace(OwnProcess.thread)) != nil

  /// At a known home.
  private func restingDetector() -> LoopDetector {
    var detector = LoopDetector(
      tid: ThreadID(77),
      LoopDetector.Settings(threshold: .ms(250), probePeriod: .ms(25), observer: .proc))
    for turn in 0..<20 as Range<Int64> {
      detector.take(
        ThreadProbe(
          at: Instant(nanoseconds: turn * 25_000_000), state: .waiting(Site.poll), cpu: .zero,
          runDelay: .zero, slices: UInt64(turn), sleeps: UInt64(turn)))
    }
    #expect(detector.isAtRest)
    return detector
  }

  private let later = Instant(nanoseconds: 10_000_000_000)

  @Test(arguments: [13, 1, 38, 24] as [Int32])
  func `a refusal is said and changes nothing`(code: Int32) {
    // EACCES, EPERM, ENOSYS, EMFILE
    var opened = 0
    var detector = restingDetector()
    var reader = SwitchReader(from: Instant(nanoseconds: 0)) { _ throws(SystemError) in
      opened += 1
      throw SystemError(call: "perf_event_open", code: code)
    }
    for _ in 0..<3 {
      reader.begin(ThreadID(77), at: later, &detector)
      reader.read(ThreadID(77), into: &detector)
    }
    #expect(opened == 1)
    guard case .refused(let why) = reader.standing else {
      Issue.record("\(reader.standing)")
      return
    }
    #expect(why.contains("perf_event_open"))
    #expect(reader.standing.text == why)
    #expect(detector.isAtRest && detector.brokenSpans == 0)
  }

  @Test func `nothing is opened at the start, nor before the loop is at rest`() {
    var opened = 0
    func reader(from start: Instant) -> SwitchReader {
      SwitchReader(from: start) { _ throws(SystemError) in
        opened += 1
        throw SystemError(call: "perf_event_open", code: 1)
      }
    }
    var early = reader(from: later)
    var resting = restingDetector()
    early.begin(ThreadID(77), at: later + .ms(200), &resting)
    #expect(early.standing == .notTried)
    var busy = reader(from: Instant(nanoseconds: 0))
    var learning = LoopDetector(
      tid: ThreadID(77),
      LoopDetector.Settings(threshold: .ms(250), probePeriod: .ms(25), observer: .proc))
    busy.begin(ThreadID(77), at: later, &learning)
    #expect(busy.standing == .notTried)
    #expect(opened == 0)
  }

  @Test func `beside the kernel's tracepoints they are not needed`() {
    var reader = SwitchReader(from: Instant(nanoseconds: 0))
    reader.end()
    var detector = restingDetector()
    reader.begin(ThreadID(77), at: later, &detector)
    #expect(!reader.standing.isUsed)
  }

  @Test(.enabled("perf_event_open is refused here") { Self.isPermitted })
  func `a thread that is switched too often is let alone`() throws {
    let end = OwnThread.Flag()
    let thread = OwnThread {
      // Sleeps more than ten thousand times a second.
      while !end.isSet { OwnThread.pause() }
    }
    var detector = restingDetector()
    var reader = SwitchReader(from: Instant(nanoseconds: 0))
    reader.begin(thread.tid, at: later, &detector)
    #expect(reader.standing.isUsed)
    for _ in 0..<100_000 where reader.standing.isUsed {
      OwnThread.pause()
      reader.read(thread.tid, into: &detector)
    }
    end.set()
    thread.join()
    guard case .givenUp(let why) = reader.standing else {
      Issue.record("\(reader.standing)")
      return
    }
    #expect(why.contains("times a second"))
  }
}
