// What fdinfo tells: places in files, and what a ring waits for; recorded on Linux 6.18.

import Testing

@testable import ProbeCore

@Suite struct DescriptorInfoTests {
  /// Two reads of a pipe are on their way; the pipe is registered.
  static let ring = """
    pos:\t0
    flags:\t02000002
    mnt_id:\t17
    ino:\t5643394
    SqMask:\t0x7
    SqHead:\t2
    SqTail:\t2
    CachedSqHead:\t2
    CqMask:\t0xf
    CqHead:\t0
    CqTail:\t0
    CachedCqTail:\t0
    SQEs:\t0
    CQEs:\t0
    SqThread:\t-1
    SqThreadCpu:\t-1
    SqTotalTime:\t0
    SqWorkTime:\t0
    UserFiles:\t1
        0: pipe:[5643395]
    UserBufs:\t0
    PollList:
      op=22, task_works=0
      op=22, task_works=0
    CqOverflowList:
    NAPI:\tdisabled

    """

  private func info(_ text: String) -> DescriptorInfo { DescriptorInfo(Array(text.utf8)) }

  @Test func `of a file the place is told, and nothing of a ring`() {
    let file = info("pos:\t13107200\nflags:\t0100000\nmnt_id:\t24\nino:\t3\n")
    #expect(file.position == 13_107_200)
    #expect(file.operations == nil && file.files.isEmpty)
  }

  @Test func `a ring tells its operations and its files`() {
    let ring = info(Self.ring)
    #expect(ring.operations == 2)
    #expect(ring.files == ["pipe:[5643395]"])
  }

  @Test func `counters that have wrapped still give the difference, absurd ones nothing`() {
    #expect(info("SqHead:\t1\nCachedCqTail:\t4294967295\n").operations == 2)
    #expect(info("SqHead:\t1\nCachedCqTail:\t5\n").operations == nil)
    #expect(info("SqHead:\t1\n").operations == nil)
  }

  @Test func `any bytes are taken, and long lists are cut`() {
    for cut in 0..<Self.ring.utf8.count { _ = DescriptorInfo(Array(Self.ring.utf8.prefix(cut))) }
    _ = DescriptorInfo([0, 255, 10, 58, 10, 32, 58])
    let many = "UserFiles:\t99999\n" + (0..<99).map { "    \($0): /x\($0)\n" }.joined()
    #expect(info(many).files.count == 16)
    #expect(info("UserFiles:\t-5\n    0: /x\n").files.isEmpty)
  }

  @Test func `the machine's memory is the first line`() {
    func total(_ text: String) -> UInt64? { MemoryTotal.parse(Array(text.utf8).span) }
    #expect(total("MemTotal:        8026892 kB\nMemFree: 1 kB\n") == 8_026_892 * 1024)
    #expect(total("MemFree: 1 kB\n") == nil && total("MemTotal: x\n") == nil && total("") == nil)
    #expect(total("MemTotal: 18446744073709551615 kB\n") == nil)
  }
}
