// A launched target finds everything as it would without us.

internal import Testing

@testable internal import ProbeCore

@Suite struct InheritanceTests {
  /// What a shell does before it starts the program as its child.
  static let situations = [
    "", "exec 2>&-;", "exec 0<&-;", "exec 0<&- 1>&- 2>&-;", "trap '' HUP;",
    "trap '' INT QUIT TERM PIPE;",
    "ulimit -n 16;", "ulimit -n 64; ulimit -c 0;", "umask 077; cd /;",
    "exec 7</dev/null 9>/dev/null;",
    "ulimit -s 1024; exec 3<&0;",
  ]

  @Test(arguments: situations)
  func `every field of env_witness equals a plain run`(situation: String) async throws {
    let witness = try await Perfwatch.target("env_witness")
    let folder = try Scratch()
    func inherited(_ name: String, _ words: [String]) async throws -> (line: String, Finished) {
      var command = Command(["/bin/sh", "-c", situation + " \"$@\"; exit $?", "sh"] + words)
      command.environment["TARGET_TRUTH"] = folder[name]
      let finished = try await command.run(in: folder)
      let lines = Scratch.text(folder[name]).split(separator: "\n")
      return (String(try #require(lines.first { $0.contains("\"inherit\"") })), finished)
    }
    try await Lane.shared {
      let plain = try await inherited("plain", [witness])
      let watched = try await inherited("watched", [Perfwatch.path, "run", witness])
      #expect(watched.line == plain.line)
      #expect(plain.1.status == .code(0))
      #expect(watched.1.status == .code(0))
    }
  }

  @Test func `nice value and group of the target are the launcher's`() async throws {
    let witness = try await Perfwatch.target("env_witness")
    let folder = try Scratch()
    try await Lane.shared {
      for (name, words) in [("plain", [witness]), ("watched", [Perfwatch.path, "run", witness])] {
        var command = Command(["/usr/bin/nice", "-n", "7"] + words)
        command.environment["TARGET_TRUTH"] = folder[name]
        let finished = try await command.run(in: folder)
        #expect(finished.status == .code(0))
      }
      let lines = ["plain", "watched"].map { name in
        Scratch.text(folder[name]).split(separator: "\n").first { $0.contains("\"inherit\"") }
      }
      #expect(lines[1]?.contains("\"nice\":7") == true)
      // Only the group differs: without a shell in between, perfwatch leads the group instead.
      #expect(
        lines[1]
          == lines[0].map { Substring($0.replacing("\"own_pgrp\":1", with: "\"own_pgrp\":0")) })
    }
  }
}
