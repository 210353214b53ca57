// A target is what it would be without us. Each test changes its own process, so it has one.

import Glibc
import Testing

@testable import ProbeCore

@Suite struct LaunchIsolationTests {
  @Test func `a target inherits what a plain run inherits, whatever we change for ourselves`() async
  {
    await #expect(processExitsWith: .success) { try compareWithPlainRun() }
  }

  @Test func `blocked and ignored signals of our start are the target's too`() async {
    await #expect(processExitsWith: .success) {
      // As under nohup, and as started by a program that had SIGCHLD ignored and USR1 blocked.
      for number in [SIGHUP, SIGCHLD, 37] { signal(number, SIG_IGN) }
      SignalMask(rawValue: 1 << UInt64(SIGUSR1 - 1)).apply()
      try compareWithPlainRun()
    }
  }

  @Test func `descriptors that were closed at our start are closed in the target`() async {
    await #expect(processExitsWith: .success) {
      _ = Launching.targets
      close(STDIN_FILENO)
      try compareWithPlainRun()
      // The placeholder is there for us, and refuses to be used.
      #expect(fcntl(STDIN_FILENO, F_GETFD) == FD_CLOEXEC)
      var byte: UInt8 = 0
      let refusal = unsafe read(STDIN_FILENO, &byte, 1) == -1 ? errno : 0
      #expect(refusal == EBADF)
    }
  }

  @Test func `status comes back although we were started with SIGCHLD ignored`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let status = try Launching.run(Launching.request("/bin/sh", "-c", "exit 7")).status
      #expect(status == .code(7))
    }
  }

  @Test func `the signal for a parent's death outlives the fork`() async {
    await #expect(processExitsWith: .success) {
      var inherited = try InheritedState.capture()
      #expect(inherited.parentDeathSignal == 0)
      inherited.parentDeathSignal = SIGUSR2
      let line = try inheritLine(of: .launched(inherited))
      #expect(line.contains("\"pdeathsig\":\(SIGUSR2),"))
    }
  }

  @Test func `300 launches leak neither descriptors nor zombies`() async {
    await #expect(processExitsWith: .success) {
      let before = openDescriptors()
      for round in 0..<300 {
        switch round % 3 {
        case 0: _ = try Launching.run(Launching.request("/bin/true"))
        case 1:
          let missing = try Launching.request("/no/such/program")
          #expect(throws: LaunchError.self) { try Launching.run(missing) }
        default: _ = try Launching.request("/bin/true").hold()
        }
      }
      // The runtime opens a timer or so of its own meanwhile; a leak of ours would be 100 or more.
      #expect(openDescriptors().count < before.count + 20)
      var status: Int32 = 0
      // errno is read at once: the macro's own work may change it.
      let result = unsafe waitpid(-1, &status, WNOHANG) == -1 ? errno : 0
      #expect(result == ECHILD)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a held child runs nothing when its holder is killed`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
    ) {
      let marker = "/tmp/perfwatch-held-\(getpid())"
      let held = try Launching.request("/bin/sh", "-c", ": > \"$0\"", marker).hold()
      let line = "held \(held.pid) \(marker) \n"
      var bytes = Array(line.utf8)
      _ = unsafe write(STDOUT_FILENO, &bytes, bytes.count)
      kill(getpid(), SIGKILL)
    }
    let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
    let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("held ") })
    let words = line.split(separator: " ")
    let pid = try #require(pid_t(words[1]))
    // Whoever adopted it may not have reaped it yet.
    let end = Launching.eventually {
      let state = Launching.contents("/proc/\(pid)/stat").split(separator: ")").last?.prefix(2)
      return state == nil || state == " Z" ? true : nil
    }
    #expect(end == true)
    #expect(!Launching.exists(String(words[2])))
  }

  @Test func `launching costs little more than posix_spawn`() async {
    await #expect(processExitsWith: .success) {
      var spawned: [Double] = []
      var launched: [Double] = []
      let inherited = try InheritedState.capture()
      let request = LaunchRequest(command: [Array("/bin/true".utf8)], inherited: inherited)
      for _ in 0..<40 {
        var start = Launching.monotonicSeconds()
        _ = Launching.runPlainly(["/bin/true"])
        spawned.append(Launching.monotonicSeconds() - start)
        start = Launching.monotonicSeconds()
        _ = try Launching.run(request)
        launched.append(Launching.monotonicSeconds() - start)
      }
      let ratio = launched.sorted()[20] / spawned.sorted()[20]
      // Start to end of /bin/true, medians. A test process is large to fork, and the machine busy.
      #expect(ratio < 5, "launch took \(ratio) times posix_spawn's time")
    }
  }

  @Test(arguments: [SIGTERM, SIGQUIT, SIGKILL])
  func `we can end by the target's signal although it is blocked`(signal: Int32) async {
    await #expect(processExitsWith: .signal(signal)) { [signal] in
      SignalMask.blockAll()
      endBySignal(signal)
    }
  }

  @Test func `all but faults are blocked, and the former mask comes back`() {
    let before = SignalMask.current
    let former = SignalMask.blockAll()
    let now = SignalMask.current
    former.apply()
    #expect(former == before)
    #expect(SignalMask.current == before)
    #expect(now.contains(SIGTERM) && now.contains(SIGCHLD) && now.contains(64))
    #expect(!now.contains(SIGSEGV) && !now.contains(SIGABRT))
  }
}

private enum Way {
  case plain
  case launched(InheritedState)
}

/// Runs env_witness both ways and compares what it saw, with us changed in between.
private func compareWithPlainRun() throws {
  _ = Launching.targets
  let plain = try inheritLine(of: .plain)
  let inherited = try InheritedState.capture()
  SignalMask.blockAll()
  signal(SIGPIPE, SIG_IGN)
  var limit = rlimit(
    rlim_cur: UInt(inherited.fileLimitSoft) / 2, rlim_max: UInt(inherited.fileLimitHard))
  #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
  let launched = try inheritLine(of: .launched(inherited))
  #expect(launched == plain)
}

/// The line of env_witness that says what it inherited.
private func inheritLine(of way: Way) throws -> String {
  let directory = Launching.temporaryDirectory()
  defer { _ = unsafe rmdir(directory) }
  let truth = directory + "/truth"
  defer { _ = unsafe unlink(truth) }
  _ = unsafe setenv("TARGET_TRUTH", truth, 1)
  let witness = Launching.target("env_witness")
  let status =
    switch way {
    case .plain: Launching.runPlainly([witness])
    case .launched(let inherited):
      try Launching.run(LaunchRequest(command: [Array(witness.utf8)], inherited: inherited)).status
    }
  #expect(status == .code(0))
  let line = Launching.contents(truth).split(separator: "\n").first { $0.contains("\"inherit\"") }
  return String(try #require(line))
}

private func openDescriptors() -> [Int32] { (0..<1024).filter { fcntl($0, F_GETFD) >= 0 } }
