import Testing

@testable import ProbeCore

@Suite struct TaskStatusTests {
  @Test func `sizes are in bytes`() throws {
    let status = try TaskStatus(of: Fixture.pythonIdle.process("status"))
    #expect(status.residentPeak == 16_388 * 1024)
    #expect(status.resident == 16_388 * 1024)
    #expect(status.anonymous == 10_976 * 1024)
    #expect(status.file == 5_412 * 1024)
    #expect(status.shared == 0)
    #expect(status.swap == 0)
    #expect(status.pageTables == 76 * 1024)
    #expect(status.huge == 0)
    // RssAnon 10976 + RssShmem 0 + VmSwap 0 + VmPTE 76 + HugetlbPages 0
    #expect(status.footprint == 11_052 * 1024)
  }

  @Test func `identity, signals and switches`() throws {
    let status = try TaskStatus(of: Fixture.redis.process("status"))
    #expect(status.process == ProcessID(6869))
    #expect(status.state == UInt8(ascii: "S"))
    #expect(status.tracer == ProcessID(0))
    #expect(status.realUser == 0)
    #expect(status.effectiveUser == 0)
    #expect(status.threads == 5)
    #expect(status.blockedSignals == 0)
    #expect(status.ignoredSignals == 0x3005)
    #expect(status.caughtSignals == 0x1_0000_44ea)
    #expect(status.effectiveCapabilities == 0x1ff_feff_ffff)
    #expect(status.noNewPrivileges == false)
    #expect(status.seccomp == 0)
    #expect(status.voluntarySwitches == 1225)
    #expect(status.involuntarySwitches == 39)
  }

  @Test func `a name is taken from it only where it is whole and was not escaped`() {
    func name(_ text: String) -> String? {
      let bytes = Array(text.utf8)
      return TaskStatus.plainName(bytes.span).map { SafeText.decode(Array(bytes[$0])) }
    }
    #expect(name("Name:\ta (b) :c\nState:\tS\n") == "a (b) :c")
    #expect(name("Name:\t\nState:\tS\n") == "")
    #expect(name("Name:\ta\\nb\nState:\tS\n") == nil)
    #expect(name("Name:\tcut") == nil)
    #expect(name("Name:") == nil)
    #expect(name("State:\tS\nName:\ta\n") == nil)
    #expect(name("") == nil)
  }

  @Test func `real and effective user of a set-user-id program differ`() throws {
    // other_user: "Uid:\t1000\t65534\t1000\t65534"
    let status = try TaskStatus(of: Fixture.otherUser.process("status"))
    #expect(status.realUser == 1000)
    #expect(status.effectiveUser == 65534)
    #expect(status.effectiveCapabilities == 0)
  }

  @Test(arguments: [Fixture.leaderExit, .zombie, .kthreadd])
  func `a task without memory has no memory, not zero`(_ fixture: Fixture) throws {
    let status = try TaskStatus(of: fixture.process("status"))
    #expect(status.residentPeak == nil)
    #expect(status.resident == nil)
    #expect(status.anonymous == nil)
    #expect(status.pageTables == nil)
    #expect(status.footprint == nil)
    #expect(status.process == ProcessID(fixture.pid))
  }

  @Test func `memory of a process with a zombie leader is to be had from another thread`() throws {
    #expect(try TaskStatus(of: Fixture.leaderExit.task(7331, "status")).resident == nil)
    #expect(try TaskStatus(of: Fixture.leaderExit.task(7333, "status")).resident != nil)
  }

  @Test func `a thread names its process`() throws {
    #expect(
      try TaskStatus(of: Fixture.oddNames.task(7146, "status")).process == ProcessID(7143))
  }

  @Test func `the kernel escapes the name so that it cannot forge a line`() throws {
    let bytes = try Fixture.oddNames.process("status")
    #expect(bytes.starts(with: Array("Name:\t) R 0 (\\n\n".utf8)))
    #expect(try TaskStatus(of: bytes).process == ProcessID(7143))
    // A name of 15 bytes that would be two lines if it were not escaped.
    let forged = Array("Name:\tx\\nTgid:\\t1\nTgid:\t7\n".utf8)
    #expect(try TaskStatus(of: forged).process == ProcessID(7))
  }

  @Test func `pid namespaces are listed from ours inwards`() throws {
    #expect(try TaskStatus.namespaceIDs(of: Fixture.redis.process("status")) == [6869])
    #expect(try TaskStatus.namespaceIDs(of: Array("NSpid:\t900\t12\t1\n".utf8)) == [900, 12, 1])
    #expect(try TaskStatus.namespaceIDs(of: Array("Name:\tx\n".utf8)) == [])
  }

  @Test(arguments: [
    ("VmHWM:\t 12 MB\n", "VmHWM", "12"), ("VmHWM:\t-3 kB\n", "VmHWM", "-3"),
    ("Uid:\t4294967296\t0\n", "Uid", ""), ("SigBlk:\tzz\n", "SigBlk", "zz"),
    ("Threads:\t", "Threads", ""), ("VmRSS:\t1125899906842625 kB\n", "VmRSS", "1125899906842625"),
    ("Tgid:\t1\nName", "end of line", ""),
  ])
  func `a wrong value is named`(_ text: String, _ field: String, _ value: String) {
    #expect(throws: ProcParseError(file: "status", field: field, value: value)) {
      try TaskStatus(of: Array(text.utf8))
    }
  }
}
