// Names and context switches of threads: read seldom, a few threads at a time.

extension ThreadSampler {
  /// How many threads' details (names, switches) are read in one slow beat: 10 us each (measured). Chosen:
  /// little beside ten ticks however many threads are busy; the last beat reads them all.
  static let detailsPerBeat = 4

  mutating func checkNames(
    _ count: Int, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    for place in 0..<count where slots[place].nameChecks > 0 {
      slots[place].nameChecks -= 1
      frames += readName(place, &source, into: &out)
    }
    return frames
  }

  private mutating func readName(
    _ place: Int, _ source: inout ProcSource, into out: inout ByteWriter
  ) -> Int {
    guard let count = try? source.readOnce("task/\(slots[place].tid)/comm") else { return 0 }
    let bytes = source.buffer.span.extracting(0..<count)
    if Comm.isSame(bytes, as: slots[place].name) { return 0 }
    return name(place, Comm.name(bytes), into: &out)
  }

  private mutating func name(_ place: Int, _ name: [UInt8], into out: inout ByteWriter) -> Int {
    guard name != slots[place].name else { return 0 }
    slots[place].name = name
    EventCodec.encode(
      .threadNamed(ThreadID(slots[place].tid), name: slots[place].name), into: &out)
    return 1
  }

  /// Names and context switches of threads that ran since their last turn, some at a time.
  ///
  /// - Parameters:
  ///   - limit: how many threads at the most.
  ///   - leader: what is known of the main thread already.
  mutating func slowBeat(
    limit: Int = detailsPerBeat, leader: LeaderDetail? = nil, _ source: inout ProcSource,
    into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    var done = 0
    for _ in slots.indices {
      guard done < limit else { break }
      detailCursor = (detailCursor + 1) % slots.count
      guard slots[detailCursor].needsDetail else { continue }
      slots[detailCursor].needsDetail = false
      done += 1
      let tid = slots[detailCursor].tid
      if tid == source.pid.rawValue, let leader, let voluntary = leader.voluntarySwitches,
        let involuntary = leader.involuntarySwitches
      {
        frames += name(detailCursor, leader.name, into: &out)
        let detail = ThreadDetail(
          tid: ThreadID(tid), voluntarySwitches: voluntary, involuntarySwitches: involuntary)
        EventCodec.encode(.threadDetail(detail), into: &out)
        frames += 1
        continue
      }
      guard let count = try? source.readOnce("task/\(tid)/status") else { continue }
      let status = try? TaskStatus(source.buffer.span.extracting(0..<count))
      if let range = TaskStatus.plainName(source.buffer.span.extracting(0..<count)) {
        let comm = source.buffer.span.extracting(range)
        if !Comm.isSame(comm, as: slots[detailCursor].name) {
          frames += name(detailCursor, Comm.name(comm), into: &out)
        }
      } else {
        frames += readName(detailCursor, &source, into: &out)
      }
      guard let status, let voluntary = status.voluntarySwitches,
        let involuntary = status.involuntarySwitches
      else { continue }
      let detail = ThreadDetail(
        tid: ThreadID(tid), voluntarySwitches: voluntary, involuntarySwitches: involuntary)
      EventCodec.encode(.threadDetail(detail), into: &out)
      frames += 1
    }
    return frames
  }
}
