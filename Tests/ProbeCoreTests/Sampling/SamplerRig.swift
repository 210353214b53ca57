import Testing

@testable import ProbeCore

/// A sampler over a tree, with a clock that the test sets.
struct Rig: ~Copyable {
  var source: ProcSource
  var sampler: ThreadSampler
  var out = ByteWriter()
  var time: Int64 = 0
  var isFirst = true

  /// - Parameter launchBase: the target was launched and had used so much before.
  init(_ source: consuming ProcSource, launchBase: Nanoseconds? = nil) throws {
    sampler = try ThreadSampler(source, launchBase: launchBase)
    self.source = source
  }

  /// One tick `milliseconds` later; `again` is the clock at its end, if it moved meanwhile.
  mutating func tick(clock: Int64?, again: Int64? = nil, after milliseconds: Int64 = 100)
    -> [ProbeEvent]
  {
    time += milliseconds
    let end: Nanoseconds? = (again ?? clock).map { .milliseconds($0) }
    let frames = sampler.tick(
      at: Script.at(time), late: .zero, skipped: 0, clock: clock.map { .milliseconds($0) },
      clockAgain: { end }, isFirst: isFirst, &source, into: &out)
    isFirst = false
    let result = events(&out)
    #expect(frames == result.count)
    return result
  }

  /// A quick look 100 ms later.
  mutating func look(clock: Int64?) -> QuickTicks.Answer {
    time += 100
    return sampler.look(
      at: Script.at(time), late: .zero, skipped: 0, clock: clock.map { .milliseconds($0) })
  }

  /// The events of the looks so far.
  mutating func looks(memory: MemoryReading? = nil) -> [ProbeEvent] {
    let frames = sampler.writeLooks(memory: memory, into: &out)
    let result = events(&out)
    #expect(frames == result.count)
    return result
  }

  mutating func slowBeat(limit: Int = 64) -> [ProbeEvent] {
    let frames = sampler.slowBeat(limit: limit, &source, into: &out)
    let result = events(&out)
    #expect(frames == result.count)
    return result
  }
}
