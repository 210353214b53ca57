// Turns of a thread that has a loop only at times.

import Testing

@testable import ProbeCore

@Suite struct SharedLoopTests {
  /// A follower's life: parked in a condition variable for long, then its turn at the loop.
  static let follower =
    times(12, .wait(Site.condition, .ms(700)), .ms(1), .wait(Site.epoll, .ms(20)), .ms(1))

  /// Probes and records of a script, for a thread that is known to share its loop from the start.
  private static func watch(
    _ observer: LoopObserver, _ script: [Act], others: Nanoseconds = .zero, shares: Bool = true
  ) -> (stalls: [StallReading], reading: LoopReading) {
    var watching = Watching(observer: observer, period: .ms(10))
    watching.threshold = .ms(100)
    watching.prepare = { detector in
      if shares { detector.shareLoop() }
      detector.setOthers(computed: others)
    }
    let told = watching.watch(script)
    return (told.stalls, told.reading)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a thread that is parked until it gets the loop is idle`(observer: LoopObserver) {
    let (stalls, reading) = Self.watch(observer, Self.follower)
    #expect(stalls.isEmpty)
    #expect(Set(reading.homes.map(\.site)) == [Site.condition.site, Site.epoll.site])
    // It is the sharing that makes the difference.
    #expect(!Self.watch(observer, Self.follower, shares: false).stalls.isEmpty)
  }

  @Test(arguments: [LoopObserver.proc, .kernel], [Site.condition, Site.epoll])
  func `a long turn is found from either home, and is only probable`(
    observer: LoopObserver, home: Wait
  ) {
    let script = Self.follower + [.wait(home, .ms(20)), .ms(300)] + Self.follower
    let (stalls, _) = Self.watch(observer, script)
    #expect(stalls.count == 1)
    #expect(stalls.first?.certainty == .probable)
    #expect(stalls.first.map { abs($0.duration.inMilliseconds - 300) < 15 } == true)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `the first turn of a thread that was only seen parked is judged`(observer: LoopObserver) {
    let script: [Act] = [
      .wait(Site.goPark, .ms(500)), .ms(300), .wait(Site.goEpoll, .ms(20)), .ms(1),
    ]
    #expect(Self.watch(observer, script).stalls.count == 1)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a lock deep in a handler is stall time`(observer: LoopObserver) {
    var lock = Site.lock
    lock.site.stackPointer = Site.epoll.site.stackPointer - HomeLearner.spareDepth - 1
    let script =
      Self.follower + [.wait(Site.epoll, .ms(20)), .ms(1), .wait(lock, .ms(300))] + Self.follower
    let (stalls, _) = Self.watch(observer, script)
    #expect(stalls.count == 1)
    #expect(stalls.first.map { $0.parts.lock >= .ms(250) } == true)
  }

  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a sleep in a handler is stall time, a housekeeper's sleep is not`(observer: LoopObserver) {
    let script =
      Self.follower + [.wait(Site.epoll, .ms(20)), .wait(Site.handlerSleep, .ms(300))]
      + Self.follower
    #expect(Self.watch(observer, script).stalls.count == 1)
    var sleep = Site.goPark
    sleep.category = .sleep
    sleep.site.programCounter -= 1500
    let housekeeper = times(
      20, .wait(sleep, .ms(130)), .compute(.microseconds(30)), .wait(Site.goPark, .ms(90)))
    #expect(Self.watch(observer, housekeeper).stalls.isEmpty)
    // The kernel sees it look at the events at times, without waiting.
    let looking = times(4, .wait(Site.goEpoll, .microseconds(2)), .wait(sleep, .ms(130)))
    #expect(Self.watch(observer, looking).stalls.isEmpty)
  }

  @Test(
    arguments: [LoopObserver.proc, .kernel],
    // A quarter of 300 ms is 75 ms.
    [(Nanoseconds.ms(70), 1), (.ms(80), 0)])
  func `what takes long while the others compute is the work of a pool`(
    observer: LoopObserver, expected: (others: Nanoseconds, stalls: Int)
  ) {
    let script = Self.follower + [.wait(Site.epoll, .ms(20)), .ms(300)] + Self.follower
    let (stalls, reading) = Self.watch(observer, script, others: expected.others)
    #expect(stalls.count == expected.stalls)
    if expected.stalls == 0 { #expect(reading.undecided >= .ms(290)) }
  }

  // Half of a core is all that the machine has left: each of three workers gets a tenth.
  @Test(arguments: [LoopObserver.proc, .kernel])
  func `a pool on a crowded machine is a pool as well`(observer: LoopObserver) {
    let crowded = times(10, .ms(5), .preempted(.ms(35)))
    let script = Self.follower + [.wait(Site.epoll, .ms(20))] + crowded + Self.follower
    #expect(Self.watch(observer, script, others: .ms(50)).stalls.isEmpty)
    #expect(Self.watch(observer, script, others: .ms(5)).stalls.count == 1)
  }

  @Test func `a thread that shares its loop after all keeps its idle waits`() {
    var learner = HomeLearner()
    for _ in 0..<8 { learner.arrived(Site.epoll) }
    let before = learner.generation
    learner.shareLoop()
    #expect(learner.generation == before)
    #expect(learner.isHome(Site.epoll) && learner.isHome(Site.condition))
    #expect(!learner.isHome(Site.join) && !learner.isHome(Site.handlerSleep))
  }
}
