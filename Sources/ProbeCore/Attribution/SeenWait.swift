// A wait beside the time that it stands for, and what of it belongs to which part of a cause.

/// A stalled thread's wait at one capture.
public struct SeenWait: Sendable, Equatable {
  public var reading: WaitReading
  /// Since the start of the stall, as its stack.
  public var at: Nanoseconds
  /// The time that it stands for, as its stack.
  public var weight: Nanoseconds
  /// Stacks of the threads of the chain, in its order; empty where none was taken.
  public var holders: [[Summary.Frame]]

  public init(
    _ reading: WaitReading, at: Nanoseconds, weight: Nanoseconds, holders: [[Summary.Frame]]
  ) {
    self.reading = reading
    self.at = at
    self.weight = weight
    self.holders = holders
  }
}

extension WaitReading {
  private static let polls: Set<String> = ["poll", "ppoll", "select", "pselect6"]

  /// The part of a cause that its time counts to.
  var part: KeyPath<Summary.CauseParts, Nanoseconds> {
    // What is polled for may be anything; the part says how it waits.
    if Self.polls.contains(call) { return \.otherWait }
    return switch object.kind {
    case .lock, .fileLock: \.lock
    case .file: \.disk
    case .pipe: \.pipe
    case .socket: \.socket
    case .child: \.child
    case .sleep: \.sleep
    case .join, .terminal, .signal, .events, .other: \.otherWait
    }
  }
}

extension Summary.CauseParts {
  /// Time in which it waited for something, not for a CPU and not stopped.
  static var waits: [KeyPath<Summary.CauseParts, Nanoseconds>] {
    [
      \.lock, \.disk, \.pipe, \.socket, \.sleep, \.child, \.pageFault, \.otherWait,
    ]
  }
}
