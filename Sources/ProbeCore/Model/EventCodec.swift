// Events to bytes and back: the format of our queue and of recordings (`perfwatch.recording/1`).
// Frames are length-prefixed, so an unknown kind is skipped and a cut file ends at a whole event.

/// The first bytes of a recording.
public enum RecordingFormat {
  public static let name = "perfwatch.recording/1"
  public static let magic: [UInt8] = Array((name + "\n").utf8)
}

/// Writes and reads `ProbeEvent` frames.
public enum EventCodec {
  enum Kind: UInt8 {
    case started = 1
    case threadSeen, threadNamed, threadEnded, tick, threadDetail, memory, processTimes
    case member, memberReading, memberEnded, treeRound, executed, stopped, notice, observer, exited,
      ended, loop, stallBegan, stallRetracted, stall, capability, codePlace, stack, stallsIgnored,
      wait, surroundings, descriptors, stallGoesOn, waitProfile, threadAlarm, parked, waitStack
  }

  /// Appends the event as one frame.
  public static func encode(_ event: ProbeEvent, into out: inout ByteWriter) {
    out.frame(kind: kind(of: event).rawValue) { payload(event, into: &$0) }
  }

  /// The next event, or nil at the end.
  ///
  /// - Throws: `truncated` where the bytes stop inside a frame, `malformed` where a payload is not
  ///   what its kind says. Frames of unknown kinds are passed over.
  public static func decode(_ reader: inout ByteReader) throws(WireError) -> ProbeEvent? {
    while let frame = try reader.nextFrame() {
      guard let kind = Kind(rawValue: frame.kind) else { continue }
      var payload = frame.payload
      do {
        return try event(kind, &payload)
      } catch {
        throw .malformed("event of kind \(kind)")
      }
    }
    return nil
  }

  /// Writes a tick without making an array of it first: the poll loop must not allocate.
  public static func encodeTick(
    at: Instant, late: Nanoseconds, skipped: Int, processCPU: Nanoseconds?, threadCount: Int,
    changed: Int, into out: inout ByteWriter, threads: (inout ByteWriter) -> Void
  ) {
    out.frame(kind: Kind.tick.rawValue) { out in
      out.put(at)
      out.put(late)
      out.put(skipped)
      out.put(optional: processCPU) { $0.put($1) }
      out.put(threadCount)
      out.put(UInt64(changed))
      threads(&out)
    }
  }

  /// One thread's line inside `encodeTick`.
  public static func encodeThread(_ reading: ThreadReading, into out: inout ByteWriter) {
    out.put(reading.tid.rawValue)
    out.put(reading.cpu)
    out.put(reading.runDelay)
  }

  private static func kind(of event: ProbeEvent) -> Kind {
    switch event {
    case .started: .started
    case .threadSeen: .threadSeen
    case .threadNamed: .threadNamed
    case .threadEnded: .threadEnded
    case .tick: .tick
    case .threadDetail: .threadDetail
    case .memory: .memory
    case .processTimes: .processTimes
    case .member: .member
    case .memberReading: .memberReading
    case .memberEnded: .memberEnded
    case .treeRound: .treeRound
    case .executed: .executed
    case .stopped: .stopped
    case .notice: .notice
    case .observer: .observer
    case .exited: .exited
    case .ended: .ended
    case .capability: .capability
    case .loop: .loop
    case .stallBegan: .stallBegan
    case .stallRetracted: .stallRetracted
    case .stall: .stall
    case .codePlace: .codePlace
    case .stack: .stack
    case .stallsIgnored: .stallsIgnored
    case .wait: .wait
    case .surroundings: .surroundings
    case .descriptors: .descriptors
    case .stallGoesOn: .stallGoesOn
    case .waitProfile: .waitProfile
    case .threadAlarm: .threadAlarm
    case .parked: .parked
    case .waitStack: .waitStack
    }
  }

