// Tells a loop that moves between threads from threads that work at the same time.

/// What the threads of a moving loop have computed, side by side.
///
/// One loop is served by one thread at a time: while that is away, the others are parked. Where others
/// compute meanwhile, the threads are (also) a pool, and a long turn of one keeps nobody waiting.
struct WorkShare: Sendable {
  private struct Thread {
    var cpu: Nanoseconds
    /// Computed so far, and by the others until it was last seen at rest.
    var own = Nanoseconds.zero
    var othersAtRest: Nanoseconds
  }

  private var threads: [Int32: Thread] = [:]
  private var total = Nanoseconds.zero

  /// A probe of one of the threads.
  mutating func saw(_ tid: Int32, cpu: Nanoseconds, isAtRest: Bool) {
    guard var thread = threads[tid] else {
      threads[tid] = Thread(cpu: cpu, othersAtRest: total)
      return
    }
    let grown = max(.zero, cpu - thread.cpu)
    thread.cpu = cpu
    thread.own += grown
    total += grown
    if isAtRest { thread.othersAtRest = total - thread.own }
    threads[tid] = thread
  }

  /// What the others have computed since this thread was last seen at rest.
  func others(than tid: Int32) -> Nanoseconds {
    guard let thread = threads[tid] else { return .zero }
    return total - thread.own - thread.othersAtRest
  }
}
