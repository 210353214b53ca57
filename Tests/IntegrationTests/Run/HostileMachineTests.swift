// Machines that are not as they should be: full disks, a strange /proc or none, filters of system calls.

internal import Testing

@testable internal import ProbeCore

@Suite struct HostileMachineTests {
  /// Runs a shell command in which `$0` is perfwatch.
  private static func shell(_ text: String) async throws -> Finished {
    let folder = try Scratch()
    return try await Command(["/bin/sh", "-c", text, Perfwatch.path]).run(in: folder)
  }

  /// They may need rights that this test does not have.
  private static func hasNamespaces() async throws -> Bool {
    try await shell("unshare -mpf true").status == .code(0)
  }

  @Test(arguments: ["0.05", "0.3", "0.8"])
  func `a program that starts fast and then rests has its memory measured`(time: String)
    async throws
  {
    try await Lane.shared {
      for options in [[], ["--no-stalls"]] {
        let run = try await Watched("/bin/sleep", [time], options: options)
        let memory = try run.summary.memory
        #expect((memory.footprintPeak ?? 0) > 0)
        #expect((memory.residentPeak ?? 0) > 0)
      }
    }
  }

  @Test(arguments: [("help", 125), ("metrics", 125), ("version --json", 125)] as [(String, Int32)])
  func `a result that stdout does not take is a failure`(command: String, code: Int32) async throws
  {
    let run = try await Self.shell("\"$0\" \(command) > /dev/full")
    #expect(run.status == .code(code))
    #expect(run.error == "perfwatch: cannot write to stdout: No space left on device\n")
  }

  @Test func `verdicts and comparisons that stdout does not take are 2`() async throws {
    try await Lane.shared {
      let run = try await Watched("/bin/sleep", ["0.1"])
      let file = run.folder["summary.json"]
      for command in ["check '\(file)' --budget 'wall<1h'", "compare '\(file)' '\(file)'"] {
        let full = try await Self.shell("\"$0\" \(command) > /dev/full")
        #expect(full.status == .code(2), "\(command)")
        #expect(full.error.contains("cannot write to stdout: No space left on device"))
      }
    }
  }

  @Test
  func `without /proc it is one line, and with that of another namespace nobody else is measured`()
    async throws
  {
    guard try await Self.hasNamespaces() else { try Test.cancel("needs the right to unshare") }
    let none = try await Self.shell(
      "exec unshare -m sh -c 'umount -l /proc; exec \"$0\" version' \"$0\"")
    #expect(none.status == .code(125))
    #expect(none.error == "perfwatch: /proc is not mounted; mount it (mount -t proc proc /proc)\n")
    let strange = try await Self.shell("exec unshare -pf sh -c 'exec \"$0\" run -- true' \"$0\"")
    #expect(strange.status == .code(125))
    #expect(strange.error.contains("/proc is of another pid namespace"))
    let own = try await Self.shell(
      "exec unshare -pf --mount-proc sh -c 'exec \"$0\" run --quiet -- sh -c \"exit 7\"' \"$0\"")
    #expect(own.status == .code(7), "\(own.error)")
  }

  @Test(arguments: [
    ("ulimit -s 64", "its stack may only be 64 KiB; raise it to 128 with `ulimit -s`"),
    ("ulimit -v 40000", "with `ulimit -v`"),
  ]) func `limits too small for us are told of before the target starts`(
    limit: String, words: String
  ) async throws {
    // Tests run a debug build where there is no other; its libraries alone need more.
    let loads = try await Self.shell("\(limit); \"$0\" version")
    guard loads.status != .code(127) else { try Test.cancel("a static build is needed") }
    let run = try await Self.shell("\(limit); exec \"$0\" run -- sh -c 'echo started'")
    #expect(run.status == .code(125))
    #expect(run.error.hasPrefix("perfwatch: too little memory to "), "\(run.error)")
    #expect(run.error.contains(words), "\(run.error)")
    #expect(run.output.isEmpty)
  }

  @Test func `a small stack limit is the target's, not that of our threads`() async throws {
    let run = try await Self.shell("ulimit -s 256; exec \"$0\" run -q -- sh -c 'ulimit -s'")
    #expect(run.status == .code(0), "\(run.error)")
    #expect(run.output == Array("256\n".utf8))
  }

  @Test func `with too few descriptors the reason is that, and not a lack of rights`() async throws
  {
    try await Lane.shared {
      for count in 10...13 {
        let run = try await Self.shell("ulimit -n \(count); exec \"$0\" run -- sleep 0.2")
        #expect(run.status == .code(0), "\(run.error)")
        #expect(!run.error.contains("not permitted"), "\(run.error)")
        #expect(!run.error.contains("as root"), "\(run.error)")
        #expect(run.error.contains("too few file descriptors: stalls were not judged"))
        #expect(run.error.contains("raise the limit with `ulimit -n`"))
      }
    }
  }

  @Test func `a filter that refuses prctl is named as what it is`() async throws {
    let refuse = try await Perfwatch.target("refuse_perf")
    let run = try await Self.shell("REFUSE_PRCTL=1 exec '\(refuse)' \"$0\" run -- true")
    #expect(run.status == .code(125))
    #expect(
      run.error == "perfwatch: cannot prepare the launch: prctl: Operation not permitted\n")
  }

  @Test func `a compiler's driver is pointed out to work in its children`() async throws {
    try await Lane.shared {
      let run = try await Watched(
        "/bin/sh", ["-c", "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; exit 0"])
      #expect(try run.summary.warnings.contains { $0.code == "work-in-children" })
    }
  }

  @Test func `where a filter refuses ppoll it neither spins nor hangs`() async throws {
    let refuse = try await Perfwatch.target("refuse_perf")
    try await Lane.shared {
      let run = try await Watched("/bin/sleep", ["1"]) {
        $0.words.insert(refuse, at: 0)
        $0.environment["REFUSE_PPOLL"] = "1"
      }
      #expect(run.finished.status == .code(0))
      // A thread that spins would take a second.
      #expect(try #require(try run.summary.observer.cpu) < .milliseconds(500))
    }
  }
}
