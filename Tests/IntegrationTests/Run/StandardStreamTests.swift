// stdin and stdout are the target's alone; what perfwatch says goes to stderr, if that is there.

internal import Testing

@testable internal import ProbeCore

@Suite struct StandardStreamTests {
  @Test func `24 MiB of output and all of the input pass through unchanged`() async throws {
    try await Lane.several(2) {
      let folder = try Scratch()
      let input = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      try folder.write("input", input)
      let run = try await Watched("big_output") { command in
        command.words =
          ["/bin/sh", "-c", "cat \"$0\" | \"$@\" | cat", folder["input"]] + command.words
      }
      let output = run.finished.output
      let said = try run.truth.line("stdout")
      #expect(output.count == said.bytes)
      #expect(output.count == 25_165_824 + input.count)
      #expect(output.starts(with: input))
      let hash = output.reduce(UInt64(5381)) { ($0 &* 33) &+ UInt64($1) }
      #expect(String(hash, radix: 16) == said.djb2)
      #expect(run.finished.error.contains("one line on stderr\n"))
      #expect(try run.summary.exit.code == 0)
    }
  }

  @Test func `a reader that goes away kills the target by SIGPIPE, as without us`() async throws {
    try await Lane.several(2) {
      let target = try await Perfwatch.target("big_output")
      let folder = try Scratch()
      let script = "{ \"$@\"; echo \"status $?\" >&2; } | head -c 10 | wc -c"
      func piped(_ words: [String]) async throws -> (Finished, String?) {
        var command = Command(["/bin/sh", "-c", script, "sh"] + words)
        command.environment["TARGET_TRUTH"] = folder["truth"]
        let finished = try await command.run(in: folder)
        let lines = finished.error.split(separator: "\n").map(String.init)
        return (finished, lines.last { $0.hasPrefix("status") })
      }
      let plain = try await piped([target])
      let summary = folder["summary"]
      let watched = try await piped([Perfwatch.path, "run", "--summary", summary, target])
      #expect(plain.1 == "status 141")
      #expect(watched.1 == "status 141")
      #expect(watched.0.text == plain.0.text)
      #expect(try Watched.summary(summary).exit.signal == 13)
    }
  }

  @Test(arguments: [[], ["--live"], ["--progress", "tty"], ["-v"], ["--color", "always"]])
  func `perfwatch writes nothing to stdout`(options: [String]) async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sh", ["-c", "echo one; sleep 0.3; echo two"], options: options)
      #expect(run.finished.text == "one\ntwo\n")
      #expect(run.finished.error.contains("exited with code 0"))
    }
  }

  @Test func `quiet means not a byte`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sh", ["-c", "echo out; echo err >&2"], options: ["--quiet"])
      #expect(run.finished.text == "out\n")
      #expect(run.finished.error == "err\n")
      #expect(try run.summary.exit.code == 0)
    }
  }

  @Test func `without anybody to talk to the run and its summary are the same`() async throws {
    try await Lane.shared {
      for (output, error) in [
        (Command.Stream.captured, Command.Stream.closed), (.captured, .brokenPipe),
        (.captured, .path("/dev/full")), (.closed, .closed), (.closed, .captured),
        (.brokenPipe, .brokenPipe),
      ] {
        let run = try await Watched("exit_status", ["code", "4"]) { command in
          command.output = output
          command.error = error
        }
        #expect(run.finished.status == .code(4), "\(output) \(error)")
        #expect(try run.summary.exit == Summary.Exit(code: 4, signal: nil, perfwatch: 4))
      }
    }
  }

  @Test func `a closed stderr is closed for the target and is not taken by a file of ours`()
    async throws
  {
    try await Lane.shared {
      let run = try await Watched("/bin/sh", ["-c", "echo lost >&2 || echo closed"]) {
        $0.error = .closed
      }
      #expect(run.finished.text == "closed\n")
      #expect(!Scratch.text(run.folder["summary.json"]).contains("lost"))
      #expect(try run.summary.exit.code == 0)
    }
  }

  @Test func `arguments and the environment reach the target byte for byte`() async throws {
    try await Lane.shared {
      let words = ["a b", "", "--help", "-x=\u{1b}[31m", "\u{ff}ü", "$HOME `id`", "--"]
      let run = try await Watched(
        "/bin/sh", ["-c", "printf '%s|' \"$@\"; printf '%s' \"$ODD\"", "sh"] + words
      ) { $0.environment["ODD"] = "x\ny=z" }
      #expect(run.finished.text == words.map { $0 + "|" }.joined() + "x\ny=z")
    }
  }
}
