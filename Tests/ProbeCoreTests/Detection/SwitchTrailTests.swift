// Records of context switches laid beside probes: which sleep was seen, which were not.

import Testing

@testable import ProbeCore

@Suite struct SwitchTrailTests {
  private static let zero = Instant(nanoseconds: 5_000_000_000)

  private func at(_ milliseconds: Double) -> Instant { Self.zero + .ms(milliseconds) }

  private func probe(
    _ milliseconds: Double, _ state: ThreadProbe.State, slices: UInt64
  ) -> ThreadProbe {
    ThreadProbe(
      at: at(milliseconds), state: state, cpu: .zero, runDelay: .zero, slices: slices, sleeps: 0)
  }

  private func add(
    _ trail: inout SwitchTrail, _ steps: (Double, SwitchRecord.Step)...
  ) {
    for (time, step) in steps { trail.add(SwitchRecord(at: at(time), step: step)) }
  }

  /// Asleep at home at 0 ms, on its hundredth slice.
  private func atHome() -> SwitchTrail {
    var trail = SwitchTrail()
    #expect(trail.span(to: probe(0, .waiting(Site.poll), slices: 100)) == nil)
    return trail
  }

  @Test func `the first probe has nothing before it`() {
    var trail = SwitchTrail()
    #expect(trail.span(to: probe(0, .waiting(Site.poll), slices: 100)) == nil)
    // Nor has one after records that nobody knows the beginning of.
    var late = SwitchTrail()
    add(&late, (1, .ran), (2, .slept))
    #expect(late.span(to: probe(3, .waiting(Site.poll), slices: 100)) == nil)
  }

  @Test func `a probe that nothing happened before finds the same sleep`() {
    var trail = atHome()
    let span = trail.span(to: probe(10, .waiting(Site.poll), slices: 100))
    #expect(span == SwitchSpan(sleptOn: true))
  }

  @Test func `a slice that was counted before its record was written is waited for`() {
    var trail = atHome()
    #expect(!trail.isBehind(probe(10, .waiting(Site.poll), slices: 100)))
    #expect(trail.isBehind(probe(10, .running, slices: 101)))
    add(&trail, (9.9, .ran))
    #expect(!trail.isBehind(probe(10, .running, slices: 101)))
    // Of what was lost nothing is to come.
    add(&trail, (0, .lost))
    #expect(!trail.isBehind(probe(10, .running, slices: 103)))
  }

  @Test func `waking and going to sleep again is told to the nanosecond`() {
    var trail = atHome()
    add(&trail, (3, .ran), (5, .slept))
    let span = trail.span(to: probe(10, .waiting(Site.poll), slices: 101))
    #expect(span == SwitchSpan(wokeAt: at(3), asleepSince: at(5)))
    let next = trail.span(to: probe(20, .waiting(Site.poll), slices: 101))
    #expect(next == SwitchSpan(asleepSince: at(5), sleptOn: true))
  }

  @Test func `sleeps between two probes are hidden, with the longest time between them`() {
    var trail = atHome()
    add(&trail, (1, .ran), (2, .slept), (3, .ran), (6, .slept), (7, .ran), (8, .slept), (8.5, .ran))
    let span = trail.span(to: probe(10, .running, slices: 104))
    // Asleep from 2 to 3, 6 to 7 and 8 to 8.5 ms.
    let hidden = SwitchSpan.Hidden(
      count: 3, start: at(2), end: at(8.5), asleep: .ms(2.5), shortest: .ms(0.5),
      longestGap: SwitchSpan.Gap(start: at(3), end: at(6)))
    #expect(span == SwitchSpan(wokeAt: at(1), hidden: hidden))
  }

  @Test func `it was a sleep if it is asleep and has not run since`() {
    var trail = atHome()
    add(&trail, (1, .ran), (2, .preempted), (5, .ran), (6, .preempted))
    let span = trail.span(to: probe(10, .waiting(Site.poll), slices: 102))
    #expect(span == SwitchSpan(wokeAt: at(1), asleepSince: at(6), preempted: .ms(3)))
    // Asleep without having run, and without a record of it: that does not fit.
    _ = trail.span(to: probe(11, .running, slices: 102))
    var awake = atHome()
    add(&awake, (1, .ran))
    _ = awake.span(to: probe(2, .running, slices: 101))
    #expect(awake.span(to: probe(3, .waiting(Site.poll), slices: 101)) == nil)
    #expect(awake.broken == 1)
  }

