// A turn just under, at and over the threshold, of every kind of work, seen by either observer.

import Testing

@testable import ProbeCore

@Suite struct ThresholdTests {
  /// What a turn may be made of; each fills the wanted length.
  enum Work: String, CaseIterable, Sendable {
    case computing, sleeping, reading, locked, waitingForChild, pageFault, preempted, mixed

    func acts(_ length: Nanoseconds) -> [Act] {
      switch self {
      case .computing: [.compute(length)]
      case .sleeping: [.wait(Site.handlerSleep, length)]
      case .reading: [.wait(Site.handlerRead, length)]
      case .locked: [.wait(Site.lock, length)]
      case .waitingForChild: [.wait(Site.child, length)]
      case .pageFault: [.fault(length)]
      case .preempted: [.preempted(length)]
      case .mixed:
        [
          .compute(length / 4), .wait(Site.file, length / 4), .compute(length / 4),
          .preempted(length - length / 4 * 3),
        ]
      }
    }
  }

  /// A calm loop with one turn of this length in it; the turn's own wake-up costs 20 us.
  static func script(_ work: Work, _ length: Nanoseconds) -> [Act] {
    let wake = SimulatedThread.betweenWaits
    return calm(Site.poll) + [.wait(Site.poll, .ms(40)), .compute(wake)]
      + work.acts(length - wake - wake) + [.compute(wake)] + calm(Site.poll)
  }

  @Test(arguments: Work.allCases, [Nanoseconds.ms(250), .ms(100), .ms(60)])
  func `records tell a turn exactly, to either side of the threshold`(
    work: Work, threshold: Nanoseconds
  ) {
    let watching = Watching(observer: .kernel, threshold: threshold)
    #expect(watching.watch(Self.script(work, threshold - Nanoseconds(1000))).stalls.isEmpty)
    for length in [threshold, threshold + Nanoseconds(1000), threshold * 10] {
      let stalls = watching.watch(Self.script(work, length)).stalls
      #expect(stalls.map(\.duration) == [length])
      #expect(stalls.map(\.certainty) == [.exact])
      #expect(stalls.map(\.kind) == [.stall])
      #expect(stalls.map(\.error) == [.zero])
    }
  }

  @Test(arguments: Work.allCases, [Nanoseconds.ms(250), .ms(100), .ms(60)])
  func `probes find what is two periods over the threshold and nothing two periods under it`(
    work: Work, threshold: Nanoseconds
  ) {
    let period = ProbeSchedule.period(threshold: threshold)
    for seed in 1...12 as ClosedRange<UInt64> {
      for lag in [Nanoseconds.zero, .ms(4)] {
        let watching = Watching(threshold: threshold, seed: seed, counterLag: lag)
        let under = Self.script(work, threshold - period * 2)
        #expect(watching.watch(under).stalls.isEmpty, "seed \(seed)")
        let length = threshold + period * 2
        let stalls = watching.watch(Self.script(work, length)).stalls
        #expect(stalls.count == 1, "seed \(seed)")
        for stall in stalls {
          let off = abs((stall.duration - length).rawValue)
          #expect(off <= period.rawValue, "seed \(seed): \(stall.duration.inMilliseconds)")
          #expect(off <= stall.error.rawValue, "seed \(seed): \(stall)")
        }
      }
    }
  }

  /// The thread only ran and slept once at the end: its own counters tell the length.
  @Test func `a turn that never sleeps is measured to the microsecond even by probes`() {
    for length in [Nanoseconds.ms(250), .ms(251.5), .ms(903)] {
      let stalls = Watching().watch(Self.script(.computing, length)).stalls
      #expect(stalls.map(\.duration) == [length])
    }
    #expect(Watching().watch(Self.script(.computing, .ms(249.9))).stalls.isEmpty)
  }

  @Test(arguments: [
    (Nanoseconds.ms(0), StallLevel.stall), (.ms(499.999), .stall), (.ms(500), .hang),
    (.ms(1999.999), .hang), (.ms(2000), .severe), (.ms(4999.999), .severe),
    (.ms(5000), .unresponsive), (.ms(7999.999), .unresponsive), (.ms(8000), .stuck),
    (.seconds(86_400), .stuck),
  ])
  func `levels begin at their length`(length: Nanoseconds, level: StallLevel) {
    #expect(StallLevel(length) == level)
  }

  @Test func `two stalls side by side are two, and 1000 are 1000`() {
    let one: [Act] = [.wait(Site.poll, .ms(1)), .ms(300)]
    for observer in [LoopObserver.proc, .kernel] {
      let watching = Watching(observer: observer)
      let script = calm(Site.poll) + times(1000, .wait(Site.poll, .ms(35)), .ms(300))
      #expect(watching.watch(script + calm(Site.poll)).stalls.count == 1000)
    }
    // Home for a millisecond only: records see it, probes may not, and must not call it certain.
    let pair = calm(Site.poll) + one + one + calm(Site.poll)
    #expect(Watching(observer: .kernel).watch(pair).stalls.count == 2)
    let seen = Watching().watch(pair).stalls
    #expect(seen.count == 2 || seen.allSatisfy { $0.certainty == .probable })
  }
}
