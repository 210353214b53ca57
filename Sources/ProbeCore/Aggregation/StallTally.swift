// Stalls added up for budgets: which count, how much of each is the program's own, how sure that is.

/// The stalls of a summary as budgets see them.
struct StallTally {
  /// Chosen: a loop that turned this seldom has shown nothing.
  private static let fewestTurns = 3
  /// Chosen: the part of a run in which it may not be known whether the loop turned.
  private static let undecidedShare = 0.05
  /// Chosen: an observer that comes late more often than this may have missed what it looks for.
  private static let lateShare = 0.2

  private struct Counted {
    var id: Int
    var own: Nanoseconds
    var error: Nanoseconds
    var signature: String?
  }

  private let summary: Summary
  private let scope: MetricScope
  private let threshold: Nanoseconds
  private let counted: [Counted]
  /// Time that was left out because the machine is to blame for it.
  private let environment: Nanoseconds

  init(_ summary: Summary, _ scope: MetricScope) {
    self.summary = summary
    self.scope = scope
    // A summary does not tell the threshold; no stall in it is shorter.
    threshold =
      scope.stallThreshold
      ?? min(.milliseconds(250), summary.stalls.map(\.duration).min() ?? .milliseconds(250))
    var left = Nanoseconds.zero
    counted = summary.stalls.compactMap { stall in
      guard stall.kind == StallKind.stall.rawValue || stall.kind == StallKind.exit.rawValue,
        stall.start >= scope.grace, !stall.ignored
      else { return nil }
      var own = stall.duration - stall.cause.parts.stopped
      if !scope.countsEnvironment {
        let environment = min(own, Self.environment(of: stall))
        left += environment
        own -= environment
      }
      return Counted(id: stall.id, own: own, error: stall.error, signature: stall.signature)
    }
    environment = left
  }

  /// The time of a stall for which the machine is to blame: other programs had the CPUs, or the control
  /// group's quota was used up. Where nobody was blamed, all time without a CPU.
  static func environment(of stall: Summary.Stall) -> Nanoseconds {
    if let percent = stall.environmentPercent {
      let length = stall.duration - stall.cause.parts.stopped
      return Nanoseconds(Int64(Double(length.rawValue) * min(100, max(0, percent)) / 100))
    }
    return max(.zero, stall.cause.parts.runDelay + stall.cause.parts.throttled)
  }

  /// Whether the sums of the summary are what is asked for; else they are made of the stalls kept.
  private var isWhole: Bool { scope.grace == .zero && environment == .zero }

  /// Those that are stalls by what is their own.
  private var real: [Counted] { counted.filter { $0.own >= threshold } }
  private var worst: Counted? { counted.max { ($0.own, $1.id) < ($1.own, $0.id) } }

  var count: Measurement {
    measurement { totals in
      let unsure = counted.count {
        ($0.own - threshold).rawValue.magnitude < $0.error.rawValue.magnitude
      }
      let value = isWhole ? totals : real.count.saturatedAdding(summary.stallsOmitted)
      // Of those not kept one by one it is not known when they were and whose fault.
      let unknown = isWhole ? 0 : summary.stallsOmitted
      return (Double(value), Double(min(unsure, value)) + Double(unknown))
    }
  }

  /// Signatures that earlier runs do not have.
  var new: Measurement {
    guard let known = scope.knownStalls else {
      return Measurement(nil, doubt: "no baseline was given; see --baseline")
    }
    if let doubt = known.doubt { return Measurement(nil, doubt: doubt) }
    var result = measurement { _ in (0, 0) }
    guard result.value != nil else { return result }
    let strange = counted.filter { stall in
      stall.signature.map { !known.signatures.contains($0) } ?? true
    }
    let sure = Set(strange.filter { $0.own >= threshold + $0.error }.map(\.signature))
    // Of those about as long as the threshold it is not known whether they are stalls.
    let possible = Set(strange.filter { $0.own > threshold - $0.error }.map(\.signature))
    result.value = Double(sure.count)
    result.error = Double(possible.subtracting(sure).count)
    result.stall = strange.max { ($0.own, $1.id) < ($1.own, $0.id) }?.id
    if possible.isEmpty { result.stall = nil }
    if summary.stallsOmitted > 0 {
      result.doubt = "\(summary.stallsOmitted) stalls were counted and not kept"
    }
    return result
  }

