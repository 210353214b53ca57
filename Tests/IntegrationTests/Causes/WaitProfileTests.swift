// Where real threads wait, over the whole run and when there are many of them.

internal import Testing

@testable internal import ProbeCore

@Suite struct WaitProfileTests {
  private static func profile(_ summary: Summary) throws -> Summary.WaitProfile {
    try #require(summary.waits.first { $0.tid == summary.target.pid })
  }

  @Test(arguments: ["proc", "auto"]) func `shares of off-CPU time are what the program measured`(
    observer: String
  ) async throws {
    try await Lane.alone {
      let run = try await Watched(
        "wait_shares", options: ["--observer", observer, "--wait-profile"])
      let summary = try run.summary
      let profile = try Self.profile(summary)
      let truth = try #require(run.truth.lines.first { $0.ev == "waits" })
      let sum = profile.rows.reduce(profile.unseen) { $0 + $1.time }
      #expect(sum == profile.blocked)
      // Blocked is what the counters say, but for what came after the last look.
      let thread = try #require(summary.cpu.byThread.first { $0.tid == summary.target.pid })
      let counted = profile.length - thread.cpu - (thread.runDelay ?? .zero)
      #expect(abs((profile.blocked - counted).inMilliseconds) < 60)

      let parts: [(String, String?, Double?)] = [
        ("poll", nil, truth.poll), ("read", "pipe from writer (pid ", truth.pipe),
        ("clock_nanosleep", nil, truth.sleep), ("futex", "lock 0x", truth.lock),
      ]
      let all = [truth.poll, truth.pipe, truth.sleep, truth.lock, truth.sem]
        .reduce(0) { $0 + ($1 ?? 0) }
      for (call, object, seconds) in parts {
        let row = try #require(profile.rows.first { $0.call == call }, "\(call)")
        if let object { #expect(row.object?.hasPrefix(object) == true, "\(row)") }
        let share = row.time.inSeconds / profile.blocked.inSeconds
        let expected = (try #require(seconds)) / all
        // The told error, and 3 % for the time it waited for a CPU after it was woken.
        let error = row.error.inSeconds / profile.blocked.inSeconds + 0.03
        #expect(
          abs(share - expected) <= error, "\(call): \(share), by itself \(expected) +- \(error)")
        #expect(error < 0.15)
      }
      #expect(run.finished.error.contains("was off the CPU, waiting, for"))
      #expect(summary.observer.stops == 0)
    }
  }

  @Test func `waits are exported as folded lines, live and from a recording`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let run = try await Watched(
        "mutex_held",
        options: [
          "--export", "folded-waits=" + folder["live"], "--record", folder["rec"],
        ])
      #expect(run.finished.status == .code(0))
      let replay = try await Perfwatch.command(
        ["report", folder["rec"], "-f", "folded-waits"]
      ).run(in: folder)
      let live = String(decoding: Scratch.bytes(folder["live"]), as: UTF8.self)
      #expect(replay.text == live)
      #expect(live.contains("update_cache;") && live.contains(";[futex lock 0x"))
      #expect(try run.summary.observer.capturesWithoutStop > 0)
      for line in live.split(separator: "\n") {
        #expect(line.split(separator: " ").last.flatMap { Int($0) } != nil)
      }
    }
  }

  @Test func `eighty threads at one lock give one alarm that says so`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let run = try await Watched(
        "lock_pile", options: ["--export", "folded-threads=" + folder["folded"]])
      let summary = try run.summary
      #expect(summary.threads.peak == 81)
      #expect(summary.threads.alarms.count == 1)
      let alarm = try #require(summary.threads.alarms.first)
      #expect(alarm.peak == 81 && alarm.limit == 64)
      let looked = try #require(alarm.looked)
      #expect(looked == ThreadAlarmWatch.threadsLooked && alarm.blocked == looked)
      #expect(alarm.parked.first?.count == looked)
      #expect(alarm.parked.first?.frames.contains { $0.function == "pile_up" } == true)
      #expect(
        alarm.sentence.contains(
          "\(looked) of \(looked) wait at the same lock, in pile_up: a mutex held by thread lock_pile"
        ), "\(alarm.sentence)")
      // Nobody was stopped for it.
      #expect(summary.observer.stops == 0)
      #expect(summary.observer.capturesWithoutStop >= looked)
      let lines = run.finished.error.split(separator: "\n")
      #expect(lines.count { $0.hasPrefix("perfwatch: thread alarm: 81 threads") } == 1)
      let folded = String(decoding: Scratch.bytes(folder["folded"]), as: UTF8.self)
      #expect(folded.contains("pile_up;") && folded.hasSuffix(" \(looked)\n"))
    }
  }

  @Test func `slow growth is an alarm at the limit only, and the limit can be set`() async throws {
    try await Lane.shared {
      let below = try await Watched("lock_pile", ["slow", "30"])
      #expect(try below.summary.threads.alarms.isEmpty)
      let above = try await Watched(
        "lock_pile", ["slow", "30"], options: ["--thread-alarm", "25"])
      let alarms = try above.summary.threads.alarms
      #expect(alarms.count == 1)
      #expect(alarms.first?.limit == 25)
      let never = try await Watched("lock_pile", options: ["--thread-alarm", "0"])
      #expect(try never.summary.threads.alarms.isEmpty)
    }
  }

  @Test func `many threads of a process that was attached to are told of at once`() async throws {
    try await Lane.shared {
      let target = try await Target("many_threads", ["100", "5"])
      let (finished, summary) = try await target.attach(["-d", "1s"])
      #expect(finished.status == .code(0))
      let alarm = try #require(summary.threads.alarms.first)
      #expect(alarm.grownFrom == nil && alarm.looked == 64)
      #expect(alarm.sentence.contains("from the start of watching"))
      try await target.end()
    }
  }
}
