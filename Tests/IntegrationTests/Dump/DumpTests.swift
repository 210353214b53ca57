// `perfwatch dump` on real processes: right stacks, plain words for what cannot be had, and no trace
// of it in the process.

internal import FoundationEssentials
internal import Glibc
internal import Testing

@testable internal import ProbeCore

/// What a test reads of a dump's JSON.
struct ReadDump: Decodable {
  struct Target: Decodable {
    var pid: Int32
    var threads: Int
  }

  struct Wait: Decodable {
    struct Descriptor: Decodable {
      var number: Int
      var object: String?
    }

    var call: String
    var descriptors: [Descriptor]
    var owner: Int32?
    var joins: Int32?
    var timeout: Int64?
  }

  struct Thread: Decodable {
    var tid: Int32
    var name: String
    var state: String
    var wait: Wait?
    var stack: Int?
    var missing: String?
    var stopTime: Int64
  }

  struct Frame: Decodable {
    var function: String?
    var module: String?
    var inApp: Bool
    var line: Int?
  }

  struct Stack: Decodable {
    var threads: [Int32]
    var truncated: String?
    var frames: [Frame]
  }

  struct Cost: Decodable {
    var withoutStop: Int
    var stopped: Int
    var stops: Int
  }

  var target: Target
  var threads: [Thread]
  var stacks: [Stack]
  var cost: Cost
  var notes: [String]

  /// Dumps a process by the program under test.
  static func of(
    _ pid: Int32, _ options: [String] = [], in folder: Scratch
  ) async throws -> ReadDump {
    let command = Perfwatch.command(["dump", "--json"] + options + ["\(pid)"])
    let finished = try await command.run(in: folder)
    try #require(finished.status == .code(0), "\(finished.error)")
    return try JSONDecoder().decode(ReadDump.self, from: Data(finished.output))
  }

  /// The functions of a thread's stack, innermost first.
  func functions(_ tid: Int32) -> [String] {
    guard let index = threads.first(where: { $0.tid == tid })?.stack else { return [] }
    return stacks[index].frames.compactMap(\.function)
  }
}

