// How long lines may be looked for. Names are quick; DWARF of a large program is not.

internal import Synchronization

/// Why frames have no file and line; nil where all was looked up that there is.
public enum LinesOmission: String, Sendable, Equatable, Codable {
  /// Nobody asked for them.
  case notAsked
  /// The file has no debug information, nor is there a separate debug file that belongs to it.
  case noDebugInformation
  /// The time for this module or for the run was over.
  case outOfTime
  /// The caller did not want to wait any more.
  case cancelled
  /// The debug information is damaged: the helper that read it crashed or gave up.
  case unreadable
}

/// The time that all look-ups of lines in a run may take together, wall clock. May be shared by threads.
public final class TimeBudget: Sendable {
  /// For one module at a time.
  public let perModule: Nanoseconds
  private let rest: Mutex<Nanoseconds>
  private let cancelled = Atomic(false)

  public init(
    perModule: Nanoseconds = Nanoseconds(300_000_000),
    total: Nanoseconds = Nanoseconds(2_000_000_000)
  ) {
    self.perModule = perModule
    rest = Mutex(total)
  }

  /// What is left of the total.
  public var remaining: Nanoseconds { rest.withLock { $0 } }

  /// Ends a look-up that another thread waits for, and all later ones.
  public func cancel() { cancelled.store(true, ordering: .relaxed) }

  public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// When a look-up that starts now has to end.
  func deadline(from now: Instant) -> Instant { now + min(perModule, remaining) }

  func spend(_ time: Nanoseconds) { rest.withLock { $0 -= time } }
}
