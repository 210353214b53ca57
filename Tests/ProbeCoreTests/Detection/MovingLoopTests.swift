// What tells a loop that moves between threads from loops of their own and from pools of workers.

import Testing

@testable import ProbeCore

@Suite struct MovingLoopTests {
  static let main: Int32 = 100

  static func on(_ queue: UInt64, _ wait: Wait = Site.epoll) -> Wait {
    var wait = wait
    wait.queue = queue
    return wait
  }

  @Test func `threads that wait on one queue serve one loop`() {
    var moving = MovingLoops()
    moving.saw(Self.main, Self.on(4))
    #expect(moving.threads(with: Self.main).isEmpty)
    moving.saw(101, Self.on(4))
    moving.saw(102, Self.on(4))
    #expect(moving.threads(with: Self.main) == [100, 101, 102])
  }

  @Test func `each with a queue of its own, they are loops of their own`() {
    var moving = MovingLoops()
    for number in 0..<8 { moving.saw(Self.main + Int32(number), Self.on(UInt64(4 + number))) }
    #expect(moving.threads(with: nil).isEmpty)
  }

  @Test func `polling at the same instruction is no shared queue`() {
    var moving = MovingLoops()
    for number in 0..<8 { moving.saw(Self.main + Int32(number), Site.poll) }
    #expect(moving.threads(with: nil).isEmpty)
  }

  @Test func `workers that park in the C library's locks are not part of the loop`() {
    var moving = MovingLoops()
    moving.saw(Self.main, Self.on(4))
    for tid in Int32(101)..<120 {
      moving.saw(tid, Site.condition)
      moving.saw(tid, Site.lock)
    }
    #expect(moving.threads(with: Self.main).isEmpty)
    // Nor when the loop moves between others.
    moving.saw(130, Self.on(4))
    #expect(moving.threads(with: Self.main) == [100, 130])
  }

  @Test func `a runtime's threads that park beside its wait for events are part of the loop`() {
    var moving = MovingLoops()
    moving.saw(Self.main, Site.goPark)
    #expect(moving.threads(with: Self.main).isEmpty)
    moving.saw(101, Self.on(4, Site.goEpoll))
    moving.saw(102, Site.goPark)
    #expect(moving.threads(with: Self.main) == [100, 101, 102])
  }

  @Test func `a runtime's housekeeper that sleeps is not`() {
    var moving = MovingLoops()
    var sleep = Site.goPark
    sleep.category = .sleep
    sleep.site.programCounter -= 1500
    moving.saw(Self.main, Self.on(4, Site.goEpoll))
    moving.saw(101, Site.goPark)
    moving.saw(103, Site.goPark)
    moving.saw(103, sleep)
    #expect(moving.threads(with: Self.main) == [100, 101])
  }

  @Test func `a loop of threads that the main thread has no part in counts when it is out`() {
    var moving = MovingLoops()
    moving.saw(Self.main, Self.on(9))
    moving.saw(101, Self.on(4))
    moving.saw(102, Self.on(4))
    #expect(moving.threads(with: Self.main).isEmpty)
    #expect(moving.threads(with: nil) == [101, 102])
  }

  @Test func `a descriptor that is used again after its thread ended is another queue`() {
    var moving = MovingLoops()
    moving.saw(101, Self.on(4))
    moving.keep { $0 != 101 }
    moving.saw(Self.main, Self.on(4))
    #expect(moving.threads(with: Self.main).isEmpty)
  }

  @Test func `what is known already changes nothing`() {
    var moving = MovingLoops()
    moving.saw(Self.main, Self.on(4))
    moving.saw(101, Site.condition)
    let before = moving.generation
    for _ in 0..<10 {
      moving.saw(Self.main, Self.on(4))
      moving.saw(101, Site.condition)
    }
    #expect(moving.generation == before)
    moving.saw(102, Site.condition)
    #expect(moving.generation > before)
  }

