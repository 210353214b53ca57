// The rows of a tree's members in the summary.

import Testing

@testable import ProbeCore

@Suite struct TreeRowsTests {
  @Test func `a child that was over before it was read has no CPU instead of none`() {
    var account = TreeAccount(pageSize: 4096)
    for pid in Int32(1)...2 {
      account.see(
        MemberSeen(
          pid: ProcessID(pid), parent: ProcessID(pid - 1), name: Array("p".utf8), at: Script.at(0),
          cpuBefore: .zero))
    }
    account.read(
      MemberReading(
        pid: ProcessID(1), parent: ProcessID(0), name: Array("p".utf8), at: Script.at(1),
        cpu: .milliseconds(100), childCPU: .zero, minorFaults: 0, memory: nil))
    account.end(ProcessID(2), at: Script.at(2))
    account.roundEnded()
    #expect(account.processes(start: Script.at(0)).map(\.cpu) == [.milliseconds(100), nil])
  }
}
