// Captures at any moment do no harm: no interrupted call, no lost signal, no changed exit, no thread
// left stopped or traced, even when the capturing process is killed.

@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable internal import ProbeCore

@Suite struct CaptureHarmTests {
  /// What `capture_waiters` counted: call, number of calls, how many were interrupted.
  private static func expectUninterrupted(_ finished: Finished) {
    #expect(finished.status == .code(0))
    let lines = finished.text.split(separator: "\n").dropFirst()
    #expect(lines.count == 7)
    for line in lines {
      let words = line.split(separator: " ")
      #expect(words.count == 3 && words[2] == "0" && Int(words[1])! > 5, "\(line)")
    }
  }

  @Test(arguments: [false, true])
  func `200 captures of each wait interrupt none`(needsRegisters: Bool) async throws {
    try await Lane.shared {
      let child = try await Child("capture_waiters")
      let (pid, threads) = (child.pid, child.threads.filter { $0.rawValue != child.pid.rawValue })
      #expect(threads.count == 7)
      let taken = try await onTracer {
        var taken = (unstopped: 0, stopped: 0, refused: 0)
        for _ in 0..<200 {
          for tid in threads {
            var capturer = try StackCapturer(pid)
            do throws(CaptureRefusal) {
              let snapshot = try capturer.capture(
                tid, CaptureRequest(needsRegisters: needsRegisters))
              if snapshot.stopTime == .zero { taken.unstopped += 1 } else { taken.stopped += 1 }
            } catch {
              taken.refused += 1
            }
          }
          // 20 ms is how long each wait lasts; captures meet all its parts.
          usleep(5_000)
        }
        return taken
      }
      if needsRegisters {
        // Of seven threads two are in calls that bear a stop.
        #expect(taken.stopped >= 200 && taken.refused >= 600, "\(taken)")
      } else {
        #expect(taken.unstopped >= 1200, "\(taken)")
      }
      Self.expectUninterrupted(try await child.finish())
    }
  }

  #if arch(x86_64)
    /// A thread may begin its wait between our last look and the stop. Here each stop is such a one.
    @Test func `a stop that meets a wait after all does not interrupt it`() async throws {
      try await Lane.shared {
        let child = try await Child("capture_waiters")
        let (pid, threads) = (child.pid, child.threads.filter { $0.rawValue != child.pid.rawValue })
        let stops = try await onTracer {
          var tracer = TaskTracer()
          var stops = 0
          for _ in 0..<20 {
            for tid in threads {
              let path = "/proc/\(pid)/task/\(tid)/syscall"
              let file = try Syscalls.open(path, flags: O_RDONLY)
              let condition = StopCondition(
                line: file.raw, expected: try InputFile.read(path), processor: -1,
                restartable: InterruptedCalls.restartable)
              do throws(StopFailure) {
                _ = try tracer.stop(tid, if: condition, CopyExtent())
                stops += 1
              } catch {
                if error != .changed { throw error }
              }
            }
            // More often than the waits last, and they would never end: a time-out begins anew.
            usleep(30_000)
          }
          return stops
        }
        #expect(stops >= 100)
        Self.expectUninterrupted(try await child.finish())
      }
    }
  #endif

  @Test func `a program that does everything at once is captured 1000 times and does not notice`()
    async throws
  {
    try await Lane.several(2) {
      let folder = try Scratch()
      let child = try await Child("capture_chaos", [folder["end"]])
      let pid = child.pid
      let counts = try await onTracer {
        var counts = (taken: 0, stopped: 0, refused: 0, others: [CaptureRefusal]())
        var isEnding = false
        let deadline = Clock.now() + .seconds(20)
        // Its state tells nothing: in an exec beside the main thread the process looks dead.
        while child.output == "ready\n", Clock.now() < deadline {
          if !isEnding, counts.taken >= 1000, counts.stopped >= 300 {
            // It goes on for a while, and so do we.
            try folder.write("end", [])
            isEnding = true
          }
          // For a moment of an exec beside the main thread its number is nobody's.
          guard var capturer = try? StackCapturer(pid) else { continue }
          for name in Scratch.names("/proc/\(pid)/task") {
            guard let number = Int32(name) else { continue }
            do throws(CaptureRefusal) {
              let snapshot = try capturer.capture(
                ThreadID(number), CaptureRequest(needsRegisters: Bool.random()))
              counts.taken += 1
              if snapshot.stopTime > .zero { counts.stopped += 1 }
            } catch {
              counts.refused += 1
              switch error {
              case .gone, .moved, .uninterruptible, .wouldInterrupt: break
              default: counts.others.append(error)
              }
            }
          }
          usleep(.random(in: 0...500))
        }
        return (counts.taken, counts.stopped, counts.refused, counts.others)
      }
      let finished = try await child.running.finish()
      #expect(finished.status == .code(42))
      #expect(finished.text == "ready\nfine\n")
      #expect(counts.0 >= 1000 && counts.1 >= 300, "\(counts)")
      #expect(counts.3.isEmpty, "\(counts.3)")
    }
  }

  private static let bench: String = {
    let beside = Perfwatch.path.split(separator: "/").dropLast().joined(separator: "/")
    let link = (try? Syscalls.readLink("/proc/self/exe")) ?? []
    let tests = String(decoding: link, as: UTF8.self).split(separator: "/").dropLast()
      .joined(separator: "/")
    return ["/\(tests)/CaptureBench", "/\(beside)/CaptureBench"].first(where: Scratch.exists)
      ?? Perfwatch.repository + "/.build/debug/CaptureBench"
  }()

  /// Starts a capturing process, kills it after a while; whether that was inside a stop.
  private static func captureAndKill(_ child: Child) async throws -> Bool {
    let running = try Command([bench, "\(child.pid)", "1000000", "0"]).start(in: child.folder)
    try await Task.sleep(for: .microseconds(.random(in: 10_000...40_000)))
    running.signal(SIGSTOP)
    let isInside = !Child.isFree("\(child.pid)")
    running.signal(SIGKILL)
    _ = try await running.finish()
    return isInside
  }

  /// Back to back a good part of the time is spent inside a stop, and so are that many kills.
  @Test func `killed 200 times while it captures, it leaves nobody stopped or traced`()
    async throws
  {
    try await Lane.several(3, within: .seconds(300)) { isInTime in
      let child = try await Child("capture_parked", ["busy"])
      var inside = 0
      for round in 0..<200 {
        try #require(isInTime(), "in round \(round)")
        inside += try await Self.captureAndKill(child) ? 1 : 0
        #expect(Child.isFree("\(child.pid)"), "after round \(round)")
        let cpu = try #require(Clock.processCPU(child.pid))
        try await eventually("it runs after round \(round)") {
          try #require(Clock.processCPU(child.pid)) > cpu
        }
      }
      #expect(inside >= 10)
      try await child.end()
    }
  }
}
