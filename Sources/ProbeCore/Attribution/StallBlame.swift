// Whose fault a stall was: the program's own doing, or the machine around it.

/// The shares of the program and of its surroundings.
public struct StallBlame: Sendable, Equatable {
  /// 0 to 1, of the time without that in which the target was stopped.
  public var environment: Double

  /// From these shares on it is one's alone. Chosen.
  static let clear = 0.7

  /// - Parameter surroundings: nil where they were not measured; then other processes are assumed to have
  ///   had the CPUs.
  public init(_ parts: Summary.CauseParts, length: Nanoseconds, _ surroundings: StallSurroundings?)
  {
    let judged = (length - parts.stopped).inSeconds
    guard judged > 0 else {
      environment = 0
      return
    }
    // A program that uses up all CPUs by itself has nobody else to blame.
    let foreign = 1 - (surroundings?.ownShareOfLoad ?? 0)
    var outside = parts.runDelay.inSeconds * foreign + parts.throttled.inSeconds
    // Pages have to be brought back because somebody else needed their memory.
    outside += parts.pageFault.inSeconds * (surroundings?.foreignShareOfPaging ?? 0)
    // What the hypervisor took shows as computing.
    let computed = (parts.cpuUser + parts.cpuSystem).inSeconds
    outside += computed * min(1, surroundings?.stolenShare ?? 0)
    environment = min(1, max(0, outside / judged))
  }

  /// `yours`, `environment` or `mixed`.
  public var word: String {
    if environment >= Self.clear { return "environment" }
    return environment <= 1 - Self.clear ? "yours" : "mixed"
  }
}
