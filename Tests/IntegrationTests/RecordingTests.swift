// Recordings give the same result again; files are whole or stay as they were.

internal import Testing

@testable internal import ProbeCore

@Suite struct RecordingTests {
  /// One recorded run with its text and its summary.
  private func record(
    _ target: String, _ arguments: [String], options: [String] = []
  ) async throws -> Watched {
    let folder = try Scratch()
    let files = ["--record", folder["record"], "--output", folder["text"]]
    var run = try await Watched(target, arguments, options: files + options)
    try folder.write("summary.json", Scratch.bytes(run.folder["summary.json"]))
    run.folder = folder
    return run
  }

  @Test func `a report is the run's own, byte for byte`() async throws {
    try await Lane.shared {
      for (target, arguments, options) in [
        ("exit_status", ["code", "3"], []), ("exit_status", ["signal", "15"], []),
        ("prefork", [], ["--children"]),
        ("cpu_half", [], ["--show-command", "--interval", "20ms"]),
        ("/bin/sleep", ["9"], ["--timeout", "200ms"]), ("/bin/true", [], []),
        ("sleeper", ["/dev/null", "0", "600"], ["--duration", "300ms"]),
      ] as [(String, [String], [String])] {
        let run = try await record(target, arguments, options: options)
        let file = run.folder["record"]
        let text = try await Perfwatch.command(["report", file]).run(in: run.folder)
        #expect(text.status == .code(0))
        #expect(text.text == Scratch.text(run.folder["text"]), "\(target)")
        let json = try await Perfwatch.command(["report", "--format", "json", file]).run(
          in: run.folder)
        #expect(json.status == .code(0))
        #expect(json.text == Scratch.text(run.folder["summary.json"]), "\(target)")
        let again = run.folder["again.json"]
        _ = try await Perfwatch.command(["report", file, "--summary", again]).run(in: run.folder)
        #expect(Scratch.bytes(again) == json.output)
      }
    }
  }