@Suite struct DumpTests {
  @Test func `a thousand blocked threads are one stack, and main is not stopped for them`()
    async throws
  {
    try await Lane.shared {
      let target = try await Target("many_threads", ["1000", "8"], ready: "ready")
      // With all lines, as a busy machine has no time for them.
      let dump = try await ReadDump.of(target.pid, ["--lines"], in: target.folder)
      #expect(dump.target.threads == 1001)
      #expect(dump.threads.count == 1001)
      #expect(dump.threads[0].tid == target.pid)
      let crowd = try #require(dump.stacks.max { $0.threads.count < $1.threads.count })
      #expect(crowd.threads.count == 1000)
      #expect(crowd.truncated == nil)
      #expect(
        crowd.frames.contains { $0.function == "parked" && $0.inApp && $0.line != nil },
        "\(crowd.frames), \(dump.notes)")
      let owners = Set(dump.threads.dropFirst().compactMap { $0.wait?.owner })
      #expect(owners == [target.pid])
      #expect(dump.cost.withoutStop >= 1000)
      #expect(dump.threads.dropFirst().allSatisfy { $0.stopTime == 0 })
      #expect(dump.functions(target.pid).contains("main"))
      #expect(try await target.running.finish().status == .code(0))
    }
  }

  @Test func `only the threads that were asked for are looked at`() async throws {
    try await Lane.shared {
      let target = try await Target("many_threads", ["3", "600"], ready: "ready")
      let main = try await ReadDump.of(target.pid, ["--main"], in: target.folder)
      #expect(main.threads.map(\.tid) == [target.pid])
      #expect(main.target.threads == 4)
      let other = try #require(
        Scratch.names("/proc/\(target.pid)/task").compactMap { Int32($0) }
          .first { $0 != target.pid })
      let one = try await ReadDump.of(target.pid, ["--thread", "\(other)"], in: target.folder)
      #expect(one.threads.map(\.tid) == [other])
      let none = try await Perfwatch.command(["dump", "--thread", "no*", "\(target.pid)"])
        .run(in: target.folder)
      #expect(none.status == .code(125))
      #expect(none.error.contains("many_threads"))
      try await target.end()
    }
  }

  @Test func `a process whose main thread has ended is dumped through another one`() async throws {
    try await Lane.shared {
      let target = try await Target("leader_exit", ready: "leader_exit")
      try await eventually("main is a zombie") { Process.state(target.pid) == "Z" }
      let dump = try await ReadDump.of(target.pid, in: target.folder)
      #expect(dump.threads[0].state == "ended")
      #expect(dump.threads[0].stack == nil)
      let burner = try #require(dump.threads.first { $0.name == "burner" })
      #expect(dump.functions(burner.tid).contains("burner"))
      let closer = try #require(dump.threads.first { $0.name == "closer" })
      #expect(closer.wait?.joins == burner.tid)
      #expect(dump.functions(closer.tid).contains("closer"))
      #expect(try await target.running.finish().status == .code(5))
    }
  }

  @Test(.enabled(if: Process.isRoot, "control groups need root"), arguments: [1, 2])
  func `threads of a frozen control group are called frozen`(version: Int) async throws {
    let place =
      version == 1
      ? MountTable.place(type: "cgroup", option: "freezer") : MountTable.place(type: "cgroup2")
    guard let place else { return }  // this machine does not have that version
    try await Lane.shared {
      let target = try await Target("many_threads", ["2", "600"], ready: "ready")
      let group = "\(place)/perfwatch-test-\(OwnProcess.pid)-dump-\(version)"
      let (file, on, off) =
        version == 1 ? ("freezer.state", "FROZEN", "THAWED") : ("cgroup.freeze", "1", "0")
      let freeze = try await Command([
        "/bin/sh", "-c",
        """
        mkdir "$0" && echo $1 > "$0/cgroup.procs" || exit 77
        echo $3 > "$0/$2"
        for try in 1 2 3 4 5 6 7 8 9 10; do
          grep -qs -e 'frozen 1' -e '^FROZEN' "$0/cgroup.events" "$0/freezer.state" && exit 0
          sleep 0.1
        done
        exit 1
        """, group, "\(target.pid)", file, on,
      ]).run(in: target.folder)
      if freeze.status == .code(77) { return }  // not permitted to make groups here
      #expect(freeze.status == .code(0), "\(freeze.error)")
      let dump: ReadDump?
      do {
        dump = try await ReadDump.of(target.pid, in: target.folder)
      } catch {
        dump = nil  // thawed first, and told then
      }
      let thaw = try await Command([
        "/bin/sh", "-c",
        "echo $3 > \"$0/$2\"; echo $1 > \"$4/cgroup.procs\"; rmdir \"$0\"", group,
        "\(target.pid)", file, off, place,
      ]).run(in: target.folder)
      #expect(thaw.status == .code(0), "\(thaw.error)")
      let frozen = try #require(dump)
      #expect(frozen.threads.map(\.state) == ["frozen", "frozen", "frozen"])
      #expect(frozen.threads.allSatisfy { $0.stack != nil })
      #expect(frozen.notes == ["its control group is frozen: no thread runs until that is thawed"])
      let thawed = try await ReadDump.of(target.pid, in: target.folder)
      #expect(thawed.threads.dropFirst().allSatisfy { $0.state == "sleeping" })
      #expect(thawed.notes.isEmpty)
      try await target.end()
    }
  }

  @Test func `a stopped process is dumped, and stays stopped`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["poll"])
      child.signal(SIGSTOP)
      try await eventually("it stops") { Process.state(child.pid.rawValue) == "T" }
      let dump = try await ReadDump.of(child.pid.rawValue, in: child.folder)
      #expect(dump.threads[0].state == "stopped")
      #expect(dump.notes == ["it is stopped by a signal: no thread runs until SIGCONT"])
      #expect(dump.functions(child.pid.rawValue).contains("main"))
      #expect(dump.cost.stops == 0)
      #expect(Process.state(child.pid.rawValue) == "T")
      child.signal(SIGCONT)
      try await eventually("it goes on") { Process.state(child.pid.rawValue) == "S" }
      try await child.end()
    }
  }

  @Test func `names from the process reach neither terminal nor JSON as they are`() async throws {
    try await Lane.shared {
      // They live as long as the test needs them, however busy the machine is.
      let target = try await Target(
        "odd_names", ready: "start", through: ["/usr/bin/env", "ODD_NAMES_STAY_MS=600000"])
      try await eventually("its threads have their names") {
        let threads = Scratch.names("/proc/\(target.pid)/task")
        return threads.count == 7
          && threads.allSatisfy {
            // A new thread has its maker's name until it gives itself one.
            $0 == "\(target.pid)"
              || Scratch.text("/proc/\(target.pid)/task/\($0)/comm") != ") R 0 (\n\n"
          }
      }
      let dump = try await ReadDump.of(target.pid, in: target.folder)
      #expect(dump.threads.contains { $0.name == "new\nline" })
      #expect(dump.threads.contains { $0.name == "\\xff\\xfe\\x80" })
      for options in [[], ["--folded"]] {
        let text = try await Perfwatch.command(["dump"] + options + ["\(target.pid)"])
          .run(in: target.folder)
        #expect(text.status == .code(0))
        #expect(text.text.contains("new\\nline"))
        #expect(!text.output.contains { $0 < 0x20 && $0 != 0x0a || $0 == 0x7f })
      }
      try await target.end()
    }
  }

  @Test func `what waits is told with what it waits for`() async throws {
    try await Lane.shared {
      for (way, call) in [("poll", "poll"), ("epoll", "epoll_wait"), ("nanosleep", "nanosleep")] {
        let child = try await Child("capture_parked", [way])
        try await eventually("it waits") { Process.state(child.pid.rawValue) == "S" }
        let dump = try await ReadDump.of(child.pid.rawValue, in: child.folder)
        #expect(dump.threads[0].wait?.call.contains(call) == true)
        #expect(dump.threads[0].stopTime == 0)
        try await child.end()
      }
      let child = try await Child("capture_parked", ["recv"])
      try await eventually("it waits") { Process.state(child.pid.rawValue) == "S" }
      let dump = try await ReadDump.of(child.pid.rawValue, in: child.folder)
      let descriptor = try #require(dump.threads[0].wait?.descriptors.first)
      #expect(descriptor.object?.hasPrefix("socket:[") == true)
      try await child.end()
    }
  }

  @Test func `a hundred dumps of waits that a stop would interrupt leave no EINTR`() async throws {
    try await Lane.shared {
      let target = try await Target("eintr_witness", ready: "start")
      let watching = try await Perfwatch.command([
        "dump", "--watch", "20ms", "-n", "100", "--folded", "\(target.pid)",
      ]).run(in: target.folder)
      #expect(watching.status == .code(0), "\(watching.error)")
      let finished = try await target.running.finish()
      #expect(finished.status == .code(0))
      let said = Scratch.text(target.folder["truth"])
      #expect(said.contains("\"ev\":\"eintr\",\"total\":0,"), "\(said)")
      // The three stalls of 250 ms at 50 dumps a second.
      #expect(watching.text.contains("provoke_capture"))
    }
  }

  @Test func `a series ends with the process, and each dump is one line of JSON`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["poll"])
      let series = try Perfwatch.command(["dump", "--watch", "50ms", "--json", "\(child.pid)"])
        .start(in: child.folder)
      let output = child.folder["run2.1"]
      try await eventually("two dumps are written") {
        Scratch.text(output).split(separator: "\n").count >= 2
      }
      child.signal(SIGKILL)
      let finished = try await series.finish()
      #expect(finished.status == .code(0), "\(finished.error)")
      for line in finished.text.split(separator: "\n") {
        let dump = try JSONDecoder().decode(ReadDump.self, from: Data(line.utf8))
        #expect(dump.target.pid == child.pid.rawValue)
      }
      try await child.end()
    }
  }

  @Test func `a handler on a stack of its own is followed down to main`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["altstack"])
      try await eventually("it waits") { Process.state(child.pid.rawValue) == "S" }
      let dump = try await ReadDump.of(child.pid.rawValue, in: child.folder)
      let functions = dump.functions(child.pid.rawValue)
      #expect(functions.contains("on_signal"))
      #expect(functions.contains("main"))
      #expect(dump.stacks[0].truncated == nil)
      try await child.end()
    }
  }

  @Test func `who waits uninterruptibly is dumped as it is`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["vfork"])
      try await eventually("it waits") { Process.state(child.pid.rawValue) == "D" }
      let dump = try await ReadDump.of(child.pid.rawValue, in: child.folder)
      #expect(dump.threads[0].state == "uninterruptible")
      #expect(dump.threads[0].wait?.call.contains("vfork") == true)
      // glibc's vfork has taken its return address off the stack, and a stop would not come.
      #expect(dump.functions(child.pid.rawValue).first?.hasSuffix("vfork") == true)
      #expect(dump.stacks[0].truncated == "unknownRegister")
      #expect(dump.threads[0].missing?.contains("uninterruptibly") == true)
      #expect(dump.cost.stops == 0)
      try await child.end()
    }
  }

  @Test func `a dump goes into a file, whole`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["poll"])
      let finished = try await Perfwatch.command([
        "dump", "-o", child.folder["dump.txt"], "\(child.pid)",
      ]).run(in: child.folder)
      #expect(finished.status == .code(0))
      #expect(finished.output.isEmpty)
      #expect(Scratch.text(child.folder["dump.txt"]).contains("copied without a stop"))
      try await child.end()
    }
  }

  @Test func `what cannot be dumped gets one clear line`() async throws {
    try await Lane.shared {
      let folder = try Scratch()
      for (words, reason) in [
        (["999999"], "no such process"), (["--name", "^no such name$"], "no process matches"),
      ] {
        let finished = try await Perfwatch.command(["dump"] + words).run(in: folder)
        #expect(finished.status == .code(125))
        #expect(finished.output.isEmpty)
        #expect(finished.error.contains(reason))
        #expect(finished.error.split(separator: "\n").count == 1)
      }
      let own = try await Command(
        ["/bin/sh", "-c", "exec \"$0\" dump $$", Perfwatch.path]
      ).run(in: folder)
      #expect(own.status == .code(125))
      #expect(own.error.contains("perfwatch itself"))
      // A shell that waits for us is as good as any process.
      let shell = try await Command(
        ["/bin/sh", "-c", "\"$0\" dump $$; exit $?", Perfwatch.path]
      ).run(in: folder)
      #expect(shell.status == .code(0), "\(shell.error)")
      #expect(shell.text.contains("wait4"))
    }
  }

  @Test(.enabled(if: Process.isRoot, "needs another user"))
  func `another user's process is refused in one line`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["poll"])
      let finished = try await Command([
        "/usr/bin/setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set=-all",
        "--inh-caps=-all", Perfwatch.path, "dump", "\(child.pid)",
      ]).run(in: child.folder)
      #expect(finished.status == .code(125))
      #expect(finished.error.contains("does not permit"))
      #expect(finished.error.split(separator: "\n").count == 1)
      try await child.end()
    }
  }
}