  @Test func `queues and threads are remembered up to a bound`() {
    var moving = MovingLoops()
    for number in 0..<2000 {
      moving.saw(Int32(number), Self.on(UInt64(number)))
      moving.saw(Int32(number), Self.on(0))
      moving.saw(Int32(number), Site.condition)
    }
    #expect(moving.threads(with: nil).count == MovingLoops.threadCapacity)
  }
}

@Suite struct MainStandingTests {
  private static func probe(
    _ at: Nanoseconds, _ state: ThreadProbe.State, slices: UInt64
  ) -> ThreadProbe {
    ThreadProbe(
      at: SimulatedThread.birth + at, state: state, cpu: .zero, runDelay: .zero, slices: slices,
      sleeps: slices)
  }

  static let suspend: Wait = Site.wait(130, .idle, .signal, deeper: 64, code: 0xc_0000)

  @Test(arguments: [Site.join, Site.condition, Site.child, Site.sleep, suspend])
  func `a main thread that has not moved in such a wait for two seconds is out`(wait: Wait) {
    var standing = MainStanding()
    standing.saw(Self.probe(.zero, .waiting(wait), slices: 4))
    standing.saw(Self.probe(.ms(1999), .waiting(wait), slices: 4))
    #expect(!standing.isOut)
    standing.saw(Self.probe(.ms(2000), .waiting(wait), slices: 4))
    #expect(standing.isOut)
    standing.saw(Self.probe(.ms(2010), .running, slices: 5))
    #expect(!standing.isOut)
  }

  @Test(arguments: [Site.poll, Site.epoll, Site.read])
  func `a main thread that waits for events or input may have the loop`(wait: Wait) {
    var standing = MainStanding()
    for second in 0..<100 {
      standing.saw(Self.probe(.seconds(Int64(second)), .waiting(wait), slices: 4))
    }
    #expect(!standing.isOut)
  }

  @Test(arguments: [Site.condition, Site.sleep])
  func `a main thread whose loop parks there again and again is only idle`(home: Wait) {
    var standing = MainStanding()
    for turn in 0..<UInt64(3) {
      standing.saw(Self.probe(.ms(Double(turn * 20)), .waiting(home), slices: turn))
    }
    standing.saw(Self.probe(.seconds(60), .waiting(home), slices: 2))
    #expect(!standing.isOut)
  }

  @Test func `a main thread that has ended is out`() {
    var standing = MainStanding()
    standing.ended()
    #expect(standing.isOut)
    var zombie = MainStanding()
    for at in [0.0, 3000] {
      var probe = Self.probe(.ms(at), .running, slices: 9)
      probe.isExiting = true
      zombie.saw(probe)
    }
    #expect(zombie.isOut)
  }
}

@Suite struct WorkShareTests {
  @Test func `what the others compute counts from the last rest on`() {
    var shares = WorkShare()
    // What they had computed before they were known counts for nothing.
    shares.saw(1, cpu: .ms(500), isAtRest: true)
    shares.saw(2, cpu: .ms(900), isAtRest: true)
    #expect(shares.others(than: 1) == .zero)
    shares.saw(2, cpu: .ms(910), isAtRest: false)
    #expect(shares.others(than: 1) == .ms(10))
    #expect(shares.others(than: 2) == .zero)
    shares.saw(1, cpu: .ms(500), isAtRest: true)
    #expect(shares.others(than: 1) == .zero)
    shares.saw(1, cpu: .ms(530), isAtRest: false)
    shares.saw(2, cpu: .ms(935), isAtRest: false)
    #expect(shares.others(than: 1) == .ms(25))
    #expect(shares.others(than: 2) == .ms(30))
  }

  @Test func `a counter that moves backwards computes nothing`() {
    var shares = WorkShare()
    shares.saw(1, cpu: .ms(50), isAtRest: true)
    shares.saw(2, cpu: .ms(50), isAtRest: true)
    shares.saw(2, cpu: .ms(20), isAtRest: true)
    #expect(shares.others(than: 1) == .zero)
    #expect(shares.others(than: 7) == .zero)
  }
}
