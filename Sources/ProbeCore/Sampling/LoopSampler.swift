// Reads one watched thread: is it at home, does it run, where does it wait? Never stops it.

/// The kept files of one watched thread.
struct LoopSampler: ~Copyable {
  let tid: ThreadID
  /// Kept files, closed in `deinit`; -1 for one that is not there.
  private let schedstat: Int32
  private let syscall: Int32
  private let status: Int32
  private let stat: Int32
  private let io: Int32
  private var lastSlices: UInt64 = .max
  /// Made when it is first asked.
  private var freezer: Freezer?
  private var frozen = FrozenSleep()
  private var lastSleeps: UInt64 = 0
  private var waits = WaitReader()
  /// Whether where it waits can be read: not for another user's process.
  var canReadWaits: Bool { waitsRefusal == nil }
  /// Why it cannot be read.
  let waitsRefusal: ReadingError?

  /// - Throws: `gone`, or why its files cannot be read.
  init(_ tid: ThreadID, _ source: inout ProcSource) throws(ReadingError) {
    let folder = "task/\(tid)/"
    let required = try source.open(folder + "schedstat")
    let statusFile = try source.open(folder + "status")
    let statFile = try source.open(folder + "stat")
    // The file opens for everybody; reading it needs the right to trace.
    var waits: Int32 = -1
    var refusal: ReadingError?
    do throws(ReadingError) {
      waits = try source.open(folder + "syscall").release()
      _ = try source.read(waits)
    } catch {
      refusal = error
    }
    self.tid = tid
    schedstat = required.release()
    status = statusFile.release()
    stat = statFile.release()
    syscall = waits
    io = (try? source.open(folder + "io"))?.release() ?? -1
    waitsRefusal = refusal
  }

  deinit {
    for raw in [schedstat, syscall, status, stat, io] where raw >= 0 {
      _ = FileDescriptor(owning: raw)
    }
  }

  /// Reads the thread. What is read first and last must agree, or the thread moved meanwhile.
  /// I/O calls matter only away from home, so they are read only there.
  ///
  /// - Parameter isAway: it is known not to be at home, wherever it seems to wait.
  mutating func probe(
    isAway: Bool = false, _ source: inout ProcSource
  ) throws(ReadingError) -> ThreadProbe {
    for attempt in 0..<3 {
      let former = lastSlices
      let before = try readSchedStat(&source)
      var state = try readState(&source)
      if before.timeslices != lastSlices {
        lastSleeps = try readSleeps(&source)
      }
      // Before the count is read again: however late we get to that, the thread has not run in between.
      let time = Clock.now()
      let after = try readSchedStat(&source)
      if before.timeslices != after.timeslices {
        lastSlices = .max
        if attempt < 2 { continue }
        state = .running
      } else {
        lastSlices = after.timeslices
      }
      var probe = ThreadProbe(
        at: time, state: state, cpu: after.cpu, runDelay: after.runDelay,
        slices: after.timeslices, sleeps: lastSleeps)
      let mayBeAway = isAway || mayBeAway(state)
      addMore(&probe, &source, withIO: mayBeAway)
      if !mayBeAway || before.timeslices != former { frozen.end() }
      if mayBeAway, isFrozen(probe.state, &source) { probe.state = .stopped }
      return probe
    }
    throw .gone
  }

  /// Asked only of a thread that is not at home.
  private mutating func isFrozen(_ state: ThreadProbe.State, _ source: inout ProcSource) -> Bool {
    switch state {
    case .running, .stopped, .unknown:
      frozen.end()
      return false
    case .waiting, .blocked: break
    }
    if frozen.isDue() {
      let freezer = freezer ?? Freezer()
      self.freezer = freezer
      frozen.isFrozen = freezer.isFrozen(&source)
    }
    return frozen.isFrozen
  }

  private func mayBeAway(_ state: ThreadProbe.State) -> Bool {
    if case .waiting(let wait) = state { return wait.waitClass != .idle }
    return true
  }

  private func readSchedStat(_ source: inout ProcSource) throws(ReadingError) -> SchedStat {
    let count = try source.read(schedstat)
    do {
      return try SchedStat(source.buffer.span.extracting(0..<count))
    } catch {
      throw .malformed(error)
    }
  }

  private func readSleeps(_ source: inout ProcSource) throws(ReadingError) -> UInt64 {
    let count = try source.read(status)
    let status = try? TaskStatus(source.buffer.span.extracting(0..<count))
    return status?.voluntarySwitches ?? 0
  }

  private mutating func readState(
    _ source: inout ProcSource
  ) throws(ReadingError) -> ThreadProbe.State {
    guard canReadWaits else { return .unknown }
    let count = try source.read(syscall)
    return waits.state(source.buffer.span.extracting(0..<count), source)
  }

  /// What a call with these arguments waits for; a restarted call is the one that was interrupted.
  mutating func wait(
    _ number: Int32, _ arguments: [UInt64], _ stackPointer: UInt64, _ programCounter: UInt64,
    _ source: borrowing ProcSource
  ) -> Wait {
    waits.wait(number, arguments, stackPointer, programCounter, source)
  }

  private func addMore(
    _ probe: inout ThreadProbe, _ source: inout ProcSource, withIO: Bool
  ) {
    if let count = try? source.read(stat),
      let line = try? TaskStat(source.buffer.span.extracting(0..<count))
    {
      probe.userTicks = line.userTicks
      probe.systemTicks = line.systemTicks
      probe.minorFaults = line.minorFaults
      probe.majorFaults = line.majorFaults
      // A stopped thread shows as running or as waiting where it was; only its state letter tells.
      if line.isStopped { probe.state = .stopped }
      probe.isExiting = line.isExiting
    }
    if withIO, io >= 0, let count = try? source.read(io) {
      probe.ioCalls = TaskIO.calls(source.buffer.span.extracting(0..<count))
    }
  }
}
