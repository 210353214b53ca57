// Finds event loops that move between threads: Go, tokio, a leader with followers.
// What tells them from a pool of workers: the threads wait on the same epoll descriptor.

/// Who waits on which queue of events.
///
/// Threads that wait on the same epoll (or ring) serve the same loop, whoever of them has it at the moment.
/// Loops of their own, one a thread, have a descriptor each; workers park in locks and never wait for
/// events. A runtime with its own system call stubs (Go) parks its spare threads a few instructions away
/// from its epoll wait: they belong to the loop even before they were seen at it. The C library's stubs
/// are far apart, so a worker's lock there says nothing.
struct MovingLoops: Sendable {
  /// Queues and threads remembered. Chosen.
  static let queueCapacity = 64
  static let threadCapacity = 256
  /// Places at which one queue is waited on: more than one instruction of the C library does.
  static let countersPerQueue = 4

  private struct Queue {
    var counters: Set<UInt64> = []
    var threads: Set<Int32> = []
  }

  private var queues: [UInt64: Queue] = [:]
  /// Where threads were seen parked in a lock last.
  private var parks: [Int32: UInt64] = [:]
  /// Where threads sleep: a runtime's housekeeper (Go's sysmon), which runs no loop.
  private var sleepers: [Int32: UInt64] = [:]
  /// Grows with every new fact.
  private(set) var generation = 0

  /// A thread was seen waiting.
  mutating func saw(_ tid: Int32, _ wait: Wait) {
    let counter = wait.site.programCounter
    if let queue = wait.queue {
      guard queues[queue] != nil || queues.count < Self.queueCapacity else { return }
      var known = queues[queue] ?? Queue()
      if known.counters.count < Self.countersPerQueue, known.counters.insert(counter).inserted {
        generation += 1
      }
      if known.threads.count < Self.threadCapacity, known.threads.insert(tid).inserted {
        generation += 1
      }
      queues[queue] = known
    } else if wait.waitClass == .learnable, wait.category == .lock {
      note(counter, of: tid, in: \.parks)
    } else if wait.waitClass == .learnable, wait.category == .sleep {
      note(counter, of: tid, in: \.sleepers)
    }
  }

  private mutating func note(
    _ counter: UInt64, of tid: Int32, in place: WritableKeyPath<Self, [Int32: UInt64]>
  ) {
    guard self[keyPath: place][tid] != counter,
      self[keyPath: place].count < Self.threadCapacity || self[keyPath: place][tid] != nil
    else { return }
    self[keyPath: place][tid] = counter
    generation += 1
  }

  /// Forgets threads that have ended: descriptors are used again.
  mutating func keep(_ isAlive: (Int32) -> Bool) {
    for (queue, known) in queues {
      let left = known.threads.filter(isAlive)
      queues[queue] = left.isEmpty ? nil : Queue(counters: known.counters, threads: left)
    }
    parks = parks.filter { isAlive($0.key) }
    sleepers = sleepers.filter { isAlive($0.key) }
  }

  /// The threads that loops move between; empty where none was seen to move.
  ///
  /// - Parameter main: only loops that this thread takes part in; nil for all.
  func threads(with main: Int32?) -> Set<Int32> {
    var all: Set<Int32> = []
    for queue in queues.values {
      let members = members(queue)
      guard members.count > 1, main.map({ members.contains($0) }) ?? true else { continue }
      all.formUnion(members)
    }
    return all
  }

  private func members(_ queue: Queue) -> Set<Int32> {
    let helpers = sleepers.filter { isBeside($0.value, queue) && !queue.threads.contains($0.key) }
    let parked = parks.filter { isBeside($0.value, queue) && helpers[$0.key] == nil }
    return queue.threads.union(parked.keys)
  }

  private func isBeside(_ counter: UInt64, _ queue: Queue) -> Bool {
    queue.counters.contains { other in
      let distance = other > counter ? other - counter : counter - other
      return distance > 0 && distance <= HomeLearner.runtimeCode
    }
  }
}