  @Test func `losing the CPU is no sleep`() {
    var trail = atHome()
    add(&trail, (1, .ran), (2, .preempted), (5, .ran), (6, .preempted))
    #expect(
      trail.span(to: probe(10, .running, slices: 102))
        == SwitchSpan(wokeAt: at(1), preempted: .ms(3)))
    add(&trail, (12, .ran), (13, .slept))
    #expect(
      trail.span(to: probe(20, .waiting(Site.file), slices: 103))
        == SwitchSpan(asleepSince: at(13), preempted: .ms(6)))
  }

  @Test func `a thread that is ready and was not run since it slept has not left its sleep`() {
    var trail = atHome()
    #expect(trail.span(to: probe(10, .running, slices: 100)) == SwitchSpan(sleptOn: true))
    add(&trail, (15, .ran))
    #expect(trail.span(to: probe(20, .running, slices: 101)) == SwitchSpan(wokeAt: at(15)))
  }

  @Test func `a sleep that began just after it was seen awake belongs to the next probe`() {
    var trail = atHome()
    add(&trail, (1, .ran), (9.999, .slept))
    #expect(trail.span(to: probe(10, .running, slices: 101)) == SwitchSpan(wokeAt: at(1)))
    #expect(
      trail.span(to: probe(20, .waiting(Site.file), slices: 101))
        == SwitchSpan(asleepSince: at(9.999)))
  }

  @Test func `a probe that could not be read leaves its time to the next one`() {
    var trail = atHome()
    add(&trail, (1, .ran), (2, .slept))
    #expect(trail.span(to: probe(10, .unknown, slices: 101)) == nil)
    add(&trail, (12, .ran))
    let hidden = SwitchSpan.Hidden(
      count: 1, start: at(2), end: at(12), asleep: .ms(10), shortest: .ms(10))
    #expect(
      trail.span(to: probe(20, .running, slices: 102))
        == SwitchSpan(wokeAt: at(1), hidden: hidden))
    #expect(trail.broken == 0)
  }

  // MARK: Records are missing

  /// Each of these says nothing of its span, and the one after it is whole again.
  @Test(
    arguments: [
      // Lost and reported so.
      ([(1, .ran), (2, .slept), (3, .lost)], ThreadProbe.State.waiting(Site.poll), 101 as UInt64),
      // /proc counts a slice more than there are records, or one less.
      ([(1, .ran), (2, .slept)], .waiting(Site.poll), 102),
      ([(1, .ran), (2, .slept), (3, .ran), (4, .slept)], .waiting(Site.poll), 101),
      // Asleep without having gone to sleep.
      ([(1, .ran)], .waiting(Site.poll), 101),
      // The counter moved back.
      ([], .waiting(Site.poll), 99),
    ] as [([(Double, SwitchRecord.Step)], ThreadProbe.State, UInt64)])
  func `where records and counters differ nothing is said`(
    records: [(Double, SwitchRecord.Step)], state: ThreadProbe.State, slices: UInt64
  ) {
    var trail = atHome()
    for (time, step) in records { trail.add(SwitchRecord(at: at(time), step: step)) }
    #expect(trail.span(to: probe(10, state, slices: slices)) == nil)
    #expect(trail.broken == 1)
    add(&trail, (12, .ran), (15, .slept))
    let next = trail.span(to: probe(20, .waiting(Site.poll), slices: slices + 1))
    #expect(next == SwitchSpan(wokeAt: at(12), asleepSince: at(15)))
    #expect(trail.broken == 1)
  }

  @Test func `what cannot be read for long is not kept without end`() {
    var trail = atHome()
    for _ in 0...SwitchTrail.capacity { add(&trail, (1, .ran)) }
    #expect(trail.span(to: probe(10, .running, slices: 101 + UInt64(SwitchTrail.capacity))) == nil)
    #expect(trail.broken == 1)
  }
}

extension SwitchTrail {
  /// Where nobody knows the place of a sleep.
  mutating func span(to probe: ThreadProbe) -> SwitchSpan? {
    let probes = probes(to: probe, places: SleepPlaces(threshold: .ms(250))) { _ in false }
    #expect(probes.count == 1)
    return probes.last?.switches
  }
}
