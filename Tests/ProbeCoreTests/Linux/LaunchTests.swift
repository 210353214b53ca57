// A launched target's life: held, let go, signalled, stopped, reaped; and what its name leads to.

import Glibc
import Testing

@testable import ProbeCore

@Suite struct LaunchTests {
  @Test(arguments: [0, 1, 37, 255] as [Int32])
  func `an exit code comes back exact`(code: Int32) throws {
    #expect(
      try Launching.run(Launching.request("/bin/sh", "-c", "exit \(code)")).status == .code(code))
  }

  @Test(arguments: [SIGKILL, SIGSEGV, SIGTERM, SIGABRT])
  func `death by a signal comes back exact`(signal: Int32) throws {
    let target = Launching.target("exit_status")
    let status = try Launching.run(Launching.request(target, "signal", "\(signal)")).status
    #expect(status == .signal(signal))
  }

  @Test func `a held target runs nothing until it is released`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let marker = directory + "/marker"
    let held = try Launching.request("/bin/sh", "-c", ": > \"$0\"", marker).hold()
    // Its end would be the only thing that can make the pidfd readable.
    var poll = pollfd(fd: held.pidfd, events: Int16(POLLIN), revents: 0)
    #expect(unsafe Glibc.poll(&poll, 1, 50) == 0)
    #expect(!Launching.exists(marker))
    let pid = held.pid
    let running = try held.release()
    #expect(running.pid == pid)
    #expect(try running.reap().status == .code(0))
    #expect(Launching.exists(marker))
  }

  @Test func `a held target that is dropped leaves no process`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let pid: pid_t
    do {
      let held = try Launching.request("/bin/sh", "-c", ": > \"$0\"", directory + "/marker").hold()
      pid = held.pid.rawValue
      #expect(!Launching.isGone(pid))
    }
    #expect(Launching.isGone(pid))
    #expect(!Launching.exists(directory + "/marker"))
  }

  @Test func `a target killed while it is held tells so by its status`() throws {
    let held = try Launching.request("/bin/true").hold()
    #expect(kill(held.pid.rawValue, SIGKILL) == 0)
    #expect(try held.release().reap().status == .signal(SIGKILL))
  }

  @Test func `job-control stops are seen and the end is left for reap`() throws {
    let target = try Launching.request("/bin/sleep", "100").hold().release()
    #expect(try target.takeJobChange() == nil)
    try target.signal(SIGSTOP)
    #expect(try Launching.eventually { try target.takeJobChange() } == .stopped(signal: SIGSTOP))
    #expect(try target.takeJobChange() == nil)
    try target.signal(SIGCONT)
    #expect(try Launching.eventually { try target.takeJobChange() } == .continued)
    try target.signal(SIGTERM)
    var poll = pollfd(fd: target.pidfd, events: Int16(POLLIN), revents: 0)
    #expect(unsafe Glibc.poll(&poll, 1, 10_000) == 1)
    #expect(try target.takeJobChange() == nil)
    #expect(try target.reap().status == .signal(SIGTERM))
    #expect(throws: SystemError(call: "wait4", object: "\(target.pid)", code: ECHILD)) {
      try target.reap()
    }
    #expect(throws: SystemError(call: "pidfd_send_signal", object: "\(target.pid)", code: ESRCH)) {
      try target.signal(SIGTERM)
    }
  }

  @Test func `arguments arrive byte for byte`() throws {
    var odd = try Launching.request(
      "/bin/sh", "-c", "test \"$1\" = \"$(printf 'a\\377 \\n*$')\"", "sh")
    odd.command.append([0x61, 0xff, 0x20, 0x0a, 0x2a, 0x24])
    #expect(try Launching.run(odd).status == .code(0))
    odd.command.append([0x61, 0])
    #expect { _ = try odd.hold() } throws: { ($0 as? LaunchError)?.kind == .system }
  }

  @Test func `an environment can be given exactly`() throws {
    let variables = ["A=1", "PATH=/bin"].map { Array($0.utf8) }
    let given = try Launching.request(
      "sh", "-c", "test \"$A\" = 1 && test -z \"$HOME\" && exit 4", environment: .exactly(variables)
    )
    #expect(try Launching.run(given).status == .code(4))
  }

  @Test func `what the target used comes with its status`() throws {
    let used = try Launching.run(Launching.request(Launching.target("cpu_half")))
    // It burns 0.5 s of wall time, less where other programs take the core.
    #expect(used.user + used.system > .milliseconds(50))
    #expect(used.user + used.system < .milliseconds(700))
    #expect(used.maxResidentBytes > 0)
  }
}

@Suite struct LaunchPathSearchTests {
  private func candidates(_ name: String, _ path: String?) -> [String] {
    PathSearch(name: Array(name.utf8), path: path.map { Array($0.utf8) }).candidates
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a name with a slash is a path`() {
    #expect(candidates("./a", "/bin") == ["./a"])
    #expect(candidates("b/a", nil) == ["b/a"])
  }

  @Test func `a bare name is looked for in the directories of PATH in order`() {
    #expect(candidates("a", "/x:/y") == ["/x/a", "/y/a"])
    #expect(candidates("a", nil) == ["/bin/a", "/usr/bin/a"])
  }

  @Test func `an empty directory in PATH is the current one`() {
    #expect(candidates("-a", ":/x::") == ["./-a", "/x/-a", "./-a", "./-a"])
    #expect(candidates("a", "") == ["./a"])
  }
}

@Suite struct InterpreterNameTests {
  private func name(_ text: String) -> String? {
    InterpreterName.read(from: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `the first line of a script names its interpreter`() {
    #expect(name("#!/bin/sh\nexit") == "/bin/sh")
    #expect(name("#! \t/usr/bin/env python3 -u\n") == "/usr/bin/env")
    #expect(name("#!\n/bin/sh") == nil)
    #expect(name("echo") == nil)
  }

  @Test func `an ELF program names its loader, and no cut of it traps`() throws {
    let bytes = try #require(readHead("/bin/ls"))
    let whole = InterpreterName.read(from: bytes).map { String(decoding: $0, as: UTF8.self) }
    #expect(whole?.contains("/ld-linux") == true)
    for length in 0..<1024 { _ = InterpreterName.read(from: Array(bytes.prefix(length))) }
    for position in 0..<120 {
      var broken = bytes
      broken[position] = 0xff
      _ = InterpreterName.read(from: broken)
    }
  }

  private func readHead(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = unsafe max(0, read(file, buffer.baseAddress, buffer.count))
    }
  }
}
