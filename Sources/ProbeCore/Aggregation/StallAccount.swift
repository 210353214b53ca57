// Loops and stalls of a run: sums of all, details of the first ones, bounded.

/// Folds what the detectors tell.
struct StallAccount: Sendable, Equatable {
  /// Stalls kept one by one; the rest is in the sums (DESIGN part 5). The longest are never dropped.
  static let capacity = 100

  /// A stall that goes on.
  struct Growing: Sendable, Equatable {
    var stall: StallReading
    var around: StallSurroundings?
  }

  /// Stalls that a live view can still tell of. Chosen.
  static let recentCapacity = 8

  private(set) var loops: [LoopReading] = []
  private(set) var stalls: [StallReading] = []
  private(set) var open: [StallBegan] = []
  /// Of those that go on, what was told last.
  private(set) var growing: [Growing] = []
  private(set) var omitted = 0
  /// The last stalls that ended, oldest first, and how many have ended in all: for the live view.
  private(set) var recent: [StallReading] = []
  private(set) var ended = 0
  /// Over all stalls of the kinds that are held against a program, omitted ones included.
  private(set) var count = 0
  private(set) var total = Nanoseconds.zero
  private(set) var longest: Nanoseconds?
  /// Of those that count and are not kept.
  private var longestOmitted = Nanoseconds.zero
  var ignored = IgnoredStalls()
  private(set) var stacks = StackAccount()
  private var waits = WaitAccount()
  /// By number of the stall.
  private var surroundings: [Int: StallSurroundings] = [:]

  mutating func loop(_ reading: LoopReading) {
    if let place = loops.firstIndex(where: { $0.tid == reading.tid }) {
      loops[place] = reading
    } else {
      loops.append(reading)
    }
  }

  mutating func began(_ stall: StallBegan) {
    guard open.count < Self.capacity else { return }
    open.append(stall)
  }

  mutating func goesOn(_ stall: StallReading, _ around: StallSurroundings?) {
    growing.removeAll { $0.stall.id == stall.id }
    guard growing.count < Self.capacity else { return }
    growing.append(Growing(stall: stall, around: around))
  }

  mutating func endGrowing() {
    for entry in growing {
      ended(entry.stall)
      if let around = entry.around { surroundings(around) }
    }
  }

  mutating func retracted(_ id: Int) {
    growing.removeAll { $0.stall.id == id }
    for stall in open where stall.id == id {
      stacks.retracted(stall.tid)
      waits.retracted(stall.tid)
    }
    open.removeAll { $0.id == id }
  }

  mutating func place(_ place: CodePlaceReading) { stacks.add(place) }

  /// Adds a stack to the stall in which it was taken, whichever of both is told first.
  mutating func stack(_ stack: StackReading) {
    if let stall = stalls.last(where: { $0.tid == stack.tid && $0.contains(stack.at) }) {
      stacks.add(stack, toStall: stall.id)
    } else if open.contains(where: { $0.tid == stack.tid && $0.start <= stack.at }) {
      stacks.add(pending: stack)
    }
  }

  /// Adds a wait to the stall in which it was seen.
  mutating func wait(_ wait: WaitReading) {
    if let stall = stalls.last(where: { $0.tid == wait.tid && $0.contains(wait.at) }) {
      waits.add(wait, toStall: stall.id)
    } else if open.contains(where: { $0.tid == wait.tid && $0.start <= wait.at }) {
      waits.add(pending: wait)
    }
  }

  /// Adds what went on around a stall that is kept.
  mutating func surroundings(_ value: StallSurroundings) {
    guard stalls.contains(where: { $0.id == value.stall }) else { return }
    surroundings[value.stall] = value
  }

  /// What is known by now of a moment of a thread.
  enum Moment: Sendable, Equatable {
    case inStall(StallReading)
    case inOpenStall
    /// Not yet known to be in one.
    case open
    /// In no stall, or in one that is not kept.
    case past
  }

  func moment(_ tid: ThreadID, _ time: Instant) -> Moment {
    if let stall = stalls.last(where: { $0.tid == tid && $0.contains(time) }) {
      return .inStall(stall)
    }
    for stall in open where stall.tid == tid {
      return stall.start <= time ? .inOpenStall : .past
    }
    let isPast = recent.contains { $0.tid == tid && $0.start + $0.duration >= time }
    return isPast ? .past : .open
  }

  mutating func ended(_ stall: StallReading) {
    growing.removeAll { $0.stall.id == stall.id }
    open.removeAll { $0.id == stall.id }
    ended += 1
    recent.append(stall)
    if recent.count > Self.recentCapacity { recent.removeFirst() }
    if stall.counts {
      count += 1
      total += stall.judged
      longest = max(longest ?? .zero, stall.judged)
    }
    let isKept = keep(stall)
    stacks.ended(stall, isKept: isKept)
    waits.ended(stall, isKept: isKept)
  }

