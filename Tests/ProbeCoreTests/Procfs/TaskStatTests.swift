import Testing

@testable import ProbeCore

@Suite struct TaskStatTests {
  @Test func `fields are counted as proc(5) numbers them`() throws {
    // redis/stat: "6869 (redis-server) S 6639 6639 3494 0 -1 4194560 1163 0 2 0 3 13 0 0 20 0 5 0
    // 97512 ... 17 0 0 0 0 ... 0"
    let stat = try TaskStat(of: Fixture.redis.process("stat"))
    #expect(stat.pid == ProcessID(6869))
    #expect(stat.state == UInt8(ascii: "S"))
    #expect(stat.parent == ProcessID(6639))
    #expect(stat.processGroup == 6639)
    #expect(stat.session == 3494)
    #expect(stat.terminal == 0)
    #expect(stat.flags == 4_194_560)
    #expect(stat.minorFaults == 1163)
    #expect(stat.majorFaults == 2)
    #expect(stat.userTicks == 3)
    #expect(stat.systemTicks == 13)
    #expect(stat.childUserTicks == 0)
    #expect(stat.childSystemTicks == 0)
    #expect(stat.threadCount == 5)
    #expect(stat.startTicks == 97512)
    #expect(stat.processor == 0)
    #expect(stat.blockedOnDiskTicks == 0)
    #expect(stat.exitCode == 0)
    #expect(!stat.isKernelThread && !stat.isZombie && !stat.isStopped)
  }

  @Test(arguments: ["1 (a b) t 2\n", "7 () R", "8 (a) S 1 (b)) D 3\n"])
  func `its beginning alone gives name and state`(line: String) throws {
    let bytes = Array(line.utf8)
    let head = try TaskStat.head(bytes.span)
    let end = try #require(line.utf8.lastIndex(of: UInt8(ascii: ")")))
    let name = bytes[head.commRange]
    #expect(name.elementsEqual(line.utf8[..<end].dropFirst(3)))
    #expect(bytes[head.commRange.upperBound + 2] == head.state)
    #expect(throws: ProcParseError.self) { try TaskStat.head(Array("1 (a".utf8).span) }
  }

  @Test func `a line with a different number in each field puts each into its place`() throws {
    let rest = (4...52).map(String.init).joined(separator: " ")
    let stat = try TaskStat(of: Array("1 (a b) t \(rest) 53 54\n".utf8))
    #expect(stat.parent == ProcessID(4))
    #expect([stat.processGroup, stat.session, stat.terminal] == [5, 6, 7])
    #expect(stat.flags == 9)
    #expect([stat.minorFaults, stat.majorFaults] == [10, 12])
    #expect([stat.userTicks, stat.systemTicks] == [14, 15])
    #expect([stat.childUserTicks, stat.childSystemTicks] == [16, 17])
    #expect(stat.threadCount == 20)
    #expect(stat.startTicks == 22)
    #expect(stat.processor == 39)
    #expect(stat.blockedOnDiskTicks == 42)
    #expect(stat.exitCode == 52)
    #expect(stat.isStopped)
  }

  @Test(arguments: [
    (7143, ") R 0 (\n", "S"), (7145, "a) S 1 2 (x", "S"), (7146, "new\nline", "R"),
    (7147, "\u{1b}[2J\u{1b}]0;p", "R"), (7149, "<b>&\"'", "R"), (7150, "\",\"x\":1}", "R"),
  ])
  func `a name with parentheses, blanks and newlines moves no field`(
    _ tid: Int32, _ name: String, _ state: String
  ) throws {
    let bytes = try Fixture.oddNames.task(tid, "stat")
    let stat = try TaskStat(of: bytes)
    let comm = stat.comm(of: bytes)
    #expect(comm == Array(name.utf8))
    #expect(stat.parent == ProcessID(6639))
    #expect(stat.threadCount == 7)
    #expect(stat.startTicks - 98054 <= 1)
    #expect([stat.state] == Array(state.utf8))
  }

  @Test func `a name that is no UTF-8 stays as it is`() throws {
    let bytes = try Fixture.oddNames.task(7148, "stat")
    let comm = try TaskStat(of: bytes).comm(of: bytes)
    #expect(comm == [0xff, 0xfe, 0x80])
  }

  @Test func `a process counts all its threads, a thread itself`() throws {
    // threads50/stat utime 647, of which task 6987 ("worker 2") has 1 and the leader 0.
    #expect(try TaskStat(of: Fixture.threads50.process("stat")).userTicks == 647)
    #expect(try TaskStat(of: Fixture.threads50.task(6984, "stat")).userTicks == 0)
    #expect(try TaskStat(of: Fixture.threads50.task(6987, "stat")).userTicks == 1)
  }

  @Test func `a zombie leader counts on for its living threads`() throws {
    // leader_exit/stat: "Z ... utime 52 ... num_threads 3"
    let stat = try TaskStat(of: Fixture.leaderExit.process("stat"))
    #expect(stat.isZombie)
    #expect(stat.threadCount == 3)
    #expect(stat.userTicks == 52)
  }

  @Test func `a zombie tells its wait status`() throws {
    // os._exit(7): 7 << 8 = 1792
    let stat = try TaskStat(of: Fixture.zombie.process("stat"))
    #expect(stat.isZombie)
    #expect(stat.exitCode == 1792)
    #expect(stat.threadCount == 1)
  }

  @Test func `a kernel thread is told by its flag`() throws {
    // 2129984 = 0x208040, with PF_KTHREAD 0x200000
    let stat = try TaskStat(of: Fixture.kthreadd.process("stat"))
    #expect(stat.isKernelThread)
    #expect(stat.startTicks == 24)
  }

  @Test func `a line without a closing parenthesis throws`() {
    #expect(throws: ProcParseError(file: "stat", field: "comm", value: "name")) {
      try TaskStat(of: Array("1 (name S 1 2\n".utf8))
    }
  }
}
