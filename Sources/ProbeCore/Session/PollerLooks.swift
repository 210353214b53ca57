// The poll loop's ticks at the least cost: what the known threads say, and no more.

extension Poller {
  /// A tick at the least cost.
  ///
  /// - Returns: false when it has to be a full one.
  func look(
    at time: Instant, _ lateness: (late: Nanoseconds, skipped: Int), isSlow: Bool,
    _ source: inout ProcSource, _ threads: inout ThreadSampler, _ process: inout ProcessSampler,
    into out: inout ByteWriter
  ) -> Bool {
    if !process.hasReadMemory || isSlow && !threads.prepareSlowLook(at: time) { return false }
    let before = threads.seenClock
    let clock = source.cpuClock(clockTicksPerSecond: clockTicksPerSecond)
    let answer = threads.look(
      at: time, late: lateness.late, skipped: lateness.skipped, clock: clock)
    // Of a process that did not run, too: see `sample`.
    let isNoted = isSlow && answer == .noted
    guard
      take(isNoted ? .newPages : answer, at: time, &source, &threads, &process, into: &out)
    else { return false }
    if isSlow || clock != before {
      let frames = process.descriptors.look(isSlow: isSlow, at: time, source, into: &out)
      if frames > 0 { queue.append(&out, frames: frames) }
    }
    return true
  }

  /// Looks at each tick until there is something else to do; nil if the threads are not ready for that.
  func lookOn(
    _ threads: inout ThreadSampler, _ ticker: inout Ticker, _ limit: Instant, _ set: inout WaitSet
  ) -> (QuickTicks.Answer, at: Instant)? {
    guard ticker.isSteady else { return nil }
    var beat = QuickTicks.Beat(
      pid: pid, deadline: ticker.deadline, period: ticker.period, limit: limit,
      latest: Self.lateness, age: isShown ? Self.lookAge : Self.slowBeat, now: ticker.deadline)
    guard let answer = threads.lookOn(&beat, &set) else { return nil }
    ticker.skip(to: beat.deadline)
    return (answer, beat.now)
  }

  /// - Returns: whether the tick is done.
  func take(
    _ answer: QuickTicks.Answer, at time: Instant, _ source: inout ProcSource,
    _ threads: inout ThreadSampler, _ process: inout ProcessSampler, into out: inout ByteWriter
  ) -> Bool {
    switch answer {
    case .unknown, .woken: return false
    case .aged: writeLooks(&threads, process, into: &out)
    case .newPages:
      writeLooks(&threads, process, into: &out)
      if let memory = process.memory(at: time, anyThread: threads.anyThread, &source) {
        EventCodec.encode(.memory(memory), into: &out)
        queue.append(&out)
      }
    case .noted:
      if let oldest = threads.oldestLook, time - oldest >= Self.lookAge {
        writeLooks(&threads, process, into: &out)
      }
    }
    return true
  }

  func writeLooks(
    _ threads: inout ThreadSampler, _ process: borrowing ProcessSampler, into out: inout ByteWriter
  ) {
    let frames = threads.writeLooks(memory: process.lastReading, into: &out)
    if frames > 0 { queue.append(&out, frames: frames) }
  }
}
