// Learns where a loop thread parks when it has nothing to do.

/// Finds a thread's homes among the places where it waits.
///
/// A multiplexer or signal wait is a home wherever it is. Sleeps, reads and lock waits are the commonest
/// stalls and also, for some loops, the home: they count only when the thread uses no multiplexer, is
/// seen there again and again with work in between, and then only the outermost such place.
/// A program may change its ways (sleep through its start, wait for an answer in a handler), so what was
/// settled early is looked at again.
struct HomeLearner: Sendable, Equatable {
  enum Standing: Sendable, Equatable {
    case learning
    /// Homes are the idle waits.
    case idleWaits
    /// Homes are learnt places.
    case places
  }

  /// Visits that make a place a home (measured on 40 programs: fewer took lock waits for homes).
  static let visitsNeeded = 8
  /// Visits that make an idle wait more than one on the way. Chosen.
  static let visitsThatEstablish = 3
  /// A runtime's own system call stubs lie together (measured: Go's futex and epoll_pwait 541 bytes apart;
  /// the C library's are hundreds of kilobytes apart). Chosen.
  static let runtimeCode: UInt64 = 4096
  /// Places kept; a thread with more is no loop by its waits. Chosen.
  static let capacity = 256
  /// A stay this long at an idle wait settles it, when nothing else competes. Chosen.
  static let longStay = Nanoseconds.milliseconds(500)
  /// A stay this long at an idle wait is home even to a thread that sleeps at another place. Chosen.
  static let veryLongStay = Nanoseconds.seconds(5)
  /// A place that was not visited among the last so many waits is not part of the loop any more.
  static let recentWaits = 4
  /// The C library has two system call instructions a cancellation point, and moves from one to the other
  /// when the first thread is created (measured: 63 bytes of code and 40 of stack apart).
  static let twinCode: UInt64 = 128
  /// A thread of a moving loop that waits in a lock so much deeper than its idle wait, or less deep, has
  /// nothing to do. Chosen: a few frames, more than waiting on a condition takes.
  static let spareDepth: UInt64 = 1024
  static let twinStack: UInt64 = 64

  private(set) var standing = Standing.learning {
    didSet { if standing != oldValue { generation += 1 } }
  }
  /// Grows whenever what counts as a home changes altogether.
  private(set) var generation = 0
  private(set) var visits: [WaitSite: Int] = [:]
  private(set) var calls: [WaitSite: WaitClass] = [:]
  private var idleVisits = 0
  private var homes: Set<WaitSite> = []
  /// Idle waits that were visited repeatedly or stayed at: not just a wait on the way.
  private var established: Set<WaitSite> = []
  /// How far out in the stack an idle wait was seen.
  private var outermostIdle: UInt64 = 0
  private var arrivals = 0
  private var lastArrival: [WaitSite: Int] = [:]
  /// Idle waits in a row without a visit to a learnt home, and visits to a home that was given up.
  private var idleInARow = 0
  private var returns = 0
  /// Locks and sleeps of a thread of a moving loop, as long as they count as home.
  private var spares: Set<WaitSite> = []

  /// Its loop moves between threads: without work it is parked as well as in its idle wait.
  private(set) var isSharing = false

  /// The homes and how often each was visited, most visited first.
  var homeVisits: [(site: WaitSite, visits: Int)] {
    let sites =
      standing == .idleWaits
      ? calls.filter { $0.value == .idle || spares.contains($0.key) }.map(\.key) : Array(homes)
    return sites.map { ($0, visits[$0] ?? 0) }
      .sorted {
        ($0.visits, $0.site.stackPointer, $0.site.programCounter)
          > ($1.visits, $1.site.stackPointer, $1.site.programCounter)
      }
  }

  /// The thread began to wait somewhere.
  mutating func arrived(_ wait: Wait) {
    guard wait.waitClass != .never else { return }
    guard visits[wait.site] != nil || visits.count < Self.capacity else { return }
    if isSpare(wait) { spares.insert(wait.site) }
    visits[wait.site, default: 0] += 1
    calls[wait.site] = wait.waitClass
    arrivals += 1
    lastArrival[wait.site] = arrivals
    if wait.waitClass == .idle {
      idleVisits += 1
      outermostIdle = max(outermostIdle, wait.site.stackPointer)
      if visits[wait.site, default: 0] >= Self.visitsThatEstablish { established.insert(wait.site) }
    }
    switch standing {
    case .learning: settle()
    case .places: reconsiderPlaces(wait)
    case .idleWaits: if !isSharing { reconsiderIdleWaits(wait) }
    }
  }

  /// The thread takes turns with others at a loop's wait: nothing has to be learnt any more.
  mutating func shareLoop() {
    isSharing = true
    if standing != .idleWaits { becomeIdleWaits() }
  }

  /// A program may sleep through its start and only then enter its real loop. Single idle waits between
  /// visits home belong to a handler.
  private mutating func reconsiderPlaces(_ wait: Wait) {
    if wait.waitClass == .idle {
      idleInARow += 1
      if idleInARow >= Self.visitsNeeded { becomeIdleWaits() }
      return
    }
    if isHome(wait) {
      homes.insert(wait.site)
      idleInARow = 0
      return
    }
    // Further out than what was taken for home, and as much a part of the loop: that is the home.
    if homes.allSatisfy({ $0.stackPointer < wait.site.stackPointer }),
      visits[wait.site, default: 0] >= Self.visitsNeeded
    {
      let before = homes
      settlePlaces(visitsNeeded: Self.visitsNeeded)
      if homes != before { generation += 1 }
    }
  }

