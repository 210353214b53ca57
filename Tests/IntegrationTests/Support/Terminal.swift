// Programs as the foreground job of a small shell on a pseudo terminal (Tests/Targets/tools/pty_drive.py).

internal import FoundationEssentials
internal import Testing

@testable internal import ProbeCore

/// What became of a job on a terminal.
struct TerminalRun: Decodable, Sendable {
  /// The code, or minus the signal.
  var exit: Int32?
  var timeout: Bool
  var secs: Double
  /// Stop signals that the shell saw; -1 is a continue.
  var stops: [Int32]
  var tty_restored: Bool?
  var left_in_session: [Int32]
  var out: String

  /// - Parameters:
  ///   - events: options of pty_drive.py; their clock starts when the truth file holds `ready`.
  ///   - ready: nil starts the clock with the job.
  static func of(
    _ words: [String], _ events: [String], ready: String? = "\"ready\"", in folder: Scratch,
    truth: String = "truth"
  ) async throws -> (run: TerminalRun, truth: Truth) {
    let wait = ready.map { ["--ready", "\(folder[truth]):\($0)"] } ?? []
    var command = Command(
      ["/usr/bin/env", "python3", Perfwatch.tests + "/Targets/tools/pty_drive.py"] + wait + events
        + ["--"] + words)
    command.environment["TARGET_TRUTH"] = folder[truth]
    command.environment["TERM"] = "xterm-256color"
    for name in ["CI", "GITHUB_ACTIONS", "NO_COLOR"] { command.environment[name] = .some(nil) }
    let finished = try await command.run(in: folder)
    try #require(finished.status == .code(0), "\(finished.error)")
    let run = try JSONDecoder().decode(TerminalRun.self, from: Data(finished.output))
    #expect(!run.timeout)
    #expect(run.left_in_session.isEmpty)
    return (run, Truth(folder[truth]))
  }
}
