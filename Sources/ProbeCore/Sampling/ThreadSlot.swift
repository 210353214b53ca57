// What is kept of each thread between two looks, and the tick that tells of it.

/// A thread of the process and its counters at the last look.
struct ThreadSlot {
  var tid: Int32
  /// Kept schedstat; -1 where no descriptor was left, then it is opened each time.
  var file: Int32
  var cpu: Nanoseconds
  var runDelay: Nanoseconds
  var name: [UInt8]
  /// Ticks until the name is looked at again: new threads name themselves after they were seen.
  var nameChecks = 2
  /// Ran since its details were last read.
  var needsDetail = true
  var isListed = true
}

extension [ThreadSlot] {
  /// Writes a tick with the threads at these places.
  func writeTick(
    at time: Instant, late: Nanoseconds, skipped: Int, clock: Nanoseconds?,
    _ places: some Collection<Int>, into out: inout ByteWriter
  ) {
    EventCodec.encodeTick(
      at: time, late: late, skipped: skipped, processCPU: clock, threadCount: count,
      changed: places.count, into: &out
    ) { out in
      for place in places {
        let slot = self[place]
        EventCodec.encodeThread(
          ThreadReading(tid: ThreadID(slot.tid), cpu: slot.cpu, runDelay: slot.runDelay), into: &out
        )
      }
    }
  }
}
