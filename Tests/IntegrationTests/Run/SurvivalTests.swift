// perfwatch killed at any moment: the target goes on, or has never begun.

internal import Testing

@testable internal import ProbeCore

@Suite struct SurvivalTests {
  static let batch = 6

  /// 120 of the 200 times: a launch, from before the fork over the held child to the running target.
  @Test(arguments: 0..<20)
  func `a launched target survives our death, or does not exist`(round: Int) async throws {
    let target = try await Perfwatch.target("sleeper")
    try await Lane.several(Self.batch) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for member in 0..<Self.batch {
          // Spread over the first 60 ms, by which a debug build has launched and sampled.
          let delay = Double(round * Self.batch + member) * 0.5 + Double.random(in: 0..<0.5)
          group.addTask { try await Self.launchAndKill(target, afterMilliseconds: delay) }
        }
        try await group.waitForAll()
      }
    }
  }

  private static func launchAndKill(_ target: String, afterMilliseconds delay: Double) async throws
  {
    let folder = try Scratch()
    var command = Perfwatch.command(
      ["run", "--quiet", "--summary", folder["summary"], "--", target, folder["count"]])
    command.environment["TARGET_TRUTH"] = folder["truth"]
    let running = try command.start(in: folder)
    try await Task.sleep(for: .microseconds(Int(delay * 1000)))
    running.signal(9)
    let finished = try await running.finish()
    #expect(finished.status == .signal(9))
    // Everything of it is in its group: nothing, or a target that has said that it runs.
    try await eventually("nothing or a running target is left, killed after \(delay) ms") {
      Process.group(running.pid.rawValue).isEmpty || !Truth(folder["truth"]).all("ready").isEmpty
    }
    if let pid = Truth(folder["truth"]).all("start").first?.pid {
      try await expectAlive(pid, counting: folder["count"], "killed after \(delay) ms")
    }
    #expect(!Scratch.exists(folder["summary"]))
    running.killGroup()
  }

  private static func expectAlive(_ pid: Int32, counting file: String, _ what: String) async throws
  {
    let state = Process.state(pid)
    #expect(
      state == "S" || state == "R" || state == "D", "\(what): state \(String(describing: state))")
    #expect(Scratch.text("/proc/\(pid)/status").contains("TracerPid:\t0\n"), "\(what)")
    let before = Scratch.text(file)
    try await eventually("\(what): it goes on") { Scratch.text(file) != before }
  }

  /// The other 80 times: attached, one target that bears it all.
  @Test func `an attached target survives our death`() async throws {
    try await Lane.several(Self.batch, within: .seconds(480)) { isInTime in
      let folder = try Scratch()
      let target = try await Target("sleeper", [folder["count"]], ready: "ready")
      for round in 0..<20 {
        try #require(isInTime(), "in round \(round)")
        try await withThrowingTaskGroup(of: Void.self) { group in
          for member in 0..<4 {
            let delay = Double(round * 4 + member) * 0.75 + Double.random(in: 0..<0.75)
            group.addTask {
              let running = try Perfwatch.command(["attach", "\(target.pid)"]).start(in: folder)
              try await Task.sleep(for: .microseconds(Int(delay * 1000)))
              running.signal(9)
              let finished = try await running.finish()
              #expect(finished.status == .signal(9))
            }
          }
          try await group.waitForAll()
        }
        try await Self.expectAlive(target.pid, counting: folder["count"], "round \(round)")
      }
      try await target.end()
    }
  }

  @Test func `a stop by job control does not outlive us`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("sleeper")
      var command = Perfwatch.command(["run", "--quiet", "--", target, folder["count"]])
      command.environment["TARGET_TRUTH"] = folder["truth"]
      let running = try command.start(in: folder)
      try await eventually("it runs") { !Truth(folder["truth"]).all("ready").isEmpty }
      let pid = try #require(try Truth(folder["truth"]).line("start").pid)
      // perfwatch alone is stopped, and then killed: neither may concern the target.
      running.signal(19)
      try await eventually("perfwatch is stopped") { Process.state(running.pid.rawValue) == "T" }
      try await Self.expectAlive(pid, counting: folder["count"], "perfwatch stopped")
      running.signal(9)
      #expect(try await running.finish().status == .signal(9))
      try await Self.expectAlive(pid, counting: folder["count"], "perfwatch killed")
      running.killGroup()
    }
  }
}
