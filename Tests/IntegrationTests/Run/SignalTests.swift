// Signals that one process sends to perfwatch, without a terminal.

internal import Testing

@testable internal import ProbeCore

@Suite struct SignalTests {
  /// TERM, HUP, INT, USR1, USR2 and QUIT.
  @Test(arguments: [15, 1, 2, 10, 12, 3] as [Int32])
  func `a signal to perfwatch alone reaches the target once`(signal: Int32) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("signal_log")
      var command = Perfwatch.command(["run", "--summary", folder["summary"], "--", target, "2"])
      command.environment["TARGET_TRUTH"] = folder["truth"]
      let running = try command.start(in: folder)
      try await eventually("the target is ready") { !Truth(folder["truth"]).all("ready").isEmpty }
      running.signal(signal)
      let finished = try await running.finish()
      let got = Truth(folder["truth"]).all("sig")
      #expect(got.map(\.sig) == [signal])
      // Those that end it: 20 and the number of signals that it got.
      let code: Int32 = [15, 1, 2].contains(signal) ? 21 : 0
      #expect(finished.status == .code(code))
      #expect(try Watched.summary(folder["summary"]).exit.code == code)
    }
  }

  /// PIPE and the first real-time signal.
  @Test(arguments: [13, 34] as [Int32])
  func `a signal that is not passed on changes nothing`(signal: Int32) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("signal_log")
      var command = Perfwatch.command(["run", "--summary", folder["summary"], "--", target, "1"])
      command.environment["TARGET_TRUTH"] = folder["truth"]
      let running = try command.start(in: folder)
      try await eventually("the target is ready") { !Truth(folder["truth"]).all("ready").isEmpty }
      running.signal(signal)
      #expect(try await running.finish().status == .code(0))
      #expect(Truth(folder["truth"]).all("sig").isEmpty)
      #expect(try Watched.summary(folder["summary"]).run.endedBy == .exit)
    }
  }

  /// perfwatch with a target that sleeps, once that is ready.
  private static func startSleeper(
    _ arguments: [String] = [], in folder: Scratch
  ) async throws -> Running {
    let target = try await Perfwatch.target("sleeper")
    var command = Perfwatch.command(
      ["run", "--summary", folder["summary"], "--", target] + arguments)
    command.environment["TARGET_TRUTH"] = folder["truth"]
    let running = try command.start(in: folder)
    try await eventually("the target is ready") { !Truth(folder["truth"]).all("ready").isEmpty }
    return running
  }

  @Test func `a target that TERM kills takes us with it, and the files are written`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let running = try await Self.startSleeper(in: folder)
      running.signal(15)
      #expect(try await running.finish().status == .signal(15))
      #expect(
        try Watched.summary(folder["summary"]).exit
          == Summary.Exit(code: nil, signal: 15, perfwatch: 143))
    }
  }

  @Test func `a stop of the target alone is seen, and perfwatch goes on`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let running = try await Self.startSleeper(["/dev/null", "9", "1500"], in: folder)
      let pid = try #require(try Truth(folder["truth"]).line("start").pid)
      _ = try await Command(["/bin/kill", "-STOP", "\(pid)"]).run(in: folder)
      try await eventually("perfwatch says that it is stopped") {
        running.errorSoFar.contains("stopped")
      }
      #expect(Process.state(pid) == "T")
      #expect(Process.state(running.pid.rawValue) != "T")
      _ = try await Command(["/bin/kill", "-CONT", "\(pid)"]).run(in: folder)
      #expect(try await running.finish().status == .code(9))
    }
  }

  @Test func `a target killed by somebody else is reported as killed`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let running = try await Self.startSleeper(in: folder)
      let pid = try #require(try Truth(folder["truth"]).line("start").pid)
      _ = try await Command(["/bin/kill", "-KILL", "\(pid)"]).run(in: folder)
      #expect(try await running.finish().status == .signal(9))
      #expect(try Watched.summary(folder["summary"]).exit.signal == 9)
    }
  }
}
