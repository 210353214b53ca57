// Holds the stalls of a summary against the target's own account of the same run.

internal import Testing

@testable internal import ProbeCore

/// What may be expected of an observer.
struct StallJudge: Sendable {
  var observer: LoopObserver
  /// Milliseconds, as every bare number here.
  var threshold = 100.0
  /// Turns this much over the threshold must be found, turns this much under it must not be.
  var margin: Double
  /// Between two probes.
  let period: Double
  /// Some turns cannot be told from going on: they may be missing, but not be called stalls for sure.
  var isUndecidable = false
  /// The kernel may take over while the loop runs.
  var isMixed = false
  /// Said of every stall; nil leaves it to the observer.
  var certainty: String?
  /// Kinds of gaps that need not be stalls.
  var optionalKinds: Set<String> = ["nested"]

  init(_ observer: LoopObserver, threshold: Double = 100) {
    self.observer = observer
    self.threshold = threshold
    period = max(5, min(25, threshold / 10))
    margin = observer == .proc ? 25 : 2
  }

  init(named observer: String) {
    self.init(observer == "kernel" ? .kernel : .proc)
  }

  /// Every gap is found once and rightly, and nothing else is.
  func judge(_ summary: Summary, _ truth: StallTruth, location: SourceLocation = #_sourceLocation) {
    let found = summary.stalls.map { FoundStall($0, summary) }
    var used: Set<Int> = []
    for gap in truth.gaps where gap.milliseconds >= threshold - margin {
      let hits = found.filter { $0.isMostly(gap) }
      hits.forEach { used.insert($0.stall.id) }
      let isSure = gap.milliseconds - stopped(hits) >= threshold + margin
      let isNeeded = isSure && !isUndecidable && !optionalKinds.contains(gap.kind)
      if isNeeded || hits.count > 1 {
        #expect(
          hits.count == 1,
          "\(gap.function) of \(gap.milliseconds) ms: \(hits) \(Self.standing(summary))",
          sourceLocation: location)
      }
      if hits.count == 1 { compare(hits[0], gap, summary, location) }
    }
    for stall in found where !used.contains(stall.stall.id) && stall.stall.kind != "nested" {
      #expect(isExcused(stall, truth), "no such turn: \(stall)", sourceLocation: location)
    }
    for stall in found { checkWords(stall, location) }
  }

  private func compare(
    _ found: FoundStall, _ gap: Gap, _ summary: Summary, _ location: SourceLocation
  ) {
    // A start-up begins with the launch, which the target cannot see.
    let before = gap.kind == "startup" ? (gap.start - found.start) * 1e3 : 0
    let error = found.milliseconds - before - gap.milliseconds
    let stated = found.stall.error.inMilliseconds
    // A late wake-up shows as running, so /proc counts it to the turn that follows.
    let slack = stated + gap.edges + (observer == .proc ? period : 1)
    let late = observer == .proc ? gap.wokenLate : 0
    #expect(
      error >= -slack && error <= slack + late,
      "\(gap.function): \(found.milliseconds) ms, is \(gap.milliseconds): \(found)",
      sourceLocation: location)
    #expect(before >= 0 && before < 2000, "\(found)", sourceLocation: location)
    switch gap.kind {
    case "startup", "exit", "nested":
      #expect(found.stall.kind == gap.kind, "\(gap.function)", sourceLocation: location)
    default: #expect(found.stall.kind == "stall", "\(gap.function)", sourceLocation: location)
    }
    checkCause(found, gap, location)
  }

  /// Most of the time is called what the target did, or lack of a CPU.
  private func checkCause(_ found: FoundStall, _ gap: Gap, _ location: SourceLocation) {
    let parts = found.stall.cause.parts
    let named: Nanoseconds? =
      switch gap.how {
      case "cpu", "fault": parts.cpuUser + parts.cpuSystem
      case "sleep": parts.sleep
      case "read": parts.pipe + parts.socket
      case "futex": parts.lock
      case "wait" where gap.kind != "nested": parts.child
      default: nil
      }
    // Short ones have too few probes for shares.
    guard let named, found.milliseconds >= 150 else { return }
    let rest = named + parts.runDelay
    #expect(
      rest.inMilliseconds >= 0.6 * found.milliseconds, "\(gap.how) is not in \(parts)",
      sourceLocation: location)
  }

  /// What may explain a miss.
  private static func standing(_ summary: Summary) -> String {
    let loops = summary.loops.map { loop in
      "undecided \(loop.undecided?.inMilliseconds ?? 0) ms, \(loop.longTurns ?? -1) long turns, "
        + "longest \(loop.longestTurn?.inMilliseconds ?? 0) ms, start-up "
        + "\(loop.startup?.inMilliseconds ?? 0) ms, homes \(loop.homes.map { "\($0.syscall) \($0.stackPointer) \($0.visits)x" })"
    }
    let records = summary.observer.capabilities.entries["switchRecords"] ?? "none"
    let cpu = summary.observer.cpu?.inMilliseconds ?? 0
    return "\(loops), switches \(records), \(summary.observer.stops) stops, own CPU \(cpu) ms, "
      + "\(summary.warnings.map(\.code)), \(summary.observer.lateProbes) of \(summary.observer.probes) ticks late"
  }

  private func checkWords(_ found: FoundStall, _ location: SourceLocation) {
    let stall = found.stall
    let parts = stall.cause.parts
    #expect(
      abs(parts.sum.inMilliseconds - found.milliseconds) <= 0.02 * found.milliseconds + 0.001,
      "parts of \(found)", sourceLocation: location)
    #expect(!stall.cause.sentence.isEmpty, sourceLocation: location)
    #expect(isMixed || stall.observer == observer.rawValue, sourceLocation: location)
    let judged = found.milliseconds - parts.stopped.inMilliseconds
    #expect(stall.level == Self.level(judged), "\(found)", sourceLocation: location)
    if let certainty {
      #expect(stall.certainty == certainty, "\(found)", sourceLocation: location)
    } else if observer == .kernel {
      #expect(stall.certainty == "exact", "\(found)", sourceLocation: location)
    } else if isUndecidable && !isMixed {
      #expect(stall.certainty == "probable", "\(found)", sourceLocation: location)
    }
  }

  /// The table of the levels, once more and by hand.
  static func level(_ milliseconds: Double) -> String {
    switch milliseconds {
    case ..<500: "stall"
    case ..<2000: "hang"
    case ..<5000: "severe"
    case ..<8000: "unresponsive"
    default: "stuck"
    }
  }

  /// A turn that is near the threshold, or for /proc one that is so with its late wake-up.
  private func isExcused(_ found: FoundStall, _ truth: StallTruth) -> Bool {
    if isUndecidable && found.stall.certainty == "probable" { return true }
    // Being loaded before its first statement is start-up, too, and no turn of the target's.
    if found.stall.kind == "startup", let began = truth.all("start").first?.t {
      let first = truth.gaps.first { $0.kind == "startup" }?.milliseconds ?? 0
      return (began - found.start) * 1e3 + max(first, margin) >= threshold - margin
    }
    guard observer == .proc else { return false }
    let late = truth.wakes.filter { wake in
      wake.late >= threshold - margin && wake.at - wake.late / 1e3 < found.end
        && wake.at > found.start
    }
    let near = truth.gaps.contains { gap in
      gap.milliseconds + gap.wokenLate >= threshold - margin && gap.start < found.end
        && gap.end > found.start
    }
    return near || !late.isEmpty
  }

  private func stopped(_ hits: [FoundStall]) -> Double {
    hits.first?.stall.cause.parts.stopped.inMilliseconds ?? 0
  }
}