  /// A few idle waits, or many in one handler, do not make a multiplexer's loop of a sleeping one.
  private mutating func reconsiderIdleWaits(_ wait: Wait) {
    guard wait.waitClass == .learnable else { return }
    if homes.contains(wait.site) {
      returns += 1
      if returns >= Self.visitsThatEstablish {
        idleInARow = 0
        standing = .places
      }
    } else if idleVisits < Self.visitsNeeded {
      settlePlaces(visitsNeeded: max(Self.visitsNeeded, 4 * idleVisits), mayBeDeeper: false)
    }
  }

  private mutating func becomeIdleWaits() {
    returns = 0
    standing = .idleWaits
  }

  /// The thread has been waiting at an idle wait for so long.
  mutating func stayed(_ wait: Wait, for length: Nanoseconds) {
    guard wait.waitClass == .idle, length >= Self.longStay else { return }
    if !established.contains(wait.site) { established.insert(wait.site) }
    switch standing {
    case .learning:
      let rival = visits.filter { calls[$0.key] == .learnable }.values.max() ?? 0
      if rival < Self.visitsNeeded { becomeIdleWaits() }
    case .places: if length >= Self.veryLongStay { becomeIdleWaits() }
    case .idleWaits: break
    }
  }

  /// No more will come: decide by what there is. An idle wait or two on the way make no loop.
  mutating func finish() {
    guard standing == .learning else { return }
    if idleVisits == 0 {
      settlePlaces(visitsNeeded: Self.visitsNeeded / 2)
    } else if !established.isEmpty {
      becomeIdleWaits()
    }
  }

  func isHome(_ wait: Wait) -> Bool {
    switch standing {
    case .learning: wait.waitClass == .idle
    case .idleWaits: wait.waitClass == .idle || isPark(wait) || isSpare(wait)
    case .places: homes.contains(wait.site) || homes.contains { isTwin(wait.site, of: $0) }
    }
  }

  /// Whether the start-up is over when the thread comes to wait here: a single wait on the way (for a
  /// connection, say) does not end it.
  func endsStartup(_ wait: Wait) -> Bool {
    standing != .idleWaits || wait.waitClass != .idle || established.contains(wait.site)
  }

  /// A runtime parks its threads beside its idle wait: Go's futex next to its epoll. That place is so
  /// special that the first visit tells.
  private func isPark(_ wait: Wait) -> Bool {
    wait.waitClass == .learnable && wait.category == .lock
      && established.contains { isBeside(wait.site, $0) }
  }

  /// Waits for its turn at the loop, or for work; a thread that was never seen at the loop's wait has no
  /// depth to compare with. A runtime's housekeeper (Go's sysmon) sleeps by the runtime's own stub, which
  /// no handler uses.
  private func isSpare(_ wait: Wait) -> Bool {
    guard isSharing, wait.waitClass == .learnable else { return false }
    switch wait.category {
    case .lock: return wait.site.stackPointer.saturatedAdding(Self.spareDepth) >= outermostIdle
    case .sleep:
      return outermostIdle == 0
        || calls.contains {
          $0.value == .idle
            && distance($0.key.programCounter, wait.site.programCounter) <= Self.runtimeCode
        }
    case .idle, .disk, .pipe, .socket, .child, .pageFault, .join, .other, .signal: return false
    }
  }

  /// The same runtime's code a few instructions away, and not deeper in the stack: no handler.
  private func isBeside(_ site: WaitSite, _ idle: WaitSite) -> Bool {
    site.programCounter != idle.programCounter
      && distance(site.programCounter, idle.programCounter) <= Self.runtimeCode
      && site.stackPointer >= idle.stackPointer
  }

  private mutating func settle() {
    if idleVisits >= Self.visitsNeeded {
      becomeIdleWaits()
      return
    }
    settlePlaces(visitsNeeded: max(Self.visitsNeeded, 4 * idleVisits))
  }

  private mutating func settlePlaces(visitsNeeded: Int, mayBeDeeper: Bool = true) {
    let places = visits.filter { calls[$0.key] == .learnable }
    guard let busiest = places.values.max(), busiest >= visitsNeeded else { return }
    // A place that is visited in turn with the busiest one may not have been seen as often yet.
    let candidates = places.filter {
      $0.value == busiest
        || $0.value * 4 >= busiest && arrivals - lastArrival[$0.key, default: 0] < Self.recentWaits
    }
    // The outermost one: a wait inside a handler lies deeper, where the stack pointer is lower.
    guard let outermost = candidates.keys.max(by: { $0.stackPointer < $1.stackPointer }) else {
      return
    }
    // Deeper than an idle wait it is likely a handler's; then much more has to be seen. An idle wait
    // that nobody comes back to (Rust's runtime polls its descriptors once at the start) is no rival.
    let hasRival =
      !established.isEmpty || visits.contains { calls[$0.key] == .idle && $0.value > 1 }
    let enough = hasRival ? 8 * visitsNeeded : visitsNeeded
    guard outermost.stackPointer > outermostIdle || mayBeDeeper && busiest >= enough else {
      return
    }
    homes = [outermost]
    for site in places.keys where isTwin(site, of: outermost) { homes.insert(site) }
    idleInARow = 0
    standing = .places
  }

  private func isTwin(_ site: WaitSite, of home: WaitSite) -> Bool {
    guard site.call == home.call, site.programCounter != home.programCounter else { return false }
    return distance(site.programCounter, home.programCounter) <= Self.twinCode
      && distance(site.stackPointer, home.stackPointer) <= Self.twinStack
  }

  private func distance(_ one: UInt64, _ other: UInt64) -> UInt64 {
    one > other ? one - other : other - one
  }
}
