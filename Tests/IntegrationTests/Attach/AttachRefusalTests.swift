// What cannot be attached to gets one clear line and 125, and nothing happens to it.

internal import Testing

@testable internal import ProbeCore

@Suite struct AttachRefusalTests {
  /// Attaches and expects a refusal.
  private func refusal(_ words: [String], because reason: String, in folder: Scratch) async throws {
    let finished = try await Perfwatch.command(["attach"] + words).run(in: folder)
    #expect(finished.status == .code(125), "\(words)")
    #expect(finished.output.isEmpty)
    #expect(finished.error.contains(reason), "\(finished.error)")
    #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
  }

  @Test func `no such process`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      try await refusal(["999999"], because: "no such process", in: folder)
      // A summary that was asked for is not made, and an old one stays.
      try folder.write("summary", Array("old".utf8))
      let words = ["--summary", folder["summary"], "999999"]
      try await refusal(words, because: "no such process", in: folder)
      #expect(Scratch.text(folder["summary"]) == "old")
      #expect(!folder.names.contains { $0.hasSuffix(".tmp") })
    }
  }

  @Test func `a zombie`() async throws {
    try await Lane.shared {
      // The shell becomes a program that never waits; until then the child stays.
      let script = """
        (while read name < /proc/$$/comm && [ "$name" != sleep ]; do :; done) &
        echo "{\\"ev\\":\\"ready\\",\\"pid\\":$!}" >> "$TARGET_TRUTH"
        exec sleep 60
        """
      let parent = try await Target("/bin/sh", ["-c", script], ready: "ready")
      let pid = try #require(try parent.truth.line("ready").pid)
      try await eventually("it is a zombie") { Process.state(pid) == "Z" }
      try await refusal(["\(pid)"], because: "zombie", in: parent.folder)
      try await parent.end()
    }
  }

  @Test(
    .enabled(if: Process.state(2) != nil && Process.field(2, 1) == "0", "no kernel threads here"))
  func `a kernel thread`() async throws {
    try await Lane.shared {
      try await refusal(["2"], because: "kernel thread", in: Scratch())
    }
  }

  @Test func `perfwatch itself`() async throws {
    try await Lane.shared {
      let finished = try await Command(
        ["/bin/sh", "-c", "exec \"$0\" attach $$", Perfwatch.path]
      ).run(in: Scratch())
      #expect(finished.status == .code(125))
      #expect(finished.error.contains("perfwatch itself"))
    }
  }

  @Test func `a shell that waits for us`() async throws {
    try await Lane.shared {
      let finished = try await Command(
        ["/bin/sh", "-c", "\"$0\" attach $$; exit $?", Perfwatch.path]
      ).run(in: Scratch())
      #expect(finished.status == .code(125))
      #expect(finished.error.contains("waits for perfwatch"))
    }
  }

  @Test func `a thread of a process, with the process named`() async throws {
    try await Lane.shared {
      let target = try await Target("many_threads", ["3"], ready: "ready")
      let threads = Scratch.names("/proc/\(target.pid)/task").compactMap { Int32($0) }
      let thread = try #require(threads.first { $0 != target.pid })
      let reason = "thread of process \(target.pid)"
      try await refusal(["\(thread)"], because: reason, in: target.folder)
      #expect(target.isAlive)
      try await target.end()
    }
  }

  @Test func `a name that fits none, one, or two`() async throws {
    try await Lane.several(2) {
      let folder = try Scratch()
      let program = try await Perfwatch.target("sleeper")
      // comm is the last part of the path, also of a link; 15 bytes at the most.
      let name = "solo-" + folder.path.suffix(6)
      _ = try await Command(["/bin/ln", "-s", program, folder[name]]).run(in: folder)
      try await refusal(["--name", "^\(name)$"], because: "no process matches", in: folder)

      let first = try await Target(folder[name], ready: "ready")
      let options = ["--name", "^\(name)$", "--duration", "100ms", "--summary", folder["summary"]]
      let alone = try await Perfwatch.command(["attach"] + options).run(in: folder)
      #expect(alone.status == .code(0))
      #expect(try Watched.summary(folder["summary"]).target.pid == first.pid)

      let second = try await Target(folder[name], ready: "ready")
      let both = try await Perfwatch.command(["attach"] + options).run(in: folder)
      #expect(both.status == .code(125))
      #expect(both.error.contains("2 processes match"))
      for target in [first, second] { #expect(both.error.contains("\(target.pid)")) }
      try await first.end()
      try await second.end()
    }
  }

  @Test func `an output that cannot be written`() async throws {
    try await Lane.shared {
      let target = try await Target("sleeper", ready: "ready")
      let words = ["--summary", "/no/such/folder/x", "\(target.pid)"]
      try await refusal(words, because: "/no/such/folder/x", in: target.folder)
      #expect(target.isAlive)
      try await target.end()
    }
  }
}
