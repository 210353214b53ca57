// Whether and when the records of a thread's context switches are read beside its probes.

/// The switch records of one watched thread.
struct SwitchReader: ~Copyable {
  /// Sleeps a second beyond which the thread is left alone. Each costs it 0.9 us (measured on 6.18 with two
  /// processes that wake each other by pipes): half a percent.
  static let tolerable = 5_000
  /// The first event of a machine takes the kernel 10 to 16 ms, in which nothing is probed: not for a
  /// program that ends at once, and only while the thread is at home. Chosen.
  static let delay = Nanoseconds.milliseconds(250)

  /// What has come of it, for all watched threads together.
  enum Standing: Sendable, Equatable {
    case notTried
    case used(places: Bool)
    /// Why not, in words.
    case refused(String)
    case givenUp(String)

    var isUsed: Bool { if case .used = self { true } else { false } }
  }

  private(set) var standing = Standing.notTried
  private var trace: SwitchTrace?
  private var codes = SleepCodes()
  private let begins: Instant
  private var counted = (sleeps: 0, since: Instant(nanoseconds: 0))

  private let open: (ThreadID) throws(SystemError) -> SwitchTrace

  init(
    from now: Instant,
    open: @escaping (ThreadID) throws(SystemError) -> SwitchTrace = SwitchTrace.init
  ) {
    begins = now + Self.delay
    self.open = open
  }

  /// Begins once the thread was seen at a known home.
  mutating func begin(_ tid: ThreadID, at now: Instant, _ detector: inout LoopDetector) {
    guard standing == .notTried, now >= begins, detector.isAtRest else { return }
    do {
      trace = try open(tid)
      standing = .used(places: trace?.tellsPlaces == true)
      counted.since = Clock.now()
      detector.goOnWithSwitches(places: trace?.tellsPlaces == true)
    } catch {
      standing = .refused("the kernel does not permit them (\(error.call): \(error.reason))")
    }
  }

  /// Hands over the records up to a probe that was just taken.
  ///
  /// - Parameter stops: our own stops, which the kernel counts as sleeps of the thread's.
  mutating func read(
    _ tid: ThreadID, stops: OwnStops = OwnStops(), into detector: inout LoopDetector
  ) {
    guard trace != nil else { return }
    var sleeps = 0
    trace?.take { record in
      var record = record
      if record.step == .slept, stops.windows.contains(where: { $0.contains(record.at) }) {
        record.step = .preempted
      }
      if record.step == .slept, let place = record.place {
        record.kind = codes.kind(at: place) {
          ProcessMemory.copy(ProcessID(tid.rawValue), at: $0, count: $1)
        }
      }
      detector.take(record)
      if record.step != .ran { sleeps += 1 }
      if record.step == .lost { sleeps += Self.tolerable / 100 }
    }
    giveUpIfTooMany(tid, sleeps, &detector)
  }

  /// The kernel's tracepoints tell more: these are not needed beside them.
  mutating func end() {
    trace = nil
    if standing == .notTried { standing = .refused("not needed: the tracepoints tell more") }
  }

  private mutating func giveUpIfTooMany(
    _ tid: ThreadID, _ sleeps: Int, _ detector: inout LoopDetector
  ) {
    counted.sleeps += sleeps
    let now = Clock.now()
    let time = now - counted.since
    guard time >= .milliseconds(500) else { return }
    let rate = Int(Double(counted.sleeps) / time.inSeconds)
    counted = (0, now)
    guard rate > Self.tolerable else { return }
    trace = nil
    detector.goOnWithoutSwitches()
    standing = .givenUp("thread \(tid) was switched \(rate) times a second")
  }
}

extension SwitchReader.Standing {
  /// The answer in `observer.capabilities`.
  var text: String {
    switch self {
    case .notTried: "not used: no loop was at rest for long enough"
    case .used(let places):
      places
        ? "yes, with the place of each sleep"
        : "yes, but not where it slept (needs kernel.perf_event_paranoid 1 or CAP_PERFMON)"
    case .refused(let why): why
    case .givenUp(let why): "yes, but given up to spare the target: \(why)"
    }
  }
}