  private static func payload(_ event: ProbeEvent, into out: inout ByteWriter) {
    switch event {
    case .started(let value): value.encode(into: &out)
    case .threadSeen(let value):
      out.put(value.tid.rawValue)
      out.put(bytes: value.name)
      out.put(value.isNew)
      out.put(value.cpu)
      out.put(value.runDelay)
      out.put(value.at)
    case .threadNamed(let tid, let name):
      out.put(tid.rawValue)
      out.put(bytes: name)
    case .threadEnded(let tid, let at):
      out.put(tid.rawValue)
      out.put(at)
    case .tick(let value):
      out.put(value.at)
      out.put(value.late)
      out.put(value.skipped)
      out.put(optional: value.processCPU) { $0.put($1) }
      out.put(value.threadCount)
      out.put(list: value.threads) { encodeThread($1, into: &$0) }
    case .threadDetail(let value):
      out.put(value.tid.rawValue)
      out.put(value.voluntarySwitches)
      out.put(value.involuntarySwitches)
    case .memory(let value): value.encode(into: &out)
    case .processTimes(let value):
      out.put(value.user)
      out.put(value.system)
      out.put(value.childUser)
      out.put(value.childSystem)
      out.put(value.childFaults)
    case .member(let value):
      out.put(value.pid.rawValue)
      out.put(value.parent.rawValue)
      out.put(bytes: value.name)
      out.put(value.at)
      out.put(value.cpuBefore)
    case .memberReading(let value):
      out.put(value.pid.rawValue)
      out.put(value.parent.rawValue)
      out.put(bytes: value.name)
      out.put(value.at)
      out.put(value.cpu)
      out.put(value.childCPU)
      out.put(value.minorFaults)
      out.put(optional: value.memory) { $1.encode(into: &$0) }
    case .memberEnded(let pid, let at):
      out.put(pid.rawValue)
      out.put(at)
    case .treeRound(let at, let cpu, let stolen):
      out.put(at)
      out.put(optional: cpu) { $0.put($1) }
      out.put(optional: stolen) { $0.put($1) }
    case .executed(let at, let executable):
      out.put(at)
      out.put(bytes: executable)
    case .stopped(let isStopped, let at):
      out.put(isStopped)
      out.put(at)
    case .notice(let code, let detail):
      out.put(code.rawValue)
      out.put(detail)
    case .observer(let value):
      out.put(value.cpu)
      out.put(optional: value.residentPeak) { $0.put($1) }
      out.put(value.droppedEvents)
      value.captures.encode(into: &out)
    case .exited(let value):
      out.put(value.at)
      out.put(optional: value.status) { out, status in
        switch status {
        case .code(let code):
          out.put(byte: 0)
          out.put(code)
        case .signal(let signal):
          out.put(byte: 1)
          out.put(signal)
        }
      }
      out.put(optional: value.maxResident) { $0.put($1) }
      out.put(optional: value.launcherResident) { $0.put($1) }
    case .ended(let value):
      out.put(value.at)
      out.put(value.reason.rawValue)
    case .capability(let name, let value):
      out.put(name)
      out.put(value)
    case .loop(let value): value.encode(into: &out)
    case .stallBegan(let value): value.encode(into: &out)
    case .stallRetracted(let id): out.put(id)
    case .stall(let value): value.encode(into: &out)
    case .codePlace(let value): value.encode(into: &out)
    case .stack(let value): value.encode(into: &out)
    case .stallsIgnored(let patterns): out.put(list: patterns) { $0.put($1) }
    case .wait(let value): value.encode(into: &out)
    case .surroundings(let value): value.encode(into: &out)
    case .descriptors(let value):
      out.put(value.at)
      out.put(value.count)
    case .stallGoesOn(let stall, let around):
      stall.encode(into: &out)
      out.put(optional: around) { $1.encode(into: &$0) }
    case .waitProfile(let value): value.encode(into: &out)
    case .threadAlarm(let value): value.encode(into: &out)
    case .parked(let value): value.encode(into: &out)
    case .waitStack(let value): value.encode(into: &out)
    }
  }

