// Orders, copies and the account of our own stops.

import Testing

@testable import ProbeCore

@Suite struct CaptureDeskTests {
  private let tid = ThreadID(7)

  private func desk() throws -> CaptureDesk {
    CaptureDesk(control: try WatchControl(), queue: EventQueue(), inAppPatterns: [])
  }

  private func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000)
  }

  private func turn(_ start: Int64, seen: Int64) -> OpenTurn {
    OpenTurn(start: at(start), length: .milliseconds(seen - start), lastSeen: at(seen))
  }

  private func snapshot(_ time: Int64, stop: Nanoseconds) -> StackSnapshot {
    StackSnapshot(
      tid: tid, takenAt: at(time), stopTime: stop,
      registers: RegisterFile(machine: .x86_64, stackPointer: 1, programCounter: 2), regions: [])
  }

  @Test func `an order is served while its turn goes on, and not afterwards`() throws {
    let desk = try desk()
    desk.saw(tid, turn(100, seen: 200))
    desk.order(CaptureOrder(tid: tid, turn: at(100)))
    #expect(desk.nextOrder()?.turn == at(100))
    #expect(desk.nextOrder() == nil)
    desk.order(CaptureOrder(tid: tid, turn: at(100)))
    desk.saw(tid, turn(210, seen: 220))
    #expect(desk.nextOrder() == nil)
    desk.order(CaptureOrder(tid: tid, turn: at(210)))
    desk.sawNoTurn(tid)
    #expect(desk.nextOrder() == nil)
    // One that comes late, for a better copy.
    desk.order(CaptureOrder(tid: tid, turn: at(210), replaces: 1))
    #expect(desk.nextOrder() == nil)
  }

  @Test func `a moment is sure once a later probe has seen the same turn`() throws {
    let desk = try desk()
    #expect(desk.witness(tid, at(150)) == .unseen)
    desk.saw(tid, turn(100, seen: 150))
    #expect(desk.witness(tid, at(151)) == .awaited)
    desk.saw(tid, turn(100, seen: 175))
    #expect(desk.witness(tid, at(151)) == .seen)
    desk.sawNoTurn(tid)
    #expect(desk.witness(tid, at(151)) == .seen)
    #expect(desk.witness(tid, at(176)) == .unseen)
    desk.saw(tid, turn(200, seen: 300))
    #expect(desk.witness(tid, at(151)) == .seen)
    #expect(desk.witness(tid, at(190)) == .unseen)
    #expect(desk.witness(ThreadID(8), at(250)) == .unseen)
  }

  @Test func `orders and copies are bounded`() throws {
    let desk = try desk()
    desk.saw(tid, turn(100, seen: 200))
    for _ in 0..<1000 { desk.order(CaptureOrder(tid: tid, turn: at(100))) }
    var served = 0
    while let order = desk.nextOrder() {
      served += 1
      desk.deliver(
        CapturedStack(order: order, snapshot: snapshot(200, stop: .zero)), took: .zero)
    }
    #expect(served == 16)
    for _ in 0..<10 {
      desk.deliver(
        CapturedStack(
          order: CaptureOrder(tid: tid, turn: at(100)),
          snapshot: snapshot(200, stop: .microseconds(30))), took: .microseconds(50))
    }
    #expect(desk.takeCopies().count == 16)
    #expect(desk.takeCopies().isEmpty)
    #expect(desk.dropped == 10)
    #expect(desk.costs.stops == 10 && desk.costs.withoutStop == 16)
    #expect(desk.cpu == .microseconds(500))
  }

  @Test func `what a stop adds to the counters is known to who probes next`() throws {
    let desk = try desk()
    func stops() -> OwnStops {
      var found = OwnStops()
      desk.undisturbed(tid) { found = $0 }
      return found
    }
    #expect(stops() == OwnStops())
    func capture(_ time: Int64, stop: ClosedRange<Instant>?, wasBlocked: Bool = false) {
      var taken = snapshot(time, stop: stop.map { $0.upperBound - $0.lowerBound } ?? .zero)
      taken.stop = stop
      _ = desk.capturing(tid, wasBlocked: wasBlocked) { .success(taken) }
    }
    capture(200, stop: at(197)...at(201))
    #expect(stops().sleeps == 1)
    #expect(stops().windows == [at(197)...at(201)])
    capture(300, stop: nil)
    _ = desk.capturing(tid) { .success(nil) }
    _ = desk.capturing(tid) { .failure(.gone) }
    #expect(stops().sleeps == 1)
    // From a wait it is woken for the stop, and goes back to it.
    capture(400, stop: at(399)...at(400), wasBlocked: true)
    #expect(stops().sleeps == 3)
  }

  @Test func `nothing is ordered of a process that may not be looked at, nor at the end`() throws {
    let refused = try desk()
    refused.saw(tid, turn(100, seen: 200))
    refused.order(CaptureOrder(tid: tid, turn: at(100)))
    refused.giveUp(.notPermitted)
    refused.order(CaptureOrder(tid: tid, turn: at(100)))
    #expect(refused.nextOrder() == nil)
    #expect(refused.refusal == .notPermitted)
    let stopped = try desk()
    stopped.saw(tid, turn(100, seen: 200))
    stopped.order(CaptureOrder(tid: tid, turn: at(100)))
    stopped.stop()
    stopped.order(CaptureOrder(tid: tid, turn: at(100)))
    #expect(stopped.nextOrder() == nil)
    #expect(stopped.witness(tid, at(201)) == .unseen)
    stopped.join()
  }
}
