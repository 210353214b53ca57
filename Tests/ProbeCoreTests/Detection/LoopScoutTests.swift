// Which unwatched threads loop, from single looks.

import Testing

@testable import ProbeCore

@Suite struct LoopScoutTests {
  private static func look(
    _ scout: inout LoopScout, _ wait: Wait, _ slices: UInt64, tid: Int32 = 5
  ) -> LoopScout.Finding? {
    scout.saw(tid, name: [UInt8(ascii: "t")], wait, slices: slices)
  }

  @Test func `a thread that waits for events three times with work in between is a loop`() {
    var scout = LoopScout()
    #expect(Self.look(&scout, Site.poll, 1) == nil)
    #expect(Self.look(&scout, Site.epoll, 2) == nil)
    #expect(scout.loops.isEmpty)
    #expect(Self.look(&scout, Site.epoll, 3) == .loop(Site.epoll))
    #expect(scout.loops.map(\.tid) == [5])
  }

  @Test func `a thread that does not move is no loop however often it is looked at`() {
    var scout = LoopScout()
    for _ in 0..<100 { #expect(Self.look(&scout, Site.poll, 7) == nil) }
    #expect(scout.loops.isEmpty)
  }

  @Test(arguments: [Site.condition, Site.sleep, Site.read])
  func `a thread that parks at one place again and again may be a worker, and is no loop`(
    place: Wait
  ) {
    var scout = LoopScout()
    #expect(Self.look(&scout, place, 1) == nil)
    #expect(Self.look(&scout, place, 2) == nil)
    #expect(Self.look(&scout, place, 3) == .worker(place))
    #expect(scout.loops.isEmpty)
  }

  @Test func `a thread that waits in a different place each time is nothing`() {
    var scout = LoopScout()
    for number in 0..<50 {
      var wait = Site.lock
      wait.site.stackPointer -= UInt64(number * 64)
      #expect(Self.look(&scout, wait, UInt64(number)) == nil)
    }
  }

  @Test(arguments: [Site.join, Site.child, Site.file])
  func `waiting for another thread, a child or a file makes nothing of a thread`(wait: Wait) {
    var scout = LoopScout()
    for number in 0..<20 { #expect(Self.look(&scout, wait, UInt64(number)) == nil) }
  }

  @Test func `loops are remembered when they have ended, others are forgotten`() {
    var scout = LoopScout()
    for number in 0..<3 { _ = Self.look(&scout, Site.poll, UInt64(number), tid: 5) }
    for number in 0..<2 { _ = Self.look(&scout, Site.poll, UInt64(number), tid: 6) }
    scout.keep { _ in false }
    #expect(scout.loops.map(\.tid) == [5])
    // Its number is used again: counted anew.
    #expect(Self.look(&scout, Site.poll, 9, tid: 6) == nil)
    #expect(Self.look(&scout, Site.poll, 10, tid: 6) == nil)
    #expect(Self.look(&scout, Site.poll, 11, tid: 6) != nil)
  }

  @Test func `threads that come and go are remembered up to a bound`() {
    var scout = LoopScout()
    for tid in 0..<Int32(3 * LoopScout.capacity) {
      for number in 0..<3 { _ = Self.look(&scout, Site.poll, UInt64(number), tid: tid) }
    }
    #expect(scout.loops.count == LoopScout.capacity)
  }
}