  @Test func `a recording of an attach is the same, too`() async throws {
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let folder = target.folder
      let files = ["--record", folder["record"], "--output", folder["text"], "--pss"]
      let (finished, _) = try await target.attach(files + ["--duration", "300ms"])
      #expect(finished.status == .code(0))
      let text = try await Perfwatch.command(["report", folder["record"]]).run(in: folder)
      #expect(text.text == Scratch.text(folder["text"]))
      try await target.end()
    }
  }

  @Test func `a recording cut anywhere still gives a report, marked incomplete`() async throws {
    try await Lane.shared {
      let run = try await record("exit_status", ["code", "0"], options: ["--children"])
      let whole = Scratch.bytes(run.folder["record"])
      // Behind the first line comes the first event; without it there is nothing to report.
      let first = RecordingFormat.magic.count
      let length = 5 + (0..<4).reduce(0) { $0 | Int(whole[first + 1 + $1]) << (8 * $1) }
      let steps = stride(from: first + length, to: whole.count, by: max(1, whole.count / 12))
      for cut in Array(steps) + [whole.count - 1] {
        try run.folder.write("cut", Array(whole[..<cut]))
        let summary = run.folder["cut.json"]
        let report = try await Perfwatch.command(
          ["report", run.folder["cut"], "--summary", summary]
        ).run(in: run.folder)
        #expect(report.status == .code(0), "cut at \(cut) of \(whole.count)")
        let result = try Watched.summary(summary)
        #expect(!result.run.complete)
        #expect(result.warnings.contains { $0.code == "recording-cut" })
        #expect(report.text.contains("ends in the middle"))
      }
      for cut in [0, 5, first, first + 3, first + length - 1] {
        try run.folder.write("cut", Array(whole[..<cut]))
        let report = try await Perfwatch.command(["report", run.folder["cut"]]).run(in: run.folder)
        #expect(report.status == .code(2), "cut at \(cut)")
      }
    }
  }

  @Test func `a damaged recording is reported or refused, and never ends us by a signal`()
    async throws
  {
    try await Lane.shared {
      let run = try await record("exit_status", ["code", "0"], options: ["--children"])
      let whole = Scratch.bytes(run.folder["record"])
      for seed in 0..<30 {
        var bytes = whole
        let place = RecordingFormat.magic.count + (seed * 7919) % (whole.count - 30)
        bytes[place] = bytes[place] ^ UInt8(truncatingIfNeeded: 1 << (seed % 8))
        if seed % 3 == 0 { bytes[(place + 11) % whole.count] = 0xff }
        try run.folder.write("damaged", bytes)
        let report = try await Perfwatch.command(["report", run.folder["damaged"]]).run(
          in: run.folder)
        #expect(report.status == .code(0) || report.status == .code(2), "seed \(seed)")
      }
    }
  }

  @Test(arguments: ["--summary", "--record", "--output", "--export"])
  func `a full disk is 125 after a good run, and never hides the target's code`(option: String)
    async throws
  {
    try await Lane.shared {
      let target = try await Perfwatch.target("exit_status")
      let value = (option == "--export" ? "json=" : "") + "/dev/full"
      for (code, ours) in [("0", Int32(125)), ("3", 3)] {
        let words = ["run", option, value, "--", target, "code", code]
        let finished = try await Perfwatch.command(words).run(in: Scratch())
        #expect(finished.status == .code(ours), "\(option)")
        #expect(finished.error.contains("/dev/full"), "\(finished.error)")
        #expect(finished.error.contains("No space left"), "\(finished.error)")
      }
    }
  }

  @Test(.enabled(if: Process.isRoot, "mounting a small tmpfs needs root"))
  func `on a full file system the old files stay as they were`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let mounted = try await Command(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder.path]
      ).run(in: Scratch())
      guard mounted.status == .code(0) else {
        return withKnownIssue("mount is refused here") { Issue.record("\(mounted.error)") }
      }
      try folder.write("summary", Array("old summary".utf8))
      try folder.write("record", Array("old record".utf8))
      // 32 KiB are 8 pages; the two files have taken two.
      try? folder.write("filler", Array(repeating: 1, count: 6 * 4096))
      let target = try await Perfwatch.target("exit_status")
      let words = ["run", "--summary", folder["summary"], "--record", folder["record"], "--"]
      let finished = try await Perfwatch.command(words + [target, "code", "0"]).run(in: Scratch())
      let names = folder.names
      let contents = ["summary", "record"].map { Scratch.text(folder[$0]) }
      _ = try await Command(["/bin/umount", folder.path]).run(in: Scratch())
      #expect(finished.status == .code(125))
      #expect(finished.error.contains("No space left"), "\(finished.error)")
      #expect(contents == ["old summary", "old record"])
      #expect(names == ["filler", "record", "summary"])
    }
  }

  @Test func `outputs replace old files, keep links, and leave nothing else behind`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try folder.write("real", Array("old".utf8))
      _ = try await Command(["/bin/ln", "-s", "real", folder["link"]]).run(in: folder)
      let words = ["run", "--quiet", "--summary", folder["link"], "--", "/bin/true"]
      let finished = try await Perfwatch.command(words).run(in: folder)
      #expect(finished.status == .code(0))
      #expect(try Watched.summary(folder["real"]).exit.code == 0)
      #expect(try Syscalls.readLink(folder["link"]) == Array("real".utf8))
      #expect(!folder.names.contains { $0.hasSuffix(".tmp") })
    }
  }

  @Test func `report fails with 2 when its output cannot be written`() async throws {
    try await Lane.shared {
      let run = try await record("/bin/true", [])
      let words = ["report", run.folder["record"], "--summary", "/dev/full"]
      let finished = try await Perfwatch.command(words).run(in: run.folder)
      #expect(finished.status == .code(2))
      #expect(finished.error.contains("/dev/full"))
    }
  }

  @Test func `a report into a closed pipe is no crash`() async throws {
    try await Lane.shared {
      let run = try await record("/bin/true", [])
      for stream in [Command.Stream.brokenPipe, .closed, .path("/dev/full")] {
        var command = Perfwatch.command(["report", run.folder["record"]])
        command.output = stream
        let finished = try await command.run(in: run.folder)
        guard case .code = finished.status else {
          Issue.record("\(stream): \(finished.status)")
          continue
        }
      }
    }
  }
}
