// Where the time of a stall went: parts that add up (checked for every script) and are about right.

import Testing

@testable import ProbeCore

@Suite struct CauseTests {
  typealias Part = any WritableKeyPath<Summary.CauseParts, Nanoseconds> & Sendable

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var acts: [Act]
    /// The part, and how many milliseconds of it there are.
    var parts: [(Part, Double)]
    var testDescription: String { name }

    init(_ name: String, _ acts: [Act], _ parts: (Part, Double)...) {
      self.name = name
      self.acts = acts
      self.parts = parts
    }
  }

  static let rows: [Row] = blocked + mixed

  private static let blocked: [Row] = [
    Row("a lock", [.wait(Site.lock, .ms(600))], (\.lock, 600)),
    Row("a file", [.wait(Site.file, .ms(600))], (\.disk, 600)),
    Row("a pipe", [.wait(Site.handlerRead, .ms(600))], (\.pipe, 600)),
    Row("a socket", [.wait(Site.socket, .ms(600))], (\.socket, 600)),
    Row("a sleep", [.wait(Site.handlerSleep, .ms(600))], (\.sleep, 600)),
    Row("a child", [.wait(Site.child, .ms(600))], (\.child, 600)),
    Row("a thread", [.wait(Site.join, .ms(600))], (\.otherWait, 600)),
    Row("a page", [.fault(.ms(600))], (\.pageFault, 600)),
  ]

  private static let mixed: [Row] = [
    Row("computing", quarterInKernel, (\.cpuUser, 450), (\.cpuSystem, 150)),
    Row("others have the CPU", preempted, (\.cpuUser, 100), (\.runDelay, 500)),
    Row("two waits", twoWaits, (\.lock, 400), (\.disk, 200), (\.cpuUser, 100)),
    // Looked at closely shortly before the threshold: the quick probes must not weigh more.
    Row("short locks, then a file", shortLocks, (\.lock, 180), (\.disk, 600), (\.cpuUser, 60)),
    Row("hours", hours, (\.lock, 400_000), (\.disk, 200_000)),
  ]
  static let quarterInKernel: [Act] = [.compute(.ms(600), io: 0, system: 0.25)]
  static let preempted: [Act] = [.ms(100), .preempted(.ms(500))]
  static let twoWaits: [Act] = [
    .wait(Site.lock, .ms(400)), .ms(100), .wait(Site.file, .ms(200)),
  ]
  static let hours: [Act] = [.wait(Site.lock, .seconds(400)), .wait(Site.file, .seconds(200))]
  static let shortLocks: [Act] =
    times(20, Act.wait(Site.lock, .ms(9)), Act.ms(3)) + [Act.wait(Site.file, .ms(600))]

  @Test(arguments: rows, [LoopObserver.proc, .kernel])
  func `the time of a stall goes where it was spent`(row: Row, observer: LoopObserver) {
    let wake: [Act] = [.compute(.microseconds(100))]
    let home: [Act] = [.wait(Site.poll, .ms(20))]
    let script: [Act] = calm(Site.poll) + home + wake + row.acts + wake + calm(Site.poll)
    let told = Watching(observer: observer, counterLag: .ms(4)).watch(script)
    #expect(told.stalls.count == 1)
    for stall in told.stalls {
      for (part, expected) in row.parts {
        let seen = stall.parts[keyPath: part].inMilliseconds
        #expect(
          abs(seen - expected) <= 52 + stall.error.inMilliseconds, "\(seen) of \(expected)")
      }
    }
  }

  @Test func `no part is negative and none is lost, whatever the counters say`() {
    var random = Seeded(11)
    for _ in 0..<2000 {
      func time() -> Nanoseconds { Nanoseconds(Int64(random.next() % 400_000_000) - 1_000_000_000) }
      func probe(_ state: ThreadProbe.State, _ at: Int64) -> ThreadProbe {
        ThreadProbe(
          at: Instant(nanoseconds: at), state: state, cpu: time(), runDelay: time(),
          slices: random.next() % 5, sleeps: random.next() % 5, userTicks: random.next() % 50,
          systemTicks: random.next() % 50, ioCalls: random.next() % 50)
      }
      let states: [ThreadProbe.State] = [
        .running, .waiting(Site.lock), .waiting(Site.file), .blocked, .stopped, .unknown,
        .waiting(Site.innerPoll),
      ]
      var away = AwayTime(base: probe(.running, 0))
      for step in 1...6 {
        away.add(probe(states[Int(random.next() % 7)], Int64(step) * 25_000_000))
      }
      let length = max(.zero, time())
      let parts = away.parts(length: length, end: probe(.running, 200_000_000))
      let all = Summary.CauseParts.fields.map { parts[keyPath: $0] }
      #expect(all.reduce(.zero, +) == length)
      #expect(all.allSatisfy { $0 >= .zero })
    }
  }
}