  private mutating func keep(_ stall: StallReading) -> Bool {
    guard stalls.count >= Self.capacity else {
      stalls.append(stall)
      return true
    }
    omitted += 1
    // A later stall takes the place of the shortest one if it is longer.
    guard let shortest = stalls.indices.min(by: { stalls[$0].duration < stalls[$1].duration }),
      stalls[shortest].duration < stall.duration
    else {
      omit(stall)
      return false
    }
    omit(stalls[shortest])
    stacks.dropped(stall: stalls[shortest].id)
    waits.dropped(stall: stalls[shortest].id)
    surroundings[stalls[shortest].id] = nil
    stalls[shortest] = stall
    return true
  }

  private mutating func omit(_ stall: StallReading) {
    if stall.counts { longestOmitted = max(longestOmitted, stall.judged) }
  }

  /// The sums; nil unless at least one loop was judged.
  ///
  /// - Parameter rows: the stalls that are kept. One that is not kept has no signature any more, so it
  ///   counts.
  func totals(of rows: [Summary.Stall]) -> Summary.StallTotals {
    guard loops.contains(where: { $0.verdictless == nil }) else {
      return Summary.StallTotals(count: nil, total: nil, longest: nil)
    }
    let without = Set(rows.filter(\.ignored).map(\.id))
    guard !without.isEmpty else {
      return Summary.StallTotals(count: count, total: total, longest: longest ?? .zero)
    }
    var totals = (count: count, total: total, longest: longestOmitted)
    for stall in stalls where stall.counts {
      if without.contains(stall.id) {
        totals.count -= 1
        totals.total += .zero - stall.judged
      } else {
        totals.longest = max(totals.longest, stall.judged)
      }
    }
    return Summary.StallTotals(count: totals.count, total: totals.total, longest: totals.longest)
  }

  func loopRows(names: (ThreadID) -> String) -> [Summary.Loop] {
    loops.map { loop in
      Summary.Loop(
        tid: loop.tid.rawValue, name: names(loop.tid), observer: loop.observer.rawValue,
        homes: loop.homes.map {
          Summary.Home(
            syscall: $0.call, stackPointer: hex($0.site.stackPointer),
            programCounter: hex($0.site.programCounter), visits: $0.visits, symbol: nil)
        },
        turns: loop.turns, longTurns: loop.longTurns, blockingTime: loop.blockingTime,
        longestTurn: loop.longestTurn, startup: loop.startup, verdictless: loop.verdictless,
        undecided: loop.undecided,
        histogram: loop.histogram.map { histogram in
          histogram.counts.sorted { $0.key < $1.key }.map {
            Summary.TurnBucket(below: TurnHistogram.upperBound($0.key), count: $0.value)
          }
        })
    }
  }

  /// Why a stall was, as far as it is known by now.
  func sentence(of stall: StallReading, thread: String) -> String {
    story(of: stall, thread: thread).sentence
  }

  private func story(of stall: StallReading, thread: String) -> StallStory {
    let taken = stacks.rows(stall)
    let around = surroundings[stall.id]
    var stall = stall
    if let around { stall.parts = around.sharpened(stall.parts, length: stall.duration) }
    return StallStory(
      stall: stall, thread: thread, stacks: taken,
      waits: waits.rows(stall, taken, frames: stacks.frames), surroundings: around)
  }

  func stallRows(start: Instant, names: (ThreadID) -> String) -> [Summary.Stall] {
    stalls.sorted { ($0.start, $0.id) < ($1.start, $1.id) }.map { stall in
      let story = story(of: stall, thread: names(stall.tid))
      let taken = story.stacks
      let parts = story.stall.parts
      let blame = StallBlame(parts, length: stall.duration, story.surroundings)
      let signature = StallSignature(taken, parts: parts).text
      return Summary.Stall(
        id: stall.id, tid: stall.tid.rawValue, thread: names(stall.tid), kind: stall.kind.rawValue,
        level: StallLevel(stall.duration - stall.parts.stopped).rawValue,
        start: max(.zero, stall.start - start), duration: stall.duration, error: stall.error,
        observer: stall.observer.rawValue, certainty: stall.certainty.rawValue,
        cause: Summary.Cause(sentence: story.sentence, parts: parts), blame: blame.word,
        environmentPercent: blame.environment * 100, blocker: story.blocker, signature: signature,
        group: nil,
        ignored: ignored.contains(signature), stacks: taken)
    }
  }

  private func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}

extension StallReading {
  /// Held against the program.
  var counts: Bool { kind == .stall || kind == .exit }
  /// Its length without the time in which the target was stopped.
  var judged: Nanoseconds { duration - parts.stopped }
}
