// Where a loop is at home: idle waits anywhere, other waits where they are learnt, and never the rest.

import Testing

@testable import ProbeCore

@Suite struct HomeTests {
  @Test(
    arguments: [LoopObserver.proc, .kernel],
    [Site.poll, Site.epoll, Site.innerPoll, Site.sleep, Site.read, Site.condition])
  func `a loop is at home where it parks, and one stall in it is found`(
    observer: LoopObserver, home: Wait
  ) {
    let script = calm(home, turns: 30) + [.wait(home, .ms(20)), .ms(400)] + calm(home, turns: 30)
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.count == 1)
    #expect(told.stalls.first.map { abs($0.duration.inMilliseconds - 400) < 25 } == true)
    #expect(told.reading.verdictless == nil)
    #expect(told.reading.homes.first?.site == home.site)
  }

  @Test(
    arguments: [LoopObserver.proc, .kernel], [Site.poll, Site.sleep, Site.read, Site.condition])
  func `waiting at home for an hour is no stall`(observer: LoopObserver, home: Wait) {
    let script = calm(home) + [.wait(home, .seconds(3600))] + calm(home)
    let told = Watching(observer: observer, period: .ms(500)).watch(script)
    #expect(told.stalls.isEmpty)
    #expect(told.began.isEmpty)
  }

  @Test(arguments: [LoopObserver.proc, .kernel], [Site.sleep, Site.condition, Site.read])
  func `stalls seen while homes are still learnt are judged when they are known`(
    observer: LoopObserver, home: Wait
  ) {
    let script =
      calm(home, turns: 3) + [.ms(300)] + calm(home, turns: 2)
      + [.wait(Site.file, .ms(350))] + calm(home)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 2)
    #expect(told.reading.verdictless == nil)
  }

  // As Rust's runtime does: it polls its three descriptors once before main.
  @Test(arguments: [LoopObserver.proc, .kernel])
  func `one idle wait at the start does not hide the home of a loop that lies deeper`(
    observer: LoopObserver
  ) {
    var start = Site.poll
    start.site.stackPointer = Site.condition.site.stackPointer + 4096
    let script =
      [.wait(start, .ms(1))] + calm(Site.condition, turns: 12) + [.ms(400)]
      + calm(Site.condition, turns: 12)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.homes.first?.site == Site.condition.site)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a sleep in a handler is stall time though it is the same instruction as home`(
    observer: LoopObserver
  ) {
    let script = calm(Site.sleep) + [.wait(Site.handlerSleep, .ms(300))] + calm(Site.sleep)
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.map(\.kind) == [.stall])
    #expect((told.stalls.first?.parts.sleep).map { $0 > .ms(270) } == true)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a handler that sleeps as often as the loop does not become the home`(
    observer: LoopObserver
  ) {
    let script =
      times(60, .wait(Site.sleep, .ms(20)), .ms(1), .wait(Site.handlerSleep, .ms(20)))
      + [.wait(Site.sleep, .ms(20)), .ms(1), .wait(Site.handlerSleep, .ms(400))] + calm(Site.sleep)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.homes.map(\.site) == [Site.sleep.site])
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `sleeps, reads and locks are stall time where the loop is a multiplexer's`(
    observer: LoopObserver
  ) {
    for stall in [Site.handlerSleep, Site.handlerRead, Site.lock] {
      // Often enough to be learnt if nothing else were there.
      let script =
        calm(Site.epoll)
        + times(20, .wait(Site.epoll, .ms(30)), .ms(1), .wait(stall, .ms(300)))
        + calm(Site.epoll)
      #expect(Watching(observer: observer).watch(script).stalls.count == 20)
    }
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `the home may move when the first thread is created`(observer: LoopObserver) {
    let script =
      calm(Site.sleep, turns: 30) + calm(Site.sleepTwin, turns: 10, wait: 300)
      + [.ms(300)] + calm(Site.sleepTwin, turns: 5, wait: 300)
    let told = Watching(observer: observer).watch(script)
    #expect(told.stalls.count == 1)
    #expect(told.began.count <= 1)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `the home may move while it is still learnt`(observer: LoopObserver) {
    let script = calm(Site.sleep, turns: 5, wait: 300) + calm(Site.sleepTwin, turns: 40, wait: 300)
    #expect(Watching(observer: observer).watch(script).stalls.isEmpty)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a runtime that parks beside its multiplexer is at home in both, from the first time on`(
    observer: LoopObserver
  ) {
    let script =
      calm(Site.goEpoll, turns: 20)
      + times(12, .wait(Site.goPark, .ms(400)), .ms(1), .wait(Site.goEpoll, .ms(30)), .ms(1))
      + [.ms(300)] + calm(Site.goEpoll)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.verdictless == nil)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a runtime may park before its multiplexer is known`(observer: LoopObserver) {
    let script = times(3, .wait(Site.goPark, .ms(400)), .ms(1)) + calm(Site.goEpoll)
    #expect(Watching(observer: observer).watch(script).counted.isEmpty)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a program that sleeps through its start and then enters a loop is at home in the loop`(
    observer: LoopObserver
  ) {
    for stay in [300, 2000, 20_000] as [Int64] {
      let script =
        calm(Site.sleep, turns: 15, wait: 50)
        + times(12, .wait(Site.epoll, .milliseconds(stay)), .ms(1))
        + [.ms(400)] + calm(Site.epoll)
      let told = Watching(observer: observer, period: .ms(20)).watch(script)
      #expect(told.counted.map(\.parts.otherWait) == [.zero], "stays of \(stay) ms")
      #expect(told.reading.homes.first?.site == Site.epoll.site)
    }
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a program that sleeps through its start and then idles until it ends has no stall`(
    observer: LoopObserver
  ) {
    let script = calm(Site.sleep, turns: 15, wait: 50) + [.wait(Site.epoll, .seconds(60)), .ms(1)]
    #expect(Watching(observer: observer).watch(script).counted.isEmpty)
  }

  /// One connection a minute, made with poll in a handler, must not turn the sleeping loop upside down.
  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a sleeping loop whose handlers poll now and then keeps its home`(observer: LoopObserver) {
    let minute =
      calm(Site.sleep, turns: 10, wait: 300)
      + [.wait(Site.connectPoll, .ms(30)), .ms(1)]
    let script =
      calm(Site.sleep) + (0..<40).flatMap { _ in minute } + [.ms(300)]
      + calm(Site.sleep)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.homes.first?.site == Site.sleep.site)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a long wait for one connection does not make a multiplexer's loop of a sleeping one`(
    observer: LoopObserver
  ) {
    let script: [Act] =
      [.ms(5), .wait(Site.connectPoll, .ms(700)), .ms(5)]
      + calm(Site.sleep, turns: 60, wait: 300) + [.ms(300)] + calm(Site.sleep)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.homes.first?.site == Site.sleep.site)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `sleeps in a handler right after the first idle wait do not become the home`(
    observer: LoopObserver
  ) {
    let script: [Act] =
      [.wait(Site.poll, .ms(20)), .ms(1), .wait(Site.poll, .ms(300)), .ms(1)]
      + times(12, .wait(Site.handlerSleep, .ms(40)), .ms(1)) + calm(Site.poll, turns: 30)
    let told = Watching(observer: observer).watch(script)
    #expect(told.counted.count == 1)
    #expect(told.reading.homes.first?.site == Site.poll.site)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a program without a loop gets no verdict, and is told why`(observer: LoopObserver) {
    let computing = Watching(observer: observer, isLaunched: true).watch(times(50, .ms(100)))
    #expect(computing.stalls.isEmpty)
    #expect(computing.began.isEmpty)
    #expect(
      computing.reading.verdictless
        == "no event loop was seen: the thread never waited where a loop would")
    #expect(computing.reading.homes.isEmpty)

    // Reads files, waits for children and once for a lock.
    let batch =
      times(20, .wait(Site.file, .ms(30)), .ms(300), .wait(Site.child, .ms(400)))
      + [.wait(Site.lock, .ms(300)), .ms(300)]
    let told = Watching(observer: observer, isLaunched: true).watch(batch)
    #expect(told.stalls.isEmpty)
    #expect(
      told.reading.verdictless
        == "no event loop was seen: the thread waited in futex 1x, but not again and again at one place"
    )
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a batch job that waited for one answer is no loop`(observer: LoopObserver) {
    let job: [Act] = [.ms(50), .wait(Site.connectPoll, .ms(60)), .ms(3000)]
    let told = Watching(observer: observer, isLaunched: true).watch(job)
    #expect(told.stalls.isEmpty)
    #expect(told.reading.verdictless?.contains("poll 1x") == true)
  }

  @Test func `a thread whose waits cannot be read is never said to stall`() {
    let told = Watching(spoil: { _, probe in
      var probe = probe
      probe.state = .unknown
      return probe
    }).watch(ThresholdTests.script(.computing, .seconds(2)))
    #expect(told.stalls.isEmpty)
    #expect(told.reading.verdictless != nil)
  }
}
