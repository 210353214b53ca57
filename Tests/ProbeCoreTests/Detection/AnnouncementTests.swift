// A stall is told once when it reaches the threshold and once when it ends, under one number.

import Testing

@testable import ProbeCore

@Suite struct AnnouncementTests {
  static let both = [LoopObserver.proc, .kernel]

  @Test(arguments: both)
  func `a stall is announced while it lasts and ends under the same number`(
    observer: LoopObserver
  ) {
    let script =
      calm(Site.poll) + [.ms(900)] + calm(Site.poll) + [.wait(Site.file, .ms(700))]
      + calm(Site.poll)
    let told = Watching(observer: observer).watch(script)
    #expect(told.began.map(\.id) == [1, 2])
    #expect(told.stalls.map(\.id) == [1, 2])
    #expect(told.retracted.isEmpty)
    for (began, ended) in zip(told.began, told.stalls) {
      #expect(began.kind == ended.kind)
      #expect(began.tid == ended.tid)
      #expect(abs((began.start - ended.start).inMilliseconds) <= 25)
    }
  }

  @Test(arguments: both)
  func `a start-up stall is announced as one`(observer: LoopObserver) {
    let told = Watching(observer: observer, isLaunched: true).watch(
      [.wait(Site.connectPoll, .ms(5))] + calm(Site.connectPoll, turns: 1, wait: 2)
        + [.seconds(2)] + calm(Site.poll))
    #expect(told.stalls.map(\.kind) == [.startup])
    #expect(told.began.allSatisfy { $0.kind == .startup })
  }

  @Test func `an announced stall is taken back when records turn out to be missing`() {
    let script = calm(Site.poll) + [.seconds(2)] + calm(Site.poll)
    let told = Watching(observer: .kernel, lost: .ms(1500) ... .ms(1510)).watch(
      calm(Site.poll) + [.ms(600), .wait(Site.poll, .ms(300)), .ms(600)] + calm(Site.poll))
    #expect(told.stalls.count <= 2)
    let whole = Watching(observer: .kernel).watch(script)
    #expect(whole.began.count == 1)
    #expect(whole.retracted.isEmpty)
  }

  @Test func `a blind gap takes an announcement back`() {
    // Blocked away from home for long enough to be announced; then we do not look, and it moved.
    let script =
      calm(Site.poll) + [.wait(Site.file, .ms(400)), .ms(100)]
      + calm(Site.poll, turns: 30)
    let told = Watching(blind: [.ms(1180) ... .ms(1600)]).watch(script)
    #expect(told.began.map(\.id) == [1])
    #expect(told.retracted == [1])
    #expect(told.stalls.isEmpty)
  }

  @Test func `what the homes turn out to be takes announcements back`() {
    // Learnt as a sleeping loop; the waits of its real loop look like a stall until they repeat.
    let script =
      calm(Site.sleep, turns: 15, wait: 50)
      + times(12, .wait(Site.epoll, .ms(400)), .ms(1)) + calm(Site.epoll)
    let told = Watching().watch(script)
    #expect(told.counted.isEmpty)
    #expect(told.retractedAll)
  }

  @Test func `numbers begin where the settings say and are never used twice`() {
    var log = TurnLog(tid: ThreadID(1), observer: .kernel, threshold: .ms(100), firstID: 1_000_001)
    let start = Instant(nanoseconds: 0)
    func turn(_ length: Nanoseconds) -> Turn {
      Turn(
        kind: .stall, start: start, end: start + length, error: .zero, stopped: .zero,
        certainty: .exact, parts: .init())
    }
    log.begin(.stall, start: start)
    log.begin(.stall, start: start + .ms(5))
    log.retract()
    log.retract()
    log.end(turn(.ms(100)))
    log.begin(.stall, start: start)
    log.end(turn(.ms(99)))
    log.begin(.stall, start: start)
    log.end(turn(.ms(300)))
    var numbers: [String] = []
    for item in log.takeNews() {
      switch item {
      case .began(let stall): numbers.append("began \(stall.id - 1_000_000)")
      case .stalled(let stall): numbers.append("ended \(stall.id - 1_000_000)")
      case .retracted(let id): numbers.append("retracted \(id - 1_000_000)")
      }
    }
    #expect(
      numbers == [
        "began 1", "retracted 1", "ended 2", "began 3", "retracted 3", "began 4", "ended 4",
      ])
    #expect(log.takeNews().isEmpty)
  }
}
