// When stacks of a stalled thread are taken. Pure: probes say how long a turn has lasted.

/// A turn that goes on, as far as probes can tell.
struct OpenTurn: Sendable, Equatable {
  /// Names the turn: another start is another turn.
  var start: Instant
  /// How long it has lasted, without the time in which the thread was stopped.
  var length: Nanoseconds
  /// The last probe that saw it going on.
  var lastSeen: Instant
}

/// The captures of one thread: nothing of turns that are over soon, little of those that go on for long.
struct CaptureSchedule: Sendable, Equatable {
  /// Captures of one turn.
  static let limit = 20
  /// Steps that are kept at `longestStep`, after those that grow.
  private static let evenSteps = 5
  static let firstStep = Nanoseconds.milliseconds(50)
  static let longestStep = Nanoseconds.seconds(1)

  /// A turn of this length is looked at for the first time.
  private let firstLength: Nanoseconds
  private var turn: Instant?
  private var taken = 0
  private var next = Nanoseconds.zero

  /// - Parameter threshold: of a stall; half of it is waited for.
  init(threshold: Nanoseconds) { firstLength = threshold / 2 }

  /// How long to wait after capture number `count`: 50 ms, growing as the Fibonacci numbers do, up to a
  /// second; after some eight seconds each step is twice the one before, so that 20 captures reach over
  /// minutes (chosen).
  static func step(after count: Int) -> Nanoseconds {
    var (step, following) = (firstStep, firstStep)
    var number = 1
    while number < count, step < longestStep {
      (step, following) = (following, step + following)
      number += 1
    }
    step = min(step, longestStep)
    let doublings = min(max(0, count - number - evenSteps), 20)
    return Nanoseconds(step.rawValue << Int64(doublings))
  }

  /// Whether a stack is wanted now. Ask at every probe.
  ///
  /// - Parameters:
  ///   - open: the turn that goes on; nil if there is none.
  ///   - atLeast: turns shorter than this are not looked at, whatever the threshold.
  func isDue(_ open: OpenTurn?, atLeast: Nanoseconds = .zero) -> Bool {
    guard let open else { return false }
    guard open.start == turn else { return open.length >= max(firstLength, atLeast) }
    return taken < Self.limit && open.length >= next
  }

  /// Whether no capture of this turn was ordered yet.
  func isFirst(_ open: OpenTurn) -> Bool { open.start != turn }

  /// A capture of this turn was ordered.
  mutating func take(_ open: OpenTurn) {
    if open.start != turn {
      turn = open.start
      taken = 0
    }
    taken += 1
    next = open.length + Self.step(after: taken)
  }
}

/// What captures may cost: the target's time above all.
struct CaptureBudget: Sendable, Equatable {
  /// Stops together: 0.1 % of the time, and of a short run this much. Chosen: some forty stops.
  static let freeStops = Nanoseconds.milliseconds(2)
  /// Our own CPU for it: 1 % of a core, and of a short run this much. Chosen: opening and reading the
  /// symbol tables of a large program takes most of it.
  static let freeCPU = Nanoseconds.milliseconds(150)

  /// A stall without any stack is worth little: the first one may cost up to so many times as much.
  static let firstFactor: Int64 = 10

  /// Whether another capture is within it; else it has to wait.
  ///
  /// - Parameter isFirst: there is none yet of this turn.
  static func allows(
    stopped: Nanoseconds, cpu: Nanoseconds, elapsed: Nanoseconds, isFirst: Bool = false
  ) -> Bool {
    let factor = isFirst ? firstFactor : 1
    return stopped <= (freeStops + elapsed / 1000) * factor
      && cpu <= (freeCPU + elapsed / 100) * factor
  }
}

/// From which length on a stall would be kept in full: the longest ones are, once there are many.
struct KeptLengths: Sendable, Equatable {
  let capacity: Int
  /// Shortest first.
  private var lengths: [Nanoseconds] = []

  init(capacity: Int) { self.capacity = capacity }

  mutating func add(_ length: Nanoseconds) {
    if lengths.count >= capacity {
      guard let shortest = lengths.first, length > shortest else { return }
      lengths.removeFirst()
    }
    let place = lengths.firstIndex { $0 >= length } ?? lengths.count
    lengths.insert(length, at: place)
  }

  /// Zero while there is room.
  var shortestKept: Nanoseconds {
    lengths.count < capacity ? .zero : lengths.first ?? .zero
  }
}
