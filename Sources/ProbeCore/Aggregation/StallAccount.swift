// Loops and stalls of a run: sums of all, details of the first ones, bounded.

/// Folds what the detectors tell.
struct StallAccount: Sendable, Equatable {
  /// Stalls kept one by one; the rest is in the sums (DESIGN part 5). The longest are never dropped.
  static let capacity = 100

  /// Stalls that a live view can still tell of. Chosen.
  static let recentCapacity = 8

  private(set) var loops: [LoopReading] = []
  private(set) var stalls: [StallReading] = []
  private(set) var open: [StallBegan] = []
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

  mutating func retracted(_ id: Int) {
    for stall in open where stall.id == id { stacks.retracted(stall.tid) }
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
    open.removeAll { $0.id == stall.id }
    ended += 1
    recent.append(stall)
    if recent.count > Self.recentCapacity { recent.removeFirst() }
    if stall.counts {
      count += 1
      total += stall.judged
      longest = max(longest ?? .zero, stall.judged)
    }
    stacks.ended(stall, isKept: keep(stall))
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

  func stallRows(start: Instant, names: (ThreadID) -> String) -> [Summary.Stall] {
    stalls.sorted { ($0.start, $0.id) < ($1.start, $1.id) }.map { stall in
      let taken = stacks.rows(stall)
      let signature = StallSignature(taken, parts: stall.parts).text
      return Summary.Stall(
        id: stall.id, tid: stall.tid.rawValue, thread: names(stall.tid), kind: stall.kind.rawValue,
        level: StallLevel(stall.duration - stall.parts.stopped).rawValue,
        start: max(.zero, stall.start - start), duration: stall.duration, error: stall.error,
        observer: stall.observer.rawValue, certainty: stall.certainty.rawValue,
        cause: Summary.Cause(sentence: CauseSentence.of(stall), parts: stall.parts), blame: nil,
        blocker: nil, signature: signature, group: nil,
        ignored: ignored.contains(signature), stacks: taken)
    }
  }

  private func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}

/// The cause of a stall in words: its largest part.
enum CauseSentence {
  static func of(_ stall: StallReading) -> String {
    let parts = stall.parts
    let named: [(time: Nanoseconds, words: String)] = [
      (parts.cpuUser + parts.cpuSystem, "computing"),
      (parts.runDelay, "ready to run, but other threads had the CPUs"),
      (parts.lock, "waiting for a lock"), (parts.disk, "waiting for a file"),
      (parts.pipe, "waiting for a pipe"), (parts.socket, "waiting for a socket"),
      (parts.sleep, "sleeping"), (parts.child, "waiting for a child process"),
      (parts.pageFault, "waiting for a page"), (parts.stopped, "stopped"),
      (parts.throttled, "throttled"),
      (parts.otherWait, stall.kind == .nested ? "in a nested wait" : "waiting in the kernel"),
      (parts.unknown, "not measured"),
    ]
    let sorted = named.enumerated().sorted {
      ($0.element.time, $1.offset) > ($1.element.time, $0.offset)
    }
    guard let main = sorted.first?.element, main.time > .zero else { return "not measured" }
    return "\(Units.text(main.time)) \(main.words)"
  }
}

extension StallReading {
  /// Held against the program.
  var counts: Bool { kind == .stall || kind == .exit }
  /// Its length without the time in which the target was stopped.
  var judged: Nanoseconds { duration - parts.stopped }
}
