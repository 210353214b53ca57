// Before there is a loop, and when it ends: start-up, exit, detaching, attaching in the middle.

import Testing

@testable import ProbeCore

@Suite struct StartAndEndTests {
  static let both = [LoopObserver.proc, .kernel]

  @Test(arguments: both)
  func `start-up goes to the first idle wait and is a stall of its own kind`(
    observer: LoopObserver
  ) {
    let told = Watching(observer: observer, isLaunched: true).watch(
      [.ms(300), .wait(Site.file, .ms(300))] + calm(Site.poll))
    #expect(told.stalls.map(\.kind) == [.startup])
    #expect(told.counted.isEmpty)
    let error = observer == .kernel ? 0.001 : 25
    let wake = SimulatedThread.betweenWaits.inMilliseconds
    #expect(told.reading.startup.map { abs($0.inMilliseconds - 600 - wake) <= error } == true)
    #expect(told.stalls.first?.start == SimulatedThread.birth)
  }

  @Test(arguments: both)
  func `a quick start-up is measured but no stall`(observer: LoopObserver) {
    let told = Watching(observer: observer, isLaunched: true).watch([.ms(100)] + calm(Site.poll))
    #expect(told.stalls.isEmpty)
    #expect(told.reading.startup.map { abs($0.inMilliseconds - 100) <= 25 } == true)
  }

  @Test(arguments: both)
  func `a single idle wait on the way does not end start-up`(observer: LoopObserver) {
    let told = Watching(observer: observer, isLaunched: true).watch(
      [.ms(200), .wait(Site.connectPoll, .ms(50)), .ms(350)] + calm(Site.poll))
    #expect(told.stalls.map(\.kind) == [.startup])
    #expect(told.reading.startup.map { abs($0.inMilliseconds - 600) <= 25 } == true)
  }

  /// Eight waits at eight places make it a multiplexer's program before any of them is its loop.
  @Test(arguments: both)
  func `start-up ends at the loop's first wait, however long that is`(observer: LoopObserver) {
    var script: [Act] = []
    for depth in 1...8 as ClosedRange<UInt64> {
      let connect = Site.wait(7, .idle, .idle, deeper: depth * 400, code: 0x11_8000)
      script += [.ms(10), .wait(connect, .ms(40))]
    }
    script += [.ms(10), .wait(Site.epoll, .seconds(30))] + calm(Site.epoll)
    let told = Watching(observer: observer, isLaunched: true).watch(script)
    #expect(told.reading.startup.map { abs($0.inMilliseconds - 410) <= 25 } == true)
    #expect(told.counted.isEmpty)
  }

  @Test(arguments: both)
  func `of a program that was attached to no start-up is told`(observer: LoopObserver) {
    let told = Watching(observer: observer).watch([.ms(900)] + calm(Site.poll))
    #expect(told.stalls.isEmpty)
    #expect(told.reading.startup == nil)
  }

  @Test(arguments: both, [Site.poll, Site.sleep])
  func `attached to a thread at home, the next turn is judged`(
    observer: LoopObserver, home: Wait
  ) {
    let script: [Act] = [.wait(home, .ms(300)), .ms(400)] + calm(home)
    let told = Watching(observer: observer, attachAfter: .ms(100)).watch(script)
    #expect(told.stalls.count == 1)
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 400) <= 25 })
  }

  @Test(arguments: both)
  func `attached in the middle of a turn, the turns after it are judged`(observer: LoopObserver) {
    let script =
      calm(Site.poll, turns: 10) + [.ms(800)] + calm(Site.poll) + [.ms(400)]
      + calm(Site.poll)
    let told = Watching(observer: observer, attachAfter: .ms(500)).watch(script)
    #expect(told.stalls.map { Int($0.duration.inMilliseconds) / 25 } == [16])
  }

  @Test(arguments: both)
  func `a turn that the program's exit ends is an exit stall`(observer: LoopObserver) {
    let told = Watching(observer: observer).watch(calm(Site.poll) + [.ms(500)])
    #expect(told.stalls.map(\.kind) == [.exit])
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 501) <= 25 })
  }

  @Test(arguments: both)
  func `an exit while at home, or a quick one, is no stall`(observer: LoopObserver) {
    let watching = Watching(observer: observer)
    #expect(watching.watch(calm(Site.poll) + [.wait(Site.poll, .seconds(5))]).stalls.isEmpty)
    #expect(watching.watch(calm(Site.poll) + [.ms(150)]).stalls.isEmpty)
  }

  @Test(arguments: both)
  func `the kernel taking the process apart is not the program's doing`(observer: LoopObserver) {
    let told = Watching(observer: observer).watch(
      calm(Site.poll) + [.ms(100), .exiting(.seconds(2))])
    #expect(told.stalls.isEmpty)
    let stalled = Watching(observer: observer).watch(
      calm(Site.poll) + [.ms(400), .exiting(.seconds(2))])
    #expect(stalled.stalls.map(\.kind) == [.exit])
    #expect(stalled.stalls.allSatisfy { abs($0.duration.inMilliseconds - 401) <= 25 })
  }

  @Test(arguments: both, [Site.child, Site.join])
  func `waiting for children or threads on the way out is no stall`(
    observer: LoopObserver, wait: Wait
  ) {
    let watching = Watching(observer: observer)
    let calmly = calm(Site.poll) + [.ms(100), .wait(wait, .seconds(5)), .ms(20)]
    #expect(watching.watch(calmly).stalls.isEmpty)
    // The same in the middle of its life is one.
    #expect(watching.watch(calmly + calm(Site.poll)).stalls.map(\.kind) == [.stall])
    // What it computes on the way out still counts.
    let busy = calm(Site.poll) + [.ms(400), .wait(wait, .seconds(5))]
    #expect(watching.watch(busy).stalls.map(\.kind) == [.exit])
  }

  @Test(arguments: both)
  func `a stall that we let go of is told with its length so far`(observer: LoopObserver) {
    let script = calm(Site.poll, turns: 10) + [.seconds(5)] + calm(Site.poll)
    // Ten turns of 21 ms, then 590 ms of the stall.
    let told = Watching(observer: observer, ending: .detachedAfter(.ms(800))).watch(script)
    #expect(told.stalls.map(\.kind) == [.stall])
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 591) <= 25 })
    let early = Watching(observer: observer, ending: .detachedAfter(.ms(350))).watch(script)
    #expect(early.stalls.isEmpty)
    #expect(early.began.isEmpty)
  }

  @Test(arguments: both)
  func `a thread that vanishes in the middle of a turn is told with its length so far`(
    observer: LoopObserver
  ) {
    let told = Watching(observer: observer, ending: .detached).watch(calm(Site.poll) + [.ms(700)])
    #expect(told.stalls.map(\.kind) == [.stall])
    #expect(told.stalls.allSatisfy { abs($0.duration.inMilliseconds - 701) <= 25 })
  }

  @Test(arguments: both)
  func `nothing was seen at all`(observer: LoopObserver) {
    let told = Watching(observer: observer, attachAfter: .seconds(99)).watch([.ms(1)])
    #expect(told.stalls.isEmpty)
    #expect(told.reading.verdictless != nil)
  }
}

extension Act {
  static func seconds(_ seconds: Int64) -> Act { .compute(.seconds(seconds)) }
}
