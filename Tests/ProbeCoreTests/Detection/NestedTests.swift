// Loops within handlers: modal dialogs, synchronous waits, and which of two depths is the home.

import Testing

@testable import ProbeCore

@Suite struct NestedTests {
  static let both = [LoopObserver.proc, .kernel]

  @Test(arguments: both)
  func `a modal dialog is a nested wait, not counted as a stall`(observer: LoopObserver) {
    let script =
      calm(Site.poll) + times(8, .wait(Site.innerPoll, .ms(100)), .ms(1))
      + calm(Site.poll)
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.map(\.kind) == [.nested])
    #expect(told.counted.isEmpty)
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 809) <= 25 })
    #expect(told.stalls.allSatisfy { $0.parts.otherWait > .ms(700) })
  }

  @Test(arguments: both)
  func `a long synchronous wait stays a nested one to its end`(observer: LoopObserver) {
    for seconds in [1, 6, 20] as [Int64] {
      let script =
        calm(Site.poll) + [.ms(20), .wait(Site.innerPoll, .seconds(seconds)), .ms(1)]
        + calm(Site.poll)
      let told = Watching(observer: observer).watch(script)
      #expect(told.stalls.map(\.kind) == [.nested], "\(seconds) s")
      let length = Double(seconds) * 1000 + 22
      #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - length) <= 25 })
    }
  }

  @Test(arguments: both)
  func `a dialog that stays open becomes the home, and stalls in it are found`(
    observer: LoopObserver
  ) {
    let dialog =
      calm(Site.innerPoll, turns: 400) + [.wait(Site.innerPoll, .ms(20)), .ms(600)]
      + calm(Site.innerPoll, turns: 100)
    let told = Watching(observer: observer).watch(calm(Site.poll) + dialog + calm(Site.poll))
    #expect(told.counted.count == 1)
    #expect(told.counted.allSatisfy { abs($0.duration.inMilliseconds - 600) <= 25 })
  }

  @Test(arguments: both)
  func `the first wait may lie further out than the loop`(observer: LoopObserver) {
    let script =
      [.wait(Site.poll, .ms(700)), .ms(5)] + calm(Site.innerPoll, turns: 60)
      + [.wait(Site.innerPoll, .ms(20)), .ms(400)] + calm(Site.innerPoll)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.counted.allSatisfy { abs($0.duration.inMilliseconds - 400) <= 25 })
    #expect(told.stalls.filter { $0.kind == .nested }.isEmpty)
  }

  @Test(arguments: both)
  func `a poll only a little deeper is the same loop`(observer: LoopObserver) {
    let near = Site.wait(7, .idle, .idle, deeper: 512, code: 0x11_8000)
    let far = Site.wait(7, .idle, .idle, deeper: 513, code: 0x11_8000)
    func told(_ inner: Wait) -> [StallKind] {
      Watching(observer: observer).watch(
        calm(Site.poll) + [.ms(1), .wait(inner, .ms(400)), .ms(1)] + calm(Site.poll)
      ).stalls.map(\.kind)
    }
    #expect(told(near).isEmpty)
    #expect(told(far) == [.nested])
  }

  @Test(arguments: both)
  func `killed while a dialog is open, the program did not stall`(observer: LoopObserver) {
    let script = calm(Site.poll) + times(5, .wait(Site.innerPoll, .ms(500)), .ms(1))
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.map(\.kind) == [.nested])
  }

  /// The handler computes before it opens its inner loop: in that time nobody is served.
  @Test(arguments: both)
  func `work before a nested wait is a stall when it is long enough by itself`(
    observer: LoopObserver
  ) {
    func told(_ work: Int64) -> [StallKind] {
      Watching(observer: observer).watch(
        calm(Site.poll) + [.ms(work), .wait(Site.innerPoll, .ms(600)), .ms(1)] + calm(Site.poll)
      ).stalls.map(\.kind)
    }
    #expect(told(500) == [.stall, .nested])
    #expect(told(150) == [.nested])
  }
}
