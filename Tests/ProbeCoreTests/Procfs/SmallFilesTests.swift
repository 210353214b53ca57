import Testing

@testable import ProbeCore

@Suite struct StatMTests {
  @Test func `pages by field`() throws {
    // redis/statm: "15838 3180 2375 279 0 11643 0"; 3180 pages of 4096 = VmRSS 12720 kB
    let stat = try StatM(of: Fixture.redis.process("statm"))
    #expect(stat.sizePages == 15838)
    #expect(stat.residentPages == 3180)
    #expect(stat.sharedPages == 2375)
    #expect(stat.textPages == 279)
    #expect(stat.dataPages == 11643)
    let status = try TaskStatus(of: Fixture.redis.process("status"))
    #expect(status.resident == stat.residentPages * 4096)
  }
}

@Suite struct CommTests {
  @Test func `exactly one newline is taken off`() throws {
    // The leader of odd_names is called ") R 0 (\n" and so has two newlines.
    let bytes = try Fixture.oddNames.process("comm")
    #expect(Comm.name(of: bytes) == Array(") R 0 (\n".utf8))
    #expect(try Comm.name(of: Fixture.redis.process("comm")) == Array("redis-server".utf8))
    #expect(Comm.name(of: []) == [])
    #expect(Comm.name(of: Array("cut".utf8)) == Array("cut".utf8))
  }

  @Test func `names compare without a copy`() throws {
    let bytes = try Fixture.oddNames.task(7148, "comm")
    #expect(Comm.isSame(of: bytes, as: [0xff, 0xfe, 0x80]))
    #expect(!Comm.isSame(of: bytes, as: [0xff, 0xfe]))
    #expect(!Comm.isSame(of: bytes, as: [0xff, 0xfe, 0x81]))
  }

  @Test func `comm and stat agree on every recorded thread`() throws {
    for fixture in Fixture.allCases {
      for (path, bytes) in try fixture.files() where path.hasSuffix("/comm") {
        let stat = try fixture.machine(path.replacing("/comm", with: "/stat"))
        let inStat = try TaskStat(of: stat).comm(of: stat)
        #expect(inStat == Comm.name(of: bytes), "\(path)")
      }
    }
  }
}

@Suite struct TaskChildrenTests {
  @Test func `children of kthreadd`() throws {
    let children = try TaskChildren.parse(of: Fixture.kthreadd.task(2, "children"))
    #expect(children.count == 57)
    #expect(children.first == ProcessID(3))
    #expect(children.last == ProcessID(3232))
  }

  @Test func `no children is an empty list`() throws {
    let children = try TaskChildren.parse(of: Fixture.redis.task(6869, "children"))
    #expect(children == [])
  }

  @Test func `a cut number is no child`() {
    #expect(throws: ProcParseError(file: "children", field: "pid", value: "123")) {
      try TaskChildren.parse(of: Array("12 123".utf8))
    }
    #expect(throws: ProcParseError.self) { try TaskChildren.parse(of: Array("12 -3 ".utf8)) }
  }
}

@Suite struct SyscallLineTests {
  @Test func `a call has number, six arguments, stack pointer and program counter`() throws {
    // redis task 6869: "232 0x5 0x7fbe45f681c0 0x2790 0x64 0x2 0x0 0x7fff6d8e0580 0x7fbe46726f36",
    // 232 = epoll_wait(5, events, 10128, 100 ms)
    let line = try SyscallLine(of: Fixture.redis.task(6869, "syscall"))
    #expect(
      line
        == .inside(
          .init(
            number: 232,
            arguments: .init(
              first: 5, second: 0x7fbe_45f6_81c0, third: 10128, fourth: 100, fifth: 2, sixth: 0),
            stackPointer: 0x7fff_6d8e_0580, programCounter: 0x7fbe_4672_6f36)))
  }

  @Test func `a running task tells nothing else`() throws {
    #expect(try SyscallLine(of: Fixture.oddNames.task(7146, "syscall")) == .running)
  }

  @Test func `a zombie is outside of calls and has no registers`() throws {
    #expect(
      try SyscallLine(of: Fixture.zombie.task(7446, "syscall"))
        == .outside(stackPointer: 0, programCounter: 0))
  }

  @Test func `a kernel thread looks like call 0 without registers`() throws {
    let zero = SyscallLine.Arguments(first: 0, second: 0, third: 0, fourth: 0, fifth: 0, sixth: 0)
    #expect(
      try SyscallLine(of: Fixture.kthreadd.task(2, "syscall"))
        == .inside(.init(number: 0, arguments: zero, stackPointer: 0, programCounter: 0)))
  }

  @Test(arguments: ["running", "-1 0x0\n", "1 0x1\n", "x\n", "-1 0x 0x0\n", "-1 0x0 0x0g\n", ""])
  func `other text throws`(_ text: String) {
    #expect(throws: ProcParseError.self) { try SyscallLine(of: Array(text.utf8)) }
  }
}

