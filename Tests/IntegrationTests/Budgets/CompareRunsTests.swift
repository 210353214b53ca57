// Two commands run in turn and compared.

internal import Testing

@testable internal import ProbeCore

@Suite struct CompareRunsTests {
  /// Shell text that burns CPU by counting, in the shell itself.
  static func burn(_ count: Int) -> String {
    "/bin/sh -c 'i=0; while [ $i -lt \(count) ]; do i=$((i+1)); done'"
  }

  static func compare(
    _ base: String, _ head: String, _ options: [String] = [], in folder: Scratch
  ) async throws -> Finished {
    var command = Perfwatch.command(["compare", "--base", base, "--head", head] + options)
    command.limit = .seconds(120)
    return try await command.run(in: folder)
  }

  @Test func `twice the CPU is worse, and half of it is better`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let (less, more) = (Self.burn(150_000), Self.burn(450_000))
      let worse = try await Self.compare(less, more, in: folder)
      #expect(worse.status == .code(1), "\(worse.text)\(worse.error)")
      #expect(worse.text.contains("result: worse"))
      let better = try await Self.compare(more, less, ["--json"], in: folder)
      #expect(better.status == .code(0), "\(better.text)\(better.error)")
      let json = try JSONReader.read(better.output)
      #expect(json["result"]?.text == "better")
      let row = json["metrics"]?.elements?.first { $0["metric"]?.text == "cpu.seconds" }
      #expect(row?["result"]?.text == "better")
    }
  }

  @Test func `runs are interleaved after the warm-up, and stdout is not mixed with theirs`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      func command(_ name: String) -> String {
        "/bin/sh -c 'echo \(name) | tee -a \(folder["order"]); cat'"
      }
      let finished = try await Self.compare(
        command("b"), command("h"), ["-n", "3", "--max-rounds", "3", "--json"], in: folder)
      #expect(finished.status == .code(0), "\(finished.text)\(finished.error)")
      let order = Scratch.text(folder["order"]).filter { $0 != "\n" }
      // One warm-up round, then ABBA.
      #expect(order == "bh" + "bhhbbh")
      let json = try JSONReader.read(finished.output)
      #expect(json["schema"]?.text == "perfwatch.comparison/1")
      #expect(json["baseRuns"]?.double == 3)
      let shown = try await Self.compare(
        "echo shown-b", "echo shown-h",
        ["-n", "1", "--warmup", "0", "--max-rounds", "1", "--show-output"], in: folder)
      #expect(shown.error.contains("shown-b") && shown.error.contains("shown-h"))
      #expect(!shown.text.contains("shown-"))
    }
  }

  @Test func `more rounds are made while a change is not told from noise, up to the limit`()
    async throws
  {
    try await Lane.shared {
      let folder = try Scratch()
      // Every other run of either command is four times as heavy: never the same, never apart.
      func command(_ name: String, _ odd: Int, _ even: Int) -> String {
        let file = folder[name]
        return "/bin/sh -c 'echo x >> \(file); n=$(wc -l < \(file)); "
          + "if [ $((n % 2)) -eq 1 ]; then m=\(odd); else m=\(even); fi; "
          + "i=0; while [ $i -lt $m ]; do i=$((i+1)); done'"
      }
      let finished = try await Self.compare(
        command("b", 60_000, 240_000), command("h", 240_000, 60_000),
        ["-n", "5", "--warmup", "0", "--max-rounds", "7"], in: folder)
      #expect(finished.status == .code(0), "\(finished.text)")
      #expect(finished.text.contains("base: 7 runs, head: 7 runs"), "\(finished.text)")
      #expect(finished.text.contains("result: indeterminate"), "\(finished.text)")
      let strict = try await Self.compare(
        command("c", 60_000, 240_000), command("d", 240_000, 60_000),
        ["-n", "5", "--warmup", "0", "--max-rounds", "5", "--indeterminate", "fail"], in: folder)
      #expect(strict.status == .code(1), "\(strict.text)")
    }
  }

  @Test func `several programs in one command are compared as trees`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.compare(
        Self.burn(100_000), "\(Self.burn(200_000)) | cat; \(Self.burn(200_000))", in: folder)
      #expect(finished.status == .code(1), "\(finished.text)\(finished.error)")
      #expect(finished.text.contains("tree.cpu.seconds"))
    }
  }

  @Test(
    arguments: [
      ("exit 3", "true", "--base", "ended with 3"), ("true", "kill -9 $$", "--head", "signal 9"),
      ("true", "/no/such/program", "--head", "did not find it"),
    ])
  func `a command that fails is one line and 2`(
    base: String, head: String, option: String, why: String
  ) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Self.compare(base, head, in: folder)
      #expect(finished.status == .code(2))
      let line = finished.error.split(separator: "\n").last ?? ""
      #expect(line.contains(option) && line.contains(why), "\(finished.error)")
      #expect(finished.output.isEmpty)
    }
  }

  @Test(
    arguments: [
      ["--base", "a"], ["--head", "a"], ["--base", "a", "--head", "b", "c"], ["a", "b", "-n", "5"],
      ["--base", "", "--head", "b"],
      ["--base", "a", "--head", "b", "-n", "5", "--max-rounds", "4"],
      ["a", "b", "--children"],
    ])
  func `wrong usage is one line and 2`(words: [String]) async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let finished = try await Perfwatch.command(["compare"] + words).run(in: folder)
      #expect(finished.status == .code(2))
      #expect(finished.error.split(separator: "\n").count == 1, "\(finished.error)")
    }
  }

  @Test func `a time-out is a failure, and an interrupt ends everything`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      let late = try await Self.compare(
        "true", "sleep 30", ["--timeout", "300ms"], in: folder)
      #expect(late.status == .code(2))
      #expect(late.error.contains("did not end within --timeout"), "\(late.error)")
      let running = try Perfwatch.command(
        ["compare", "--base", "touch \(folder["ready"]); exec sleep 30", "--head", "true"]
      ).start(in: folder)
      try await eventually("the base runs") { Scratch.exists(folder["ready"]) }
      running.signal(2)
      let finished = try await running.finish()
      #expect(finished.status == .signal(2))
      #expect(finished.output.isEmpty)
    }
  }
}
