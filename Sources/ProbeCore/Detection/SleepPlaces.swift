// What a thread waits for at a place of which only the registers are known.

/// A sleep that no probe saw.
enum HiddenSleep: Sendable, Equatable {
  /// Nobody knows where.
  case unknown
  /// As if a probe had seen it.
  case seen(ThreadProbe.State)
  /// At home, between others there, with short turns on both sides.
  case passing(Wait)
}

/// The waits that probes saw, by the place where they were.
struct SleepPlaces: Sendable, Equatable {
  /// Places kept; then all are learnt anew. Chosen.
  static let capacity = 1024
  /// The shortest awake time beside a visit home that is looked at by itself, as a share of the threshold:
  /// a loop of short turns has thousands of them a second, and none is a stall. Chosen.
  static let calmShare: Int64 = 4

  var threshold: Nanoseconds
  /// Instructions at which a probe saw a wait that can be a home.
  private var homely: Set<UInt64> = []
  /// nil where waits of several kinds were seen: some C libraries make all calls at one instruction.
  private var waits: [SleepPlace: Wait?] = [:]

  init(threshold: Nanoseconds) { self.threshold = threshold }

  /// A probe saw the thread at this wait.
  mutating func saw(_ wait: Wait) {
    let place = SleepPlace(
      stackPointer: wait.site.stackPointer, programCounter: wait.site.programCounter)
    if wait.waitClass != .never, homely.count < Self.capacity {
      homely.insert(place.programCounter)
    }
    guard let known = waits[place] else {
      if waits.count >= Self.capacity { waits.removeAll(keepingCapacity: true) }
      waits[place] = wait
      return
    }
    guard let known else { return }
    let isSame = known.site.call == wait.site.call && known.waitClass == wait.waitClass
    waits[place] = .some(isSame ? wait : nil)
  }

  /// What the thread did in the sleep that this record begins; nil if that is not known.
  func state(_ record: SwitchRecord) -> ThreadProbe.State? {
    guard record.step == .slept else { return nil }
    guard let place = record.place else { return record.kind }
    if let known = waits[place] { return known.map { .waiting($0) } }
    if let kind = record.kind { return kind }
    // Which call it is is not known, but no wait that can be a home was ever seen to be made there.
    guard !homely.isEmpty, !homely.contains(place.programCounter) else { return nil }
    return .waiting(
      Wait(
        site: WaitSite(
          call: WaitSite.unknownCall, stackPointer: place.stackPointer,
          programCounter: place.programCounter), waitClass: .never, category: .other))
  }

  /// The sleeps that records between two probes begin; `unknown` for other records.
  func views(
    _ records: ArraySlice<SwitchRecord>, from last: ThreadProbe, isHome: (Wait) -> Bool
  ) -> [HiddenSleep] {
    let states = records.map { state($0) }
    var views = states.map { $0.map { HiddenSleep.seen($0) } ?? .unknown }
    var sleeps: [Sleep] = []
    if case .waiting(let wait) = last.state {
      sleeps.append(Sleep(record: nil, start: last.at, end: nil, isHome: isHome(wait)))
    }
    for (number, record) in records.enumerated() {
      if record.step == .slept {
        var isHomely = false
        if case .waiting(let wait)? = states[number] { isHomely = isHome(wait) }
        sleeps.append(Sleep(record: number, start: record.at, end: nil, isHome: isHomely))
      } else if record.step == .ran, let open = sleeps.indices.last, sleeps[open].end == nil {
        sleeps[open].end = record.at
      }
    }
    let calm = Nanoseconds(threshold.rawValue / Self.calmShare)
    for place in sleeps.indices.dropFirst().dropLast() where sleeps[place].isHome {
      let before = sleeps[place - 1]
      let after = sleeps[place + 1]
      guard before.isHome, after.isHome, let woke = before.end, let end = sleeps[place].end,
        sleeps[place].start - woke < calm, after.start - end < calm
      else { continue }
      if let record = sleeps[place].record, case .waiting(let wait)? = states[record] {
        views[record] = .passing(wait)
      }
    }
    return views
  }

  private struct Sleep {
    var record: Int?
    var start: Instant
    var end: Instant?
    var isHome: Bool
  }
}
