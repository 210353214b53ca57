// How many programs tests run at a time. Swift Testing starts all tests at once, and the machine has
// few cores: most tests share it, those that measure have it for themselves.

internal import Synchronization

@testable internal import ProbeCore

/// A fair gate with a number of places.
final class Lane: Sendable {
  private struct State {
    var free: Int
    var waiting: [(places: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// Programs at a time that mostly sleep. Chosen for two cores.
  static let places = 6
  private static let machine = Lane()

  private let state = Mutex(State(free: places))

  /// Runs the body beside others.
  static func shared<T>(_ body: () async throws -> T) async throws -> T {
    try await machine.hold(1, body)
  }

  /// Runs the body with no other test's program beside it.
  static func alone<T>(_ body: () async throws -> T) async throws -> T {
    try await machine.hold(places, body)
  }

  /// Runs the body as several programs.
  static func several<T>(_ count: Int, _ body: () async throws -> T) async throws -> T {
    try await machine.hold(min(count, places), body)
  }

  /// As `several`, with a limit on the body's own time: swift-testing's would count the wait for a place.
  static func several<T>(
    _ count: Int, within limit: Nanoseconds, _ body: (_ isInTime: () -> Bool) async throws -> T
  ) async throws -> T {
    try await several(count) {
      let end = Clock.now() + limit
      return try await body { Clock.now() < end }
    }
  }

  private func hold<T>(_ places: Int, _ body: () async throws -> T) async throws -> T {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.waiting.isEmpty, state.free >= places else {
          state.waiting.append((places, continuation))
          return false
        }
        state.free -= places
        return true
      }
      if isFree { continuation.resume() }
    }
    defer { release(places) }
    return try await body()
  }

  private func release(_ places: Int) {
    let next = state.withLock { state in
      state.free += places
      var next: [CheckedContinuation<Void, Never>] = []
      while let first = state.waiting.first, state.free >= first.places {
        state.free -= first.places
        next.append(state.waiting.removeFirst().continuation)
      }
      return next
    }
    for continuation in next { continuation.resume() }
  }
}
