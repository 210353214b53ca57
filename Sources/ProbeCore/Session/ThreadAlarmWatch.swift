// The alarm for many threads, fed on pw-poller with what the ticks know anyway.

/// Watches how many threads there are, and orders a look at them.
struct ThreadAlarmWatch {
  /// So many are looked at. Chosen: two milliseconds of CPU.
  static let threadsLooked = 64
  /// How far the watched thread's delay is remembered.
  private static let memory = Nanoseconds.seconds(10)

  private let pid: ProcessID
  private let isLaunched: Bool
  private var detector: ThreadAlarm
  private var current: ThreadAlarmReading?
  private var number = 0
  /// A reading a second; the last one is the newest.
  private var delays: [(at: Instant, delay: Nanoseconds)] = []
  /// The delay's counter when the growth began.
  private var base: (at: Instant, delay: Nanoseconds)?

  init(limit: Int, pid: ProcessID, isLaunched: Bool) {
    self.pid = pid
    self.isLaunched = isLaunched
    detector = ThreadAlarm(limit: limit)
  }

  mutating func take(
    _ threads: borrowing ThreadSampler, at time: Instant, _ loops: LoopWatcher?,
    _ desk: CaptureDesk?, _ queue: EventQueue
  ) {
    let delay = loops?.loops.first?.lastProbe.map { (at: $0.at, delay: $0.runDelay) }
    defer { if let delay { remember(delay) } }
    guard let news = detector.take(threads.count, at: time) else { return }
    switch news {
    case .began(let reason, let from, let since):
      number += 1
      var alarm = ThreadAlarmReading(
        number: number, at: time, reason: reason, limit: detector.limit, threads: threads.count)
      alarm.grown = from.map { ($0, since) }
      alarm.watched = loops?.loops.first?.sampler.tid
      // The last reading before it grew, and the oldest one before that.
      base = delays.last { $0.at <= since } ?? delay
      if let base, let first = delays.first, base.at - first.at >= .milliseconds(300) {
        alarm.before = .init(base.delay - first.delay, over: base.at - first.at)
      }
      current = alarm
      tell(queue)
    case .look:
      update(delay)
      tell(queue)
      look(threads, desk)
    case .ended:
      current?.endedAt = time
      update(delay)
      tell(queue)
      current = nil
    }
  }

  /// An alarm that goes on at the end.
  mutating func finish(at time: Instant, _ loops: LoopWatcher?, _ queue: EventQueue) {
    guard current != nil else { return }
    update(loops?.loops.first?.lastProbe.map { ($0.at, $0.runDelay) })
    tell(queue)
  }

  private mutating func update(_ delay: (at: Instant, delay: Nanoseconds)?) {
    current?.peak = detector.peak
    guard let base, let delay, delay.at > base.at else { return }
    current?.during = .init(delay.delay - base.delay, over: delay.at - base.at)
  }

  private func tell(_ queue: EventQueue) {
    if let current { queue.append(.threadAlarm(current)) }
  }

  private mutating func remember(_ reading: (at: Instant, delay: Nanoseconds)) {
    guard current == nil else { return }
    delays.removeAll { reading.at - $0.at > Self.memory }
    if let last = delays.last, reading.at - last.at < .milliseconds(90) { return }
    delays.append(reading)
  }

  private func look(_ threads: borrowing ThreadSampler, _ desk: CaptureDesk?) {
    guard let desk, let current else { return }
    // The newest ones are the surplus, and they have the highest numbers as a rule.
    let all = threads.threads.map(\.tid).filter { $0 != pid.rawValue }.sorted()
    let old = current.grown?.from ?? 0
    let surplus = all.count > old ? all.dropFirst(max(0, old - 1)) : all[...]
    let count = min(Self.threadsLooked, surplus.count)
    guard count > 0 else { return }
    let chosen = (0..<count).map {
      ThreadID(surplus[surplus.startIndex + $0 * surplus.count / count])
    }
    // The pw-tracer of a launched target is there already.
    if !isLaunched { desk.startTracer(pid) }
    desk.order(ParkedOrder(alarm: current.number, threads: chosen))
  }
}
