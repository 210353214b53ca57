// Who burnt the CPU: one account a thread, kept when the thread is gone, bounded in number.

/// The accounts of all threads that were seen.
struct ThreadAccounts: Sendable, Equatable {
  /// Accounts of exited threads kept one by one; beyond it the smallest go into `(exited)`. Chosen.
  static let exitedCapacity = 2048

  struct Account: Sendable, Equatable {
    /// Counts up with every thread seen: where its series is kept.
    let number: Int
    var tid: ThreadID
    var name: String
    /// Counters when the thread was first seen and is not to be charged for.
    var cpuBase: Nanoseconds
    var runDelayBase: Nanoseconds
    var cpu: Nanoseconds
    var runDelay: Nanoseconds
    var voluntarySwitches: UInt64?
    var involuntarySwitches: UInt64?
    var startedAt: Instant
    var endedAt: Instant?
    /// CPU in the last tick's interval, for the live view.
    var recentCPU: Nanoseconds = .zero
    var recentTick = 0

    var used: Nanoseconds { cpu - cpuBase }
    var delayed: Nanoseconds { runDelay - runDelayBase }
  }

  private(set) var all: [Account] = []
  /// Threads that have not ended, by number: their places in `all`.
  private(set) var live = NumberIndex()
  /// Threads first seen after watching began.
  private(set) var created = 0
  /// CPU of accounts that were given up to keep the list bounded.
  private(set) var foldedCPU = Nanoseconds.zero
  private var exitedCount = 0
  private var seen = 0

  mutating func see(_ seen: ThreadSeen, start: Instant) {
    if live[seen.tid.rawValue] != nil { end(seen.tid, at: seen.at) }
    if seen.isNew { created += 1 }
    live[seen.tid.rawValue] = all.count
    all.append(
      Account(
        number: self.seen, tid: seen.tid, name: SafeText.decode(seen.name),
        cpuBase: seen.isNew ? .zero : seen.cpu, runDelayBase: seen.isNew ? .zero : seen.runDelay,
        cpu: seen.cpu, runDelay: seen.runDelay, voluntarySwitches: nil, involuntarySwitches: nil,
        startedAt: seen.isNew ? seen.at : start))
    self.seen += 1
  }

  mutating func rename(_ tid: ThreadID, _ name: [UInt8]) {
    guard let index = live[tid.rawValue] else { return }
    all[index].name = SafeText.decode(name)
  }

  mutating func detail(_ detail: ThreadDetail) {
    guard let index = live[detail.tid.rawValue] else { return }
    all[index].voluntarySwitches = detail.voluntarySwitches
    all[index].involuntarySwitches = detail.involuntarySwitches
  }

  /// Takes new counters and returns the account's place and the CPU since the last ones. A counter never runs
  /// backwards in one thread; a smaller value is a stale read and changes nothing.
  mutating func read(_ reading: ThreadReading, tick: Int) -> (account: Int, cpu: Nanoseconds)? {
    guard let index = live[reading.tid.rawValue] else { return nil }
    let used = max(.zero, reading.cpu - all[index].cpu)
    all[index].cpu = max(all[index].cpu, reading.cpu)
    all[index].runDelay = max(all[index].runDelay, reading.runDelay)
    all[index].recentCPU = used
    all[index].recentTick = tick
    return (index, used)
  }

  mutating func end(_ tid: ThreadID, at time: Instant) {
    guard let index = live.take(tid.rawValue) else { return }
    all[index].endedAt = time
    exitedCount += 1
    if exitedCount > 2 * Self.exitedCapacity { compact() }
  }

  /// The name of the thread that has or last had this number; its number as text if it was never seen.
  func name(_ tid: ThreadID) -> String {
    let index = live[tid.rawValue] ?? all.lastIndex { $0.tid == tid }
    return index.map { all[$0].name } ?? "\(tid)"
  }

  /// All threads' CPU since watching began, as far as it has an account.
  var accounted: Nanoseconds { all.reduce(foldedCPU) { $0 + $1.used } }

  private mutating func compact() {
    let exited = all.indices.filter { all[$0].endedAt != nil }
      .sorted { all[$0].used > all[$1].used }
    let dropped = Set(exited.dropFirst(Self.exitedCapacity))
    for index in dropped { foldedCPU += all[index].used }
    var kept: [Account] = []
    for (index, account) in all.enumerated() where !dropped.contains(index) {
      if live[account.tid.rawValue] == index { live[account.tid.rawValue] = kept.count }
      kept.append(account)
    }
    all = kept
    exitedCount = Self.exitedCapacity
  }
}
