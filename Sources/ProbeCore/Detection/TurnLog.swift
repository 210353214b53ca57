// Counts turns, finds stalls among them, and tells of both.

/// A turn that has ended or is cut off.
struct Turn: Sendable, Equatable {
  var kind: StallKind
  var start: Instant
  var end: Instant
  /// To either side of the length.
  var error: Nanoseconds
  /// Stopped, traced or frozen: part of the length, but not of what is judged.
  var stopped: Nanoseconds
  /// Waiting for children and threads on the way out: nobody is served any more.
  var windingDown = Nanoseconds.zero
  var certainty: Certainty
  var parts: Summary.CauseParts

  var length: Nanoseconds { max(.zero, end - start) }
  /// What is held against the threshold.
  var judged: Nanoseconds { max(.zero, length - stopped - windingDown) }
}

/// What the detector wants to be told to the session.
enum LoopNews: Sendable, Equatable {
  case began(StallBegan)
  case stalled(StallReading)
  /// A stall that was announced turned out to be none.
  case retracted(Int)
}

/// Sums over the turns of one loop thread.
struct TurnLog: Sendable, Equatable {
  /// From here on a turn counts as long; what goes beyond it is blocking time.
  static let longTurn = Nanoseconds.milliseconds(50)

  let tid: ThreadID
  var observer: LoopObserver
  let threshold: Nanoseconds
  private(set) var turns = 0
  private(set) var longTurns = 0
  private(set) var blockingTime = Nanoseconds.zero
  private(set) var longest: Nanoseconds?
  private(set) var histogram = TurnHistogram()
  var undecided = Nanoseconds.zero
  private(set) var startup: Nanoseconds?
  /// By the other threads of a loop that moves, in the turn that goes on.
  var othersComputed = Nanoseconds.zero
  private(set) var news: [LoopNews] = []
  private var nextID: Int
  private var open: (id: Int, start: Instant)?

  /// - Parameter firstID: numbers of stalls are unique in a run; each loop gets a range of its own.
  init(tid: ThreadID, observer: LoopObserver, threshold: Nanoseconds, firstID: Int) {
    self.tid = tid
    self.observer = observer
    self.threshold = threshold
    nextID = firstID
  }

  /// The news since the last call.
  mutating func takeNews() -> [LoopNews] {
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  /// Counts anew: the turns so far were only those that probes happened to see.
  mutating func forgetTurns() {
    turns = 0
    histogram = TurnHistogram()
  }

  /// A turn has reached the threshold and goes on.
  mutating func begin(_ kind: StallKind, start: Instant) {
    guard open == nil else { return }
    open = (nextID, start)
    news.append(.began(StallBegan(id: nextID, tid: tid, start: start, kind: kind)))
    nextID += 1
  }

  var hasOpenStall: Bool { open != nil }
  /// Its number.
  var openStall: Int? { open?.id }

  /// The turn that was announced is none.
  mutating func retract() {
    if let open { news.append(.retracted(open.id)) }
    open = nil
  }

  /// Whether others of the loop's threads computed for a quarter of a turn or more. Then they work at the
  /// same time, as a pool does. Chosen: far more than a runtime's timers and housekeeping take.
  ///
  /// - Parameter runDelay: its part without a CPU; on a busy machine the others had none then either.
  func isWorkOfMany(_ length: Nanoseconds, runDelay: Nanoseconds) -> Bool {
    othersComputed > .zero && othersComputed * 4 >= length - runDelay
  }

  /// From which length on a turn of that kind is told. Starting an interpreter takes 50 to 200 ms, and who
  /// asks for stalls of 50 ms means the loop: start-up has to be a stall by the usual measure as well.
  func limit(of kind: StallKind) -> Nanoseconds {
    kind == .startup ? max(threshold, Self.startupThreshold) : threshold
  }

  /// The threshold that holds if none is set.
  static let startupThreshold = Nanoseconds.milliseconds(250)

  /// A turn has ended.
  mutating func end(_ turn: Turn) {
    if turn.kind != .startup, turn.judged >= threshold,
      isWorkOfMany(turn.judged, runDelay: turn.parts.runDelay)
    {
      undecided += turn.length
      retract()
      return
    }
    if turn.kind == .startup { startup = turn.length }
    if turn.kind == .stall {
      turns += 1
      histogram.add(turn.length)
      longest = max(longest ?? .zero, turn.judged)
      if turn.judged >= Self.longTurn {
        longTurns += 1
        blockingTime += turn.judged - Self.longTurn
      }
    }
    let wasOpen = open
    open = nil
    guard turn.judged >= limit(of: turn.kind) else {
      if let wasOpen { news.append(.retracted(wasOpen.id)) }
      return
    }
    var id = nextID
    if let wasOpen {
      id = wasOpen.id
    } else {
      nextID += 1
    }
    news.append(
      .stalled(
        StallReading(
          id: id, tid: tid, kind: turn.kind, start: turn.start, duration: turn.length,
          error: turn.error, observer: observer, certainty: turn.certainty, parts: turn.parts)))
  }

  static func == (left: Self, right: Self) -> Bool {
    left.tid == right.tid && left.turns == right.turns && left.longTurns == right.longTurns
      && left.blockingTime == right.blockingTime && left.longest == right.longest
      && left.news == right.news && left.undecided == right.undecided
  }
}