  private static func event(
    _ kind: Kind, _ reader: inout ByteReader
  ) throws(WireError) -> ProbeEvent {
    switch kind {
    case .started: return .started(try SessionStart(from: &reader))
    case .threadSeen:
      return .threadSeen(
        ThreadSeen(
          tid: try reader.thread(), name: try reader.byteString(), isNew: try reader.bool(),
          cpu: try reader.nanoseconds(), runDelay: try reader.nanoseconds(),
          at: try reader.instant()))
    case .threadNamed:
      return .threadNamed(try reader.thread(), name: try reader.byteString())
    case .threadEnded: return .threadEnded(try reader.thread(), at: try reader.instant())
    case .tick:
      return .tick(
        Tick(
          at: try reader.instant(), late: try reader.nanoseconds(), skipped: try reader.int(),
          processCPU: try reader.optional { (r) throws(WireError) in try r.nanoseconds() },
          threadCount: try reader.int(),
          threads: try reader.list { (r) throws(WireError) in
            ThreadReading(
              tid: try r.thread(), cpu: try r.nanoseconds(), runDelay: try r.nanoseconds())
          }))
    case .threadDetail:
      return .threadDetail(
        ThreadDetail(
          tid: try reader.thread(), voluntarySwitches: try reader.unsigned(),
          involuntarySwitches: try reader.unsigned()))
    case .memory: return .memory(try MemoryReading(from: &reader))
    case .processTimes:
      return .processTimes(
        ProcessTimes(
          user: try reader.unsigned(), system: try reader.unsigned(),
          childUser: try reader.unsigned(), childSystem: try reader.unsigned(),
          childFaults: try reader.unsigned()))
    case .member:
      return .member(
        MemberSeen(
          pid: try reader.process(), parent: try reader.process(), name: try reader.byteString(),
          at: try reader.instant(), cpuBefore: try reader.nanoseconds()))
    case .memberReading:
      return .memberReading(
        MemberReading(
          pid: try reader.process(), parent: try reader.process(), name: try reader.byteString(),
          at: try reader.instant(), cpu: try reader.nanoseconds(),
          childCPU: try reader.nanoseconds(), minorFaults: try reader.unsigned(),
          memory: try reader.optional { (r) throws(WireError) in try MemoryReading(from: &r) }))
    case .memberEnded: return .memberEnded(try reader.process(), at: try reader.instant())
    case .treeRound:
      return .treeRound(
        at: try reader.instant(),
        cpu: try reader.optional { (r) throws(WireError) in try r.nanoseconds() },
        stolen: try reader.optional { (r) throws(WireError) in try r.nanoseconds() })
    case .executed:
      return .executed(at: try reader.instant(), executable: try reader.byteString())
    case .stopped: return .stopped(try reader.bool(), at: try reader.instant())
    case .notice:
      let text = try reader.string()
      guard let code = NoticeCode(rawValue: text) else { throw .malformed("notice \(text)") }
      return .notice(code, detail: try reader.string())
    case .observer:
      return .observer(
        ObserverReading(
          cpu: try reader.nanoseconds(),
          residentPeak: try reader.optional { (r) throws(WireError) in try r.unsigned() },
          droppedEvents: try reader.int(), captures: try CaptureCosts(from: &reader)))
    case .exited:
      return .exited(
        TargetExit(
          at: try reader.instant(),
          status: try reader.optional { (r) throws(WireError) in
            try r.byte() == 0 ? .code(try r.int32()) : .signal(try r.int32())
          },
          maxResident: try reader.optional { (r) throws(WireError) in try r.unsigned() },
          launcherResident: try reader.optional { (r) throws(WireError) in try r.unsigned() }))
    case .ended:
      let at = try reader.instant()
      let text = try reader.string()
      guard let reason = EndReason(rawValue: text) else { throw .malformed("end \(text)") }
      return .ended(SessionEnd(at: at, reason: reason))
    case .capability:
      return .capability(try reader.string(), value: try reader.string())
    case .loop: return .loop(try LoopReading(from: &reader))
    case .stallBegan: return .stallBegan(try StallBegan(from: &reader))
    case .stallRetracted: return .stallRetracted(try reader.int())
    case .stall: return .stall(try StallReading(from: &reader))
    case .codePlace: return .codePlace(try CodePlaceReading(from: &reader))
    case .stack: return .stack(try StackReading(from: &reader))
    case .wait: return .wait(try WaitReading(from: &reader))
    case .surroundings: return .surroundings(try StallSurroundings(from: &reader))
    case .descriptors:
      return .descriptors(
        DescriptorsReading(at: try reader.instant(), count: try reader.int()))
    case .stallGoesOn:
      let stall = try StallReading(from: &reader)
      let around = try reader.optional { (r) throws(WireError) in
        try StallSurroundings(from: &r)
      }
      return .stallGoesOn(stall, around)
    case .waitProfile: return .waitProfile(try WaitProfileReading(from: &reader))
    case .threadAlarm: return .threadAlarm(try ThreadAlarmReading(from: &reader))
    case .parked: return .parked(try ParkedReading(from: &reader))
    case .waitStack: return .waitStack(try WaitStackReading(from: &reader))
    case .stallsIgnored:
      return .stallsIgnored(try reader.list { (r) throws(WireError) in try r.string() })
    }
  }
}

