// What a target says of its own turns, and what perfwatch said of them, side by side.

internal import FoundationEssentials
internal import Testing

@testable internal import ProbeCore

/// One line of a target about its turns; every kind of line has its own fields. Times are seconds.
struct TurnLine: Decodable, Sendable {
  var ev: String
  var kind: String?
  var fn: String?
  var how: String?
  var t: Double?
  var t0: Double?
  var t1: Double?
  var ms: Double?
  var edge_ms: Double?
  var tid: Int32?
  var stalls: Int?
  var most: Int?
  var total: Int?
}

/// A turn as its target measured it: from the return of one idle wait to the entry into the next.
struct Gap: Sendable {
  var kind: String
  var function: String
  var how: String
  var start: Double
  var end: Double
  /// What the two ends measurably took outside of it, by interruptions: proof of noise.
  var edges: Double
  /// How long it had been woken before it had a CPU: no part of the turn, but it showed as running.
  var wokenLate: Double

  var milliseconds: Double { (end - start) * 1e3 }
}

/// The truth about the turns of one run.
struct StallTruth: Sendable {
  var lines: [TurnLine]
  var gaps: [Gap] = []

  init(_ path: String) {
    lines = Scratch.bytes(path).split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(TurnLine.self, from: Data($0))
    }
    for line in lines where line.ev == "gap" {
      guard let start = line.t0, let end = line.t1 else { continue }
      let tail = lines.filter { $0.ev == "edge" && abs(($0.t ?? 0) - end) < 2e-6 }
      // Both were read on the thread itself, within a few microseconds.
      let late = lines.filter { $0.ev == "late" && abs(($0.t ?? 0) - start) < 1e-3 }
      gaps.append(
        Gap(
          kind: line.kind ?? "", function: line.fn ?? "", how: line.how ?? "", start: start,
          end: end, edges: (line.edge_ms ?? 0) + tail.reduce(0) { $0 + ($1.ms ?? 0) },
          wokenLate: late.reduce(0) { $0 + ($1.ms ?? 0) }))
    }
  }

  func all(_ event: String) -> [TurnLine] { lines.filter { $0.ev == event } }

  /// Moments at which it had a CPU at last, and how many milliseconds it had waited for one.
  var wakes: [(at: Double, late: Double)] {
    lines.filter { $0.ev == "late" }.map { ($0.t ?? 0, $0.ms ?? 0) }
  }
}

/// A stall of a summary in the truth's clock and units.
struct FoundStall: Sendable, CustomStringConvertible {
  var stall: Summary.Stall
  var start: Double
  var end: Double

  init(_ stall: Summary.Stall, _ summary: Summary) {
    self.stall = stall
    start = (Double(summary.run.startMonotonic) + Double(stall.start.rawValue)) / 1e9
    end = start + stall.duration.inSeconds
  }

  var milliseconds: Double { stall.duration.inMilliseconds }

  func isMostly(_ gap: Gap) -> Bool {
    min(end, gap.end) - max(start, gap.start) > 0.5 * (gap.end - gap.start)
  }

  var description: String {
    "\(stall.kind) of \(milliseconds) ms (\(stall.observer), \(stall.certainty), error "
      + "\(stall.error.inMilliseconds) ms) from \(start): \(stall.cause.sentence)"
  }
}

extension Summary.CauseParts {
  /// The sum over all parts.
  var sum: Nanoseconds { Self.fields.reduce(.zero) { $0 + self[keyPath: $1] } }
}