@Suite struct SmapsRollupTests {
  @Test func `PSS and what is private`() throws {
    let rollup = try SmapsRollup(of: Fixture.pythonIdle.process("smaps_rollup"))
    #expect(rollup.resident == 16_388 * 1024)
    #expect(rollup.proportional == 14_910 * 1024)
    #expect(rollup.proportionalAnonymous == 10_976 * 1024)
    #expect(rollup.proportionalFile == 3_934 * 1024)
    #expect(rollup.proportionalShared == 0)
    #expect(rollup.unique == (3_700 + 10_976) * 1024)  // Private_Clean + Private_Dirty
    #expect(rollup.lazilyFreed == 0)
    #expect(rollup.swap == 0)
    #expect(rollup.proportionalSwap == 0)
  }

  @Test func `an empty file has no PSS`() {
    #expect(throws: ProcParseError(file: "smaps_rollup", field: "Rss", value: "")) {
      try SmapsRollup(of: [UInt8]())
    }
  }
}

@Suite struct SystemStatTests {
  @Test func `steal is the eighth number`() throws {
    // redis/proc/stat: "cpu  9107 0 2419 181876 1407 0 64 230 0 0"
    let stat = try SystemStat(of: Fixture.redis.machine("stat"))
    #expect([stat.userTicks, stat.niceTicks, stat.systemTicks] == [9107, 0, 2419])
    #expect([stat.idleTicks, stat.ioWaitTicks] == [181_876, 1407])
    #expect([stat.interruptTicks, stat.softInterruptTicks, stat.stealTicks] == [0, 64, 230])
  }
}

@Suite struct PressureTests {
  @Test func `totals come as microseconds`() throws {
    // redis: "some ... total=9697236" and "full ... total=0"
    let pressure = try Pressure(of: Fixture.redis.machine("pressure/cpu"))
    #expect(pressure.some == Nanoseconds(9_697_236_000))
    #expect(pressure.full == .zero)
  }

  @Test func `full is missing before Linux 5_13`() throws {
    let line = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
    let pressure = try Pressure(of: Array(line.utf8))
    #expect(pressure.some == .microseconds(12))
    #expect(pressure.full == nil)
  }
}

@Suite struct CPUStatTests {
  static let version2 = """
    usage_usec 2345
    user_usec 2000
    system_usec 345
    nr_periods 100
    nr_throttled 7
    throttled_usec 345678
    nr_bursts 0
    burst_usec 0

    """

  @Test func `version 2 counts in microseconds`() throws {
    let stat = try CPUStat(of: Array(Self.version2.utf8))
    #expect(stat.usage == .microseconds(2345))
    #expect(stat.periods == 100)
    #expect(stat.throttledPeriods == 7)
    #expect(stat.throttledTime == .microseconds(345_678))
  }

  @Test func `version 1 counts in nanoseconds`() throws {
    let text = "nr_periods 5\nnr_throttled 2\nthrottled_time 123456789\n"
    let stat = try CPUStat(of: Array(text.utf8))
    #expect(stat.usage == nil)
    #expect(stat.throttledPeriods == 2)
    #expect(stat.throttledTime == Nanoseconds(123_456_789))
  }

  @Test func `a group without the cpu controller was not measured`() throws {
    let stat = try CPUStat(of: Array("usage_usec 1\nuser_usec 1\nsystem_usec 0\n".utf8))
    #expect(stat.throttledTime == nil)
  }
}
