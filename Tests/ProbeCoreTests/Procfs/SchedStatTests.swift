import Testing

@testable import ProbeCore

@Suite struct SchedStatTests {
  @Test func `three fields are CPU, run-queue delay and timeslices`() throws {
    // threads50, task 6986: "4865456 4004507 2"
    let stat = try SchedStat(of: Fixture.threads50.task(6986, "schedstat"))
    #expect(stat.cpu == Nanoseconds(4_865_456))
    #expect(stat.runDelay == Nanoseconds(4_004_507))
    #expect(stat.timeslices == 2)
  }

  @Test func `the process's own file is the leader's alone`() throws {
    // threads50 burnt 6.47 s (stat utime 647), its leader 2.7 ms.
    let own = try SchedStat(of: Fixture.threads50.process("schedstat"))
    let leader = try SchedStat(of: Fixture.threads50.task(6984, "schedstat"))
    #expect(own == leader)
    #expect(own.cpu == Nanoseconds(2_716_242))
  }

  @Test func `the CPU of a thread reaches beyond 32 bits`() throws {
    let stat = try SchedStat(of: Array("9223372036854775807 0 18446744073709551615\n".utf8))
    #expect(stat.cpu == Nanoseconds(.max))
    #expect(stat.timeslices == .max)
  }

  @Test(arguments: [
    ("", "cpu", ""), ("12", "cpu", "12"), ("12 x 1\n", "run delay", "x"),
    ("9223372036854775808 0 0\n", "cpu", "9223372036854775808"), ("1 2 3", "timeslices", "3"),
    ("1 2 3 4\n", "end of line", ""), ("-1 2 3\n", "cpu", "-1"),
    ("1 2 18446744073709551616\n", "timeslices", "18446744073709551616"),
  ])
  func `a wrong field is named with what stood there`(
    _ text: String, _ field: String, _ value: String
  ) {
    #expect(throws: ProcParseError(file: "schedstat", field: field, value: value)) {
      try SchedStat(of: Array(text.utf8))
    }
  }
}