extension ByteReader {
  mutating func thread() throws(WireError) -> ThreadID { ThreadID(try int32()) }
  mutating func process() throws(WireError) -> ProcessID { ProcessID(try int32()) }
}

extension MemoryReading {
  fileprivate func encode(into out: inout ByteWriter) {
    out.put(at)
    for field in [anonymous, shared, swap, pageTables, huge, residentPeak] { out.put(field) }
    out.put(optional: proportional) { $0.put($1) }
  }

  fileprivate init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      at: try reader.instant(), anonymous: try reader.unsigned(), shared: try reader.unsigned(),
      swap: try reader.unsigned(), pageTables: try reader.unsigned(), huge: try reader.unsigned(),
      residentPeak: try reader.unsigned(),
      proportional: try reader.optional { (r) throws(WireError) in try r.unsigned() })
  }
}

extension SessionStart {
  fileprivate func encode(into out: inout ByteWriter) {
    out.put(build.version)
    out.put(optional: build.commit) { $0.put($1) }
    out.put(target.pid)
    out.put(optional: target.executable) { $0.put($1) }
    out.put(list: target.command) { $0.put($1) }
    out.put(target.launched)
    out.put(optional: target.startTicks) { $0.put($1) }
    out.put(host.name)
    out.put(host.kernel)
    out.put(host.architecture)
    out.put(host.cores)
    out.put(host.container)
    out.put(startedAt)
    out.put(start)
    out.put(period)
    out.put(pageSize)
    out.put(clockTicksPerSecond)
    out.put(optional: cpuBefore) { $0.put($1) }
    out.put(followsChildren)
    out.put(list: capabilities.entries.sorted) { out, entry in
      out.put(entry.name)
      out.put(entry.text)
    }
    out.put(optional: stallThreshold) { $0.put($1) }
  }

  fileprivate init(from reader: inout ByteReader) throws(WireError) {
    let build = Summary.Build(
      version: try reader.string(),
      commit: try reader.optional { (r) throws(WireError) in try r.string() })
    let target = Summary.Target(
      pid: try reader.int32(),
      executable: try reader.optional { (r) throws(WireError) in try r.string() },
      command: try reader.list { (r) throws(WireError) in try r.string() },
      launched: try reader.bool(),
      startTicks: try reader.optional { (r) throws(WireError) in try r.unsigned() })
    let host = Summary.Host(
      name: try reader.string(), kernel: try reader.string(), architecture: try reader.string(),
      cores: try reader.int(), container: try reader.bool())
    self.init(
      build: build, target: target, host: host, startedAt: try reader.signed(),
      start: try reader.instant(), period: try reader.nanoseconds(), pageSize: try reader.int(),
      clockTicksPerSecond: try reader.int(),
      cpuBefore: try reader.optional { (r) throws(WireError) in try r.nanoseconds() },
      followsChildren: try reader.bool())
    let pairs = try reader.list { (r) throws(WireError) in (try r.string(), try r.string()) }
    for (name, text) in pairs { capabilities.entries[name] = text }
    stallThreshold = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
  }
}
