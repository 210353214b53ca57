// Waits of stalls: each goes to the stall in which it was seen, beside the stack of the same moment.

/// Folds what was found of waits. Bounded, whatever a recording says.
struct WaitAccount: Sendable, Equatable {
  /// Threads of a chain. More than are followed.
  static let chainLimit = 32

  private var pending: [ThreadID: [WaitReading]] = [:]
  /// By number of the stall.
  private(set) var kept: [Int: [WaitReading]] = [:]

  mutating func add(_ wait: WaitReading, toStall id: Int) {
    Self.insert(wait, &kept[id, default: []])
  }

  mutating func add(pending wait: WaitReading) {
    guard pending[wait.tid] != nil || pending.count < StallAccount.capacity else { return }
    Self.insert(wait, &pending[wait.tid, default: []])
  }

  private static func insert(_ wait: WaitReading, _ list: inout [WaitReading]) {
    var wait = wait
    wait.chain = Array(wait.chain.prefix(chainLimit))
    // A cycle that leads nowhere is none.
    if let cycle = wait.cycle, cycle < -1 || cycle >= wait.chain.count { wait.cycle = nil }
    if let same = list.firstIndex(where: { $0.at == wait.at }) {
      list[same] = wait
    } else if list.count < StackAccount.capacity {
      list.append(wait)
    }
  }

  mutating func ended(_ stall: StallReading, isKept: Bool) {
    guard let waiting = pending.removeValue(forKey: stall.tid) else { return }
    if isKept {
      for wait in waiting where stall.contains(wait.at) { add(wait, toStall: stall.id) }
    }
    let later = waiting.filter { $0.at > stall.start + stall.duration }
    if !later.isEmpty { pending[stall.tid] = later }
  }

  mutating func retracted(_ tid: ThreadID) { pending[tid] = nil }

  mutating func dropped(stall id: Int) { kept[id] = nil }

  /// A stall's waits in order of time, each with the time of the stack that was taken with it.
  func rows(
    _ stall: StallReading, _ stacks: [Summary.Stack], frames: ([Int]) -> [Summary.Frame]
  ) -> [SeenWait] {
    (kept[stall.id] ?? []).sorted { $0.at < $1.at }.compactMap { wait in
      let at = wait.at - stall.start
      guard let stack = stacks.first(where: { $0.at == at }) else { return nil }
      return SeenWait(
        wait, at: at, weight: stack.weight, holders: wait.chain.map { frames($0.places) })
    }
  }
}
