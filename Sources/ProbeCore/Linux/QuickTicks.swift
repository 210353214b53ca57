// Looks at a process whose threads are known, at the least cost: see cprobe_tick.h.
// Safety: the C object lives at a fixed address from init to deinit and is used by the owner's thread
// only; its counts stay within its arrays, as both are checked where they grow.

internal import CProbe

/// What was read since the last full look, not yet turned into events.
@safe struct QuickTicks: ~Copyable {
  /// What a look said.
  enum Answer {
    case noted
    /// Noted, and pages came or went.
    case newPages
    /// Not noted: take a full look.
    case unknown
    /// Nothing is noted of this moment: a descriptor is ready, or a look is due that is not to be
    /// taken without a thought.
    case woken
    /// Noted, and it is time to write the notes.
    case aged
  }

  /// A time of looks at a steady beat; see `lookOn`.
  struct Beat {
    var pid: ProcessID
    /// Of the next look; moved on with each that was noted.
    var deadline: Instant
    var period: Nanoseconds
    /// From here on there is more to do than to look.
    var limit: Instant
    /// Later than this a look is not noted.
    var latest: Nanoseconds
    /// The oldest note is to be written when it is so old.
    var age: Nanoseconds
    /// When it ended.
    var now: Instant
  }

  /// One noted look.
  struct Note {
    var at: Instant
    var late: Nanoseconds
    var skipped: Int
    var clock: Nanoseconds
    /// Whether the process ran since the look before.
    var ran: Bool
    /// Whether pages came or went since.
    var hasNewPages: Bool
  }

  static let maxThreads = Int(CPROBE_TICK_THREADS)
  static let maxNotes = Int(CPROBE_TICK_NOTES)

  private let ticks = UnsafeMutablePointer<cprobe_ticks>.allocate(capacity: 1)
  private var isArmed = false

  init() { unsafe ticks.initialize(to: cprobe_ticks()) }

  deinit { unsafe ticks.deallocate() }

  /// From now on looks are noted as long as these threads explain the clock.
  ///
  /// - Parameters:
  ///   - rest: the part of the clock that is not theirs.
  ///   - statm: the kept file, or -1; then every look says that pages came or went.
  mutating func arm(clock: Nanoseconds, rest: Nanoseconds, statm: Int32) {
    unsafe ticks.pointee.clock = clock.rawValue
    unsafe ticks.pointee.rest = rest.rawValue
    if unsafe ticks.pointee.statm != statm {
      unsafe ticks.pointee.statm = statm
      unsafe ticks.pointee.pages_length = -1
    }
    unsafe ticks.pointee.thread_count = 0
    isArmed = true
  }

  /// One of the threads, with its kept schedstat; `maxThreads` at the most.
  mutating func add(file: Int32) {
    guard unsafe ticks.pointee.thread_count < Self.maxThreads, file >= 0 else { return disarm() }
    unsafe cprobe_tick_add(ticks, file)
  }

  /// No more looks until it is armed again.
  mutating func disarm() { isArmed = false }

  mutating func take(at: Instant, late: Nanoseconds, skipped: Int, clock: Nanoseconds?) -> Answer {
    guard isArmed, let clock else { return .unknown }
    let answer = unsafe cprobe_tick(
      ticks, at.nanoseconds, late.rawValue, Int32(clamping: skipped), clock.rawValue)
    switch Int(answer) {
    case Int(CPROBE_TICK_NOTED): return .noted
    case Int(CPROBE_TICK_NEW_PAGES): return .newPages
    default: return .unknown
    }
  }

  /// The next look has to read memory, as if pages had come or gone.
  mutating func expectNewPages() { unsafe ticks.pointee.pages_length = -1 }

  /// Waits, and looks at each deadline, until there is something else to do.
  ///
  /// - Parameter set: what else is waited for.
  /// - Returns: why it ended; nil if it did not begin, as it is not armed.
  mutating func lookOn(_ beat: inout Beat, _ set: inout WaitSet) -> Answer? {
    guard isArmed, let epoll = set.epollNumber else { return nil }
    var looks = cprobe_looks(
      epoll: epoll, clock: Clock.processClock(beat.pid), deadline: beat.deadline.nanoseconds,
      limit: beat.limit.nanoseconds, period: beat.period.rawValue, latest: beat.latest.rawValue,
      age: beat.age.rawValue, now: 0, ready: 0)
    let answer = unsafe cprobe_look_on(ticks, &looks)
    beat.deadline = Instant(nanoseconds: looks.deadline)
    beat.now = Instant(nanoseconds: looks.now)
    set.found(looks.ready)
    switch Int(answer) {
    case Int(CPROBE_LOOKS_WOKEN): return .woken
    case Int(CPROBE_LOOKS_AGED): return .aged
    case Int(CPROBE_TICK_NEW_PAGES): return .newPages
    default: return .unknown
    }
  }

  var noteCount: Int { Int(unsafe ticks.pointee.note_count) }

  /// - Parameter number: below `noteCount`.
  func note(_ number: Int) -> Note {
    precondition(number < noteCount)
    let note = unsafe cprobe_tick_note(ticks, number)
    return Note(
      at: Instant(nanoseconds: unsafe note.pointee.at), late: Nanoseconds(unsafe note.pointee.late),
      skipped: Int(unsafe note.pointee.skipped), clock: Nanoseconds(unsafe note.pointee.clock),
      ran: unsafe note.pointee.ran != 0, hasNewPages: unsafe note.pointee.new_pages != 0)
  }

  /// What the thread that was added as number `thread` had used at a look at which the process ran.
  func reading(_ number: Int, thread: Int) -> (cpu: Nanoseconds, runDelay: Nanoseconds) {
    precondition(number < noteCount && thread < Self.maxThreads)
    let reading = unsafe cprobe_tick_reading(ticks, number, thread)
    return (Nanoseconds(reading.cpu), Nanoseconds(reading.delay))
  }

  /// Forgets the notes; they have been written.
  mutating func forget() { unsafe ticks.pointee.note_count = 0 }
}