  var longest: Measurement {
    measurement { _ in
      if isWhole, let longest = summary.stallTotals.longest {
        return (longest.inSeconds, worst.map { $0.error.inSeconds } ?? 0)
      }
      return (worst?.own.inSeconds ?? 0, worst.map { $0.error.inSeconds } ?? 0)
    }
  }

  var total: Measurement {
    measurement { _ in
      let error = counted.reduce(0) { $0 + $1.error.inSeconds }
      if isWhole, let total = summary.stallTotals.total { return (total.inSeconds, error) }
      let kept = counted.reduce(Nanoseconds.zero) { $0 + $1.own }
      let all = summary.stalls.filter { $0.kind == "stall" || $0.kind == "exit" }
        .reduce(Nanoseconds.zero) { $0 + $1.duration - $1.cause.parts.stopped }
      let omitted = max(.zero, (summary.stallTotals.total ?? all) - all)
      return ((kept + omitted).inSeconds, error + omitted.inSeconds)
    }
  }

  var perMinute: Measurement {
    let length = (summary.run.duration - scope.grace).inSeconds
    var result = total
    guard length > 0, let value = result.value else {
      result.value = nil
      return result
    }
    result.value = value / length * 60
    result.error *= 60 / length
    return result
  }

  var blockingTime: Measurement {
    let judged = judgedLoops
    let times = judged.compactMap(\.blockingTime)
    guard !times.isEmpty else { return Measurement(nil, doubt: missing) }
    let undecided = judged.compactMap(\.undecided).reduce(.zero, +)
    return Measurement(
      times.reduce(.zero, +).inSeconds, error: undecided.inSeconds, doubt: doubt, stall: worst?.id)
  }

  var startup: Measurement {
    // Two probes at their slowest lie around the moment where /proc is polled.
    let loop = summary.loops.first
    let error = loop?.observer == LoopObserver.proc.rawValue ? 0.025 : 0.001
    return Measurement(
      loop?.startup?.inSeconds, error: error,
      doubt: loop?.startup == nil ? missing : nil)
  }

  private var judgedLoops: [Summary.Loop] { summary.loops.filter { $0.verdictless == nil } }

  private func measurement(_ body: (Int) -> (value: Double, error: Double)) -> Measurement {
    guard let count = summary.stallTotals.count else { return Measurement(nil, doubt: missing) }
    let result = body(count)
    let note =
      environment > .zero
      ? "\(Units.text(environment)) of waiting for a CPU that others had is not counted" : nil
    return Measurement(
      result.value, error: result.error, doubt: doubt, note: note,
      stall: result.value > 0 ? worst?.id : nil)
  }

  private var missing: String {
    if let why = summary.loops.compactMap(\.verdictless).first {
      return "stalls were not judged: \(why)"
    }
    return summary.loops.isEmpty ? "no event loop was watched" : "it never waited for events"
  }

  /// Why few stalls prove nothing.
  private var doubt: String? {
    let turns = judgedLoops.compactMap(\.turns)
    let sum = turns.reduce(0) { $0.saturatedAdding($1) }
    if turns.count == judgedLoops.count, sum < Self.fewestTurns {
      return "the loop turned only \(sum) times"
    }
    let undecided = judgedLoops.compactMap(\.undecided).max() ?? .zero
    if undecided.inSeconds > Self.undecidedShare * summary.run.duration.inSeconds {
      return "for \(Units.text(undecided)) it could not be told whether the loop turned"
    }
    let (late, probes) = (summary.observer.lateProbes, summary.observer.probes)
    if late >= 5, Double(late) > Self.lateShare * Double(probes) {
      return "perfwatch itself came late at \(late) of \(probes) ticks"
    }
    return nil
  }
}
