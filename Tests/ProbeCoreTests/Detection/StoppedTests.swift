// Time in which the thread was stopped: part of a turn's length, but nobody's stall.

import Testing

@testable import ProbeCore

@Suite struct StoppedTests {
  static let both = [LoopObserver.proc, .kernel]

  @Test(arguments: both)
  func `a program that was stopped while it ran did not stall`(observer: LoopObserver) {
    let script = calm(Site.poll) + [.ms(20), .stopped(.seconds(3)), .ms(20)] + calm(Site.poll)
    #expect(Watching(observer: observer).watch(script).stalls.isEmpty)
  }

  @Test(arguments: both)
  func `a program that was stopped at home and goes back to its wait did not stall`(
    observer: LoopObserver
  ) {
    let script =
      calm(Site.poll)
      + [
        .wait(Site.poll, .ms(50)), .stoppedIn(.seconds(3)), .wait(Site.poll, .ms(50)),
        .ms(1),
      ] + calm(Site.poll)
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.isEmpty)
  }

  @Test(arguments: both)
  func `a stall that was stopped in the middle is judged by the rest`(observer: LoopObserver) {
    func script(_ part: Int64) -> [Act] {
      calm(Site.poll) + [.ms(part), .stopped(.seconds(2)), .ms(part)] + calm(Site.poll)
    }
    #expect(Watching(observer: observer).watch(script(90)).stalls.isEmpty)
    let told = Watching(observer: observer).watch(script(200))
    #expect(told.stalls.count == 1)
    #expect(told.stalls.allSatisfy { abs($0.parts.stopped.inMilliseconds - 2000) <= 32 })
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 2400) <= 25 })
  }
}
