import Testing

@testable import ProbeCore

@Suite struct ExitCodeTests {
  struct Case: Sendable, CustomStringConvertible {
    var launched = true
    var ended: EndReason? = .exit
    var code: Int32?
    var signal: Int32?
    var verdict = VerdictResult.none
    var failed = false
    var expected: Int32?
    var description: String {
      "launched \(launched) \(ended as Any) \(code as Any)/\(signal as Any) \(verdict) \(failed)"
    }
  }

  static let cases: [Case] = [
    // The target's own result first.
    Case(code: 0, expected: 0), Case(code: 7, expected: 7), Case(code: 255, expected: 255),
    Case(signal: 9, expected: 137), Case(signal: 15, expected: 143),
    Case(code: 7, verdict: .fail, expected: 7), Case(code: 7, failed: true, expected: 7),
    Case(signal: 11, verdict: .fail, failed: true, expected: 139),
    // Then our time-out, whatever the target made of the signal.
    Case(ended: .timeout, code: 0, expected: 124), Case(ended: .timeout, signal: 15, expected: 124),
    Case(ended: .timeout, code: 3, expected: 124),
    // Then our own troubles, then the verdict.
    Case(code: 0, failed: true, expected: 125),
    Case(code: 0, verdict: .fail, failed: true, expected: 125),
    Case(code: 0, verdict: .pass, expected: 0), Case(code: 0, verdict: .fail, expected: 99),
    Case(code: 0, verdict: .indeterminate, expected: 98),
    // A target that ended without a status we know, and one that has not ended yet.
    Case(expected: 125), Case(ended: .duration, expected: nil), Case(ended: .detach, expected: nil),
    Case(ended: nil, expected: nil),
    // Attached: the target's result is its parent's business.
    Case(launched: false, code: 7, expected: 0), Case(launched: false, signal: 9, expected: 0),
    Case(launched: false, ended: .interrupt, expected: 0),
    Case(launched: false, ended: .duration, verdict: .fail, expected: 99),
    Case(launched: false, verdict: .indeterminate, expected: 98),
    Case(launched: false, verdict: .pass, failed: true, expected: 125),
    // Numbers of a damaged recording.
    Case(signal: .max, expected: .max),
  ]

  @Test(arguments: cases) func `perfwatch exits by the table`(_ row: Case) {
    var summary = Script.summary(Script.start(launched: row.launched), [])
    summary.run.endedBy = row.ended
    summary.exit = Summary.Exit(code: row.code, signal: row.signal, perfwatch: nil)
    summary.verdict.result = row.verdict
    #expect(ExitCode.of(summary, failed: row.failed) == row.expected)
  }
}
