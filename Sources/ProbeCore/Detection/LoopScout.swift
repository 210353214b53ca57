// Finds threads that loop among those that are not watched, from single looks at them.

/// Counts where unwatched threads were seen waiting.
///
/// A look counts when the thread has run since the last one that counted: a thread that is parked for
/// good is seen at the same place for ever and is no loop.
struct LoopScout: Sendable {
  /// What a thread turned out to be, with the wait that it comes back to.
  enum Finding: Sendable, Equatable {
    /// Waits for events again and again.
    case loop(Wait)
    /// Seems to park in a lock, a sleep or a read again and again, always at one place.
    case worker(Wait)
  }

  /// Looks at an idle wait that make a loop. Chosen.
  static let loopSightings = 3
  /// Looks at the same other wait that may make a worker; probes then tell. Chosen.
  static let workerSightings = 3
  /// Threads remembered, and places of each. Chosen: bounds memory where threads come and go.
  static let capacity = 1024
  static let placesPerThread = 8

  private struct Sighting {
    var name: [UInt8]
    var slices: UInt64
    var idle = 0
    var places: [WaitSite: Int] = [:]
  }

  private var sightings: [Int32: Sighting] = [:]

  /// A look at a waiting thread.
  ///
  /// - Returns: what it is, once enough was seen; again at every look that counts from then on.
  mutating func saw(_ tid: Int32, name: [UInt8], _ wait: Wait, slices: UInt64) -> Finding? {
    var sighting = sightings[tid] ?? Sighting(name: name, slices: .max)
    guard sighting.slices != slices, sightings[tid] != nil || sightings.count < Self.capacity
    else { return nil }
    sighting.slices = slices
    sighting.name = name
    defer { sightings[tid] = sighting }
    switch wait.waitClass {
    case .idle:
      sighting.idle += 1
      return sighting.idle >= Self.loopSightings ? .loop(wait) : nil
    case .learnable where wait.category != .join:
      guard sighting.places[wait.site] != nil || sighting.places.count < Self.placesPerThread
      else { return nil }
      sighting.places[wait.site, default: 0] += 1
      return sighting.places[wait.site, default: 0] >= Self.workerSightings ? .worker(wait) : nil
    case .learnable, .never: return nil
    }
  }

  /// Forgets threads that have ended, unless they were loops.
  mutating func keep(_ isAlive: (Int32) -> Bool) {
    sightings = sightings.filter { isAlive($0.key) || $0.value.idle >= Self.loopSightings }
  }

  /// Threads that loop, or did until they ended; oldest first.
  var loops: [(tid: Int32, name: [UInt8])] {
    sightings.filter { $0.value.idle >= Self.loopSightings }
      .map { (tid: $0.key, name: $0.value.name) }.sorted { $0.tid < $1.tid }
  }
}
