// Whether the main thread has the loop, or only waits for the rest of the program.

/// Watches for a main thread that is parked for good.
///
/// It is when it does not move for a while in a wait for another thread's end, a lock, a child, a signal or
/// a long sleep, to which it did not come again and again. In a wait for events it is idle instead: then
/// it may well have the loop, and the other threads are none of our business.
struct MainStanding: Sendable {
  /// So long it has not moved. Chosen.
  static let patience = Nanoseconds.seconds(2)
  /// Visits that make a place one that it comes back to.
  static let visitsOfALoop = 3
  static let placeCapacity = 64

  private var rest: (slices: UInt64, since: Instant)?
  private var visits: [WaitSite: Int] = [:]
  private(set) var isOut = false

  mutating func saw(_ probe: ThreadProbe) {
    if let rest, rest.slices == probe.slices {
      isOut = probe.at - rest.since >= Self.patience && isParked(probe)
      return
    }
    rest = (probe.slices, probe.at)
    isOut = false
    guard case .waiting(let wait) = probe.state else { return }
    guard visits[wait.site] != nil || visits.count < Self.placeCapacity else { return }
    visits[wait.site, default: 0] += 1
  }

  /// It has ended, and other threads go on.
  mutating func ended() { isOut = true }

  private func isParked(_ probe: ThreadProbe) -> Bool {
    if probe.isExiting { return true }
    guard case .waiting(let wait) = probe.state,
      visits[wait.site, default: 0] < Self.visitsOfALoop
    else { return false }
    switch wait.category {
    case .join, .lock, .child, .signal, .sleep: return true
    case .idle, .disk, .pipe, .socket, .pageFault, .other: return false
    }
  }
}
