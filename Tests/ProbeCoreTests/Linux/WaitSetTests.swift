import Testing

@testable import ProbeCore

@Suite struct WaitSetTests {
  private func ready(_ set: borrowing WaitSet, _ count: Int) -> [Bool] {
    var result: [Bool] = []
    for place in 0..<count { result.append(set.isReady(place)) }
    return result
  }

  @Test func `it tells which are ready, as long as they are`() throws {
    let first = try WakeUp()
    let second = try WakeUp()
    var set = WaitSet([first.descriptor.raw, second.descriptor.raw])
    set.wait(.zero)
    #expect(ready(set, 2) == [false, false])
    second.signal()
    for _ in 0..<2 {
      set.wait(.seconds(10))
      #expect(ready(set, 2) == [false, true])
    }
    first.signal()
    set.wait(.seconds(10))
    #expect(ready(set, 2) == [true, true])
    second.drain()
    set.wait(.seconds(10))
    #expect(ready(set, 2) == [true, false])
  }

  @Test func `it waits as long as it is told and not for ever`() throws {
    let bell = try WakeUp()
    var set = WaitSet([bell.descriptor.raw])
    let start = Clock.now()
    set.wait(.microseconds(2500))
    #expect(Clock.now() - start >= .microseconds(2500))
    set.wait(.milliseconds(-5))
    #expect(ready(set, 1) == [false])
  }
}
