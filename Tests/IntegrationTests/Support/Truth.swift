// What a target says about itself: JSON lines in the file that TARGET_TRUTH names.

internal import FoundationEssentials
internal import Testing

@testable internal import ProbeCore

/// One line of truth; every kind of line has its own fields.
struct TruthLine: Decodable, Sendable {
  var ev: String
  var pid: Int32?
  var tid: Int32?
  var t: Double?
  var t0: Double?
  var t1: Double?
  var name: String?
  var what: String?
  var exit: Int32?
  var cpu_s: Double?
  var user_s: Double?
  var sys_s: Double?
  var child_s: Double?
  var cpu_ms: Double?
  var pct: Double?
  var k: Int?
  var sig: Int32?
  var code: Int?
  var hwm_kb: Double?
  var anon_kb: Double?
  var shmem_kb: Double?
  var pss_kb: Double?
  var peak: Int?
  var bytes: Int?
  var djb2: String?
  var argv0: String?
  var why: String?
  var threads: Int?
  /// Seconds in waits, of wait_shares.
  var poll: Double?
  var pipe: Double?
  var sleep: Double?
  var lock: Double?
  var sem: Double?
}

/// The lines of one run.
struct Truth: Sendable {
  var lines: [TruthLine]

  /// Reads a file; lines that are no JSON (a target's own messages) are left out.
  init(_ path: String) {
    lines = Scratch.bytes(path).split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(TruthLine.self, from: Data($0))
    }
  }

  func all(_ event: String) -> [TruthLine] { lines.filter { $0.ev == event } }

  func line(_ event: String, what: String? = nil) throws -> TruthLine {
    try #require(
      lines.first { $0.ev == event && (what == nil || $0.what == what || $0.name == what) },
      "no line '\(event)'")
  }

  /// CPU of the target by its own account, at its end.
  var cpu: Double {
    get throws {
      let end = try line("end")
      return try #require(end.user_s) + #require(end.sys_s)
    }
  }
}

/// Within 5 % of the truth, or 50 ms (of whatever unit `slack` says).
func isClose(_ value: Double, _ truth: Double, slack: Double = 0.05) -> Bool {
  abs(value - truth) <= max(truth * 0.05, slack)
}

let mebibyte = 1024.0 * 1024
