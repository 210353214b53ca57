import Testing

@testable import ProbeCore

/// A family played step by step, with what the kernel would show: an own clock for the living, and
/// waited-for time that a parent gets when it reaps.
private struct Family {
  var account = TreeAccount(pageSize: 4096)

  mutating func born(_ pid: Int32, of parent: Int32, before: Int64 = 0, at time: Int64 = 0) {
    account.see(
      MemberSeen(
        pid: ProcessID(pid), parent: ProcessID(parent), name: Array("p\(pid)".utf8),
        at: Script.at(time), cpuBefore: .milliseconds(before)))
  }

  mutating func read(
    _ pid: Int32, of parent: Int32, cpu: Int64, children: Int64 = 0, faults: UInt64 = 0,
    memory: MemoryReading? = nil
  ) {
    account.read(
      MemberReading(
        pid: ProcessID(pid), parent: ProcessID(parent), name: Array("p\(pid)".utf8),
        at: Script.at(0), cpu: .milliseconds(cpu), childCPU: .milliseconds(children),
        minorFaults: faults, memory: memory))
  }

  mutating func gone(_ pid: Int32) { account.end(ProcessID(pid), at: Script.at(5)) }
  mutating func round() { account.roundEnded() }
  var cpu: Nanoseconds { account.cpu }
}

@Suite struct TreeAccountTests {
  /// Target 1 with 100 ms of its own and child 2 with 500 ms.
  private func pair() -> Family {
    var family = Family()
    family.born(1, of: 0)
    family.born(2, of: 1)
    family.read(1, of: 0, cpu: 100)
    family.read(2, of: 1, cpu: 500)
    family.round()
    return family
  }

  @Test func `living members count by their own clocks`() {
    let family = pair()
    #expect(family.cpu == .milliseconds(600))
    #expect(family.account.processesPeak == 2 && family.account.seen == 2)
  }

  @Test func `a child that ended and was waited for counts once, whatever is noticed first`() {
    // The end is noticed first, the parent's waited-for time follows in the same round.
    var family = pair()
    family.gone(2)
    #expect(family.cpu == .milliseconds(600))
    family.read(1, of: 0, cpu: 100, children: 500)
    family.round()
    #expect(family.cpu == .milliseconds(600))

    // ... or rounds later, as a zombie's does not come before it is waited for.
    family = pair()
    family.gone(2)
    family.round()
    family.read(1, of: 0, cpu: 110)
    family.round()
    #expect(family.cpu == .milliseconds(610))
    family.read(1, of: 0, cpu: 110, children: 500)
    family.round()
    #expect(family.cpu == .milliseconds(610))

    // The parent's time is noticed first: it was waited for while the round was under way.
    family = pair()
    family.read(1, of: 0, cpu: 100, children: 500)
    family.round()
    family.gone(2)
    family.round()
    #expect(family.cpu == .milliseconds(600))
  }

  @Test func `a child in parts: what it used after our last look arrives with its parent`() {
    var family = pair()
    family.gone(2)
    family.read(1, of: 0, cpu: 100, children: 730)  // 230 ms more than we had seen of it
    family.round()
    #expect(family.cpu == .milliseconds(830))
  }

  @Test func `rounding of clock ticks adds up to no more than a few ticks`() {
    var family = Family()
    family.born(1, of: 0)
    family.read(1, of: 0, cpu: 0)
    // Thirty children of 14 ms, each shown by the parent in whole 10 ms ticks of the sum.
    for index in Int32(0)..<30 {
      family.born(100 + index, of: 1)
      family.read(100 + index, of: 1, cpu: 14)
      family.gone(100 + index)
      family.read(1, of: 0, cpu: 0, children: Int64(index + 1) * 14 / 10 * 10)
      family.round()
    }
    #expect(abs(family.cpu.inMilliseconds - 420) <= 30)
  }

  @Test func `a parent that ignores SIGCHLD never shows its children, and they still count`() {
    var family = pair()
    family.gone(2)
    for cpu in Int64(101)...110 {
      family.read(1, of: 0, cpu: cpu)
      family.round()
    }
    #expect(family.cpu == .milliseconds(610))
    family.gone(1)
    #expect(family.cpu == .milliseconds(610))
  }

  @Test func `an orphan goes to init and still counts`() {
    var family = pair()
    family.born(3, of: 2)
    family.read(3, of: 2, cpu: 70)
    family.round()
    family.gone(2)
    family.read(1, of: 0, cpu: 100, children: 500)
    family.read(3, of: 9999, cpu: 80)
    family.round()
    #expect(family.cpu == .milliseconds(680))
    family.gone(3)
    family.round()
    #expect(family.cpu == .milliseconds(680))
  }

  @Test func `short-lived children that nobody saw are in their parent's time`() {
    var family = pair()
    family.read(1, of: 0, cpu: 100, children: 3000)
    family.round()
    #expect(family.cpu == .milliseconds(3600))
    // A child that we do know ends afterwards: it is not taken for one of those.
    family.gone(2)
    family.read(1, of: 0, cpu: 100, children: 3500)
    family.round()
    #expect(family.cpu == .milliseconds(3600))
  }

  @Test(arguments: [[2, 3], [3, 2]])
  func `a family that ends between two looks counts once`(order: [Int32]) {
    // make (1) runs sh (2) runs cc (3); cc ends, sh reaps it and ends, make reaps sh.
    var family = pair()
    family.born(3, of: 2)
    family.read(3, of: 2, cpu: 1000)
    family.round()
    #expect(family.cpu == .milliseconds(1600))
    for pid in order { family.gone(pid) }
    family.read(1, of: 0, cpu: 100, children: 1500)
    family.round()
    #expect(family.cpu == .milliseconds(1600))
  }

  @Test(arguments: [[2, 3], [3, 2]])
  func `a family whose end is noticed after the grandparent's time counts once`(order: [Int32]) {
    var family = pair()
    family.born(3, of: 2)
    family.read(3, of: 2, cpu: 1000)
    family.round()
    family.read(1, of: 0, cpu: 100, children: 1500)
    family.round()
    for pid in order { family.gone(pid) }
    family.round()
    #expect(family.cpu == .milliseconds(1600))
  }

  @Test func `a grandchild waited for by its parent before that one ends counts once`() {
    var family = pair()
    family.born(3, of: 2)
    family.read(3, of: 2, cpu: 1000)
    family.round()
    family.gone(3)
    family.read(2, of: 1, cpu: 500)  // 2 has not waited yet
    family.round()
    family.gone(2)  // it did before it ended, and 1 has waited for both
    family.read(1, of: 0, cpu: 100, children: 1500)
    family.round()
    #expect(family.cpu == .milliseconds(1600))
  }

  @Test func `the order of ends and readings never matters to a settled family`() {
    // Every interleaving of child's end and parent's reading over ten children of 50 ms.
    var dice = Dice(seed: 3)
    for _ in 0..<200 {
      var family = Family()
      family.born(1, of: 0)
      family.read(1, of: 0, cpu: 0)
      var waited: Int64 = 0
      var unnoticed: [Int32] = []
      for index in Int32(2)..<12 {
        family.born(index, of: 1)
        family.read(index, of: 1, cpu: 50)
        unnoticed.append(index)
        waited += 50
        if dice.below(2) == 0 { family.read(1, of: 0, cpu: 0, children: waited) }
        while !unnoticed.isEmpty, dice.below(2) == 0 {
          family.gone(unnoticed.remove(at: dice.below(unnoticed.count)))
        }
        family.round()
      }
      for pid in unnoticed { family.gone(pid) }
      family.read(1, of: 0, cpu: 0, children: waited)
      family.round()
      #expect(family.cpu == .milliseconds(500))
    }
  }

  @Test func `what a process found at attach had used before is not counted`() {
    var family = Family()
    family.born(1, of: 0, before: 110_000)  // 10 s of its own, 100 s of children it waited for
    family.read(1, of: 0, cpu: 10_000, children: 100_000)
    family.round()
    #expect(family.cpu == .zero)
    family.read(1, of: 0, cpu: 10_050, children: 100_200)
    #expect(family.cpu == .milliseconds(250))
    let row = family.account.processes(start: Script.origin).first
    #expect(row?.cpu == .milliseconds(50))
  }

  @Test func `an exact count of the kernel's wins`() {
    var family = pair()
    family.account.learn(counted: .milliseconds(777))
    family.account.learn(counted: .milliseconds(700))
    #expect(family.cpu == .milliseconds(777))
  }

  @Test func `a process number used again is another process`() {
    var family = pair()
    family.born(2, of: 1)
    family.read(2, of: 1, cpu: 40)
    #expect(family.cpu == .milliseconds(640))
    #expect(family.account.seen == 3 && family.account.processesPeak == 2)
  }

  @Test func `counters that move backwards change nothing`() {
    var family = pair()
    family.read(2, of: 1, cpu: 20)
    #expect(family.cpu == .milliseconds(600))
    family.read(2, of: 1, cpu: 510)
    #expect(family.cpu == .milliseconds(610))
  }

  @Test func `the busiest processes are listed, ended ones too, in bounded number`() {
    var family = Family()
    family.born(1, of: 0)
    for pid in Int32(2)..<2000 {
      family.born(pid, of: 1, at: Int64(pid))
      family.read(pid, of: 1, cpu: Int64(pid))
      family.gone(pid)
    }
    let rows = family.account.processes(start: Script.origin)
    #expect(rows.count == TreeAccount.listed)
    #expect(rows.first?.pid == 1999 && rows.first?.name == "p1999")
    #expect(rows.first?.startedAt == .milliseconds(1999))
    #expect(rows.allSatisfy { $0.endedAt == .milliseconds(5) })
    #expect(family.account.seen == 1999 && family.account.processesPeak == 2)
  }
}

@Suite struct TreeMemoryTests {
  private let mebibyte: UInt64 = 1 << 20

  @Test func `unrelated members add up`() {
    var family = Family()
    family.born(1, of: 0)
    family.read(1, of: 0, cpu: 0, memory: Script.reading(anonymous: 10 * mebibyte))
    family.round()
    family.born(2, of: 1)
    // Its peak since exec is smaller than what its parent has: it runs a program of its own.
    family.read(
      2, of: 1, cpu: 0, memory: Script.reading(anonymous: 3 * mebibyte, peak: 4 * mebibyte))
    family.round()
    #expect(family.account.footprintPeak == 13 * mebibyte)
  }

  @Test(arguments: [
    // child's anonymous MiB, pages it faulted in (256 a MiB), expected own MiB
    (100, 0, 0), (100, 256, 1), (100, 25_600, 100), (100, 1_000_000, 100), (120, 0, 20),
    (120, 7_680, 30), (50, 256, 1),
  ])
  func `after fork a child has at most the pages it touched, at least what it grew by`(
    anonymous: UInt64, faults: UInt64, own: UInt64
  ) {
    var family = Family()
    family.born(1, of: 0)
    family.read(1, of: 0, cpu: 0, memory: Script.reading(anonymous: 100 * mebibyte))
    family.born(2, of: 1)
    family.read(
      2, of: 1, cpu: 0, faults: faults,
      memory: Script.reading(anonymous: anonymous * mebibyte, peak: 130 * mebibyte))
    family.round()
    #expect(family.account.footprintPeak == (100 + own) * mebibyte)
  }

  @Test func `memory shared by fork counts once, of strangers each`() {
    var family = Family()
    let shared = Script.reading(anonymous: 0, shared: 64 * mebibyte, peak: 64 * mebibyte)
    family.born(1, of: 0)
    family.read(1, of: 0, cpu: 0, memory: shared)
    for pid in Int32(2)...5 {
      family.born(pid, of: 1)
      family.read(pid, of: 1, cpu: 0, memory: shared)
    }
    family.round()
    #expect(family.account.footprintPeak == 64 * mebibyte)
    family.born(9, of: 7)
    family.read(9, of: 7, cpu: 0, memory: shared)
    family.round()
    #expect(family.account.footprintPeak == 128 * mebibyte)
  }

  @Test func `the peak stays when members go`() {
    var family = Family()
    family.born(1, of: 0)
    family.read(1, of: 0, cpu: 0, memory: Script.reading(anonymous: 10))
    family.born(2, of: 7)
    family.read(2, of: 7, cpu: 0, memory: Script.reading(anonymous: 20))
    family.round()
    family.gone(2)
    family.round()
    #expect(family.account.footprintPeak == 30)
  }

  @Test func `a circle of parents and numbers without end are survived`() {
    var family = Family()
    let huge = MemoryReading(
      at: Script.at(0), anonymous: .max, shared: .max, swap: .max, pageTables: .max, huge: .max,
      residentPeak: .max)
    for (pid, parent) in [(1, 2), (2, 3), (3, 1), (4, 4)] as [(Int32, Int32)] {
      family.born(pid, of: parent, before: .max / 1_000_000)
    }
    for _ in 0..<3 {
      for (pid, parent) in [(1, 2), (2, 3), (3, 1), (4, 4)] as [(Int32, Int32)] {
        family.read(
          pid, of: parent, cpu: .max / 1_000_000, children: .min / 1_000_000, faults: .max,
          memory: huge)
      }
      family.round()
    }
    #expect(family.account.footprintPeak == .max)
    for pid in [1, 2, 3, 4] as [Int32] { family.gone(pid) }
    family.round()
    _ = family.cpu
  }

  @Test(arguments: [
    // Nothing stolen: the counter, which has seen everybody, is right.
    (900, 0, 900), (600, 0, 600),
    // All that it counts too much was stolen.
    (760, 100, 700), (760, 300, 700),
    // More was stolen from others; what nobody read is in the counter.
    (900, 100, 800),
    // The counter is never too low.
    (650, 100, 650),
  ])
  func `what the hypervisor took is no CPU of the tree`(counted: Int64, stolen: Int64, cpu: Int64) {
    var account = TreeAccount(pageSize: 4096)
    account.see(
      MemberSeen(
        pid: ProcessID(100), parent: ProcessID(1), name: [], at: Script.at(0), cpuBefore: .zero))
    account.read(
      MemberReading(
        pid: ProcessID(100), parent: ProcessID(1), name: [], at: Script.at(0),
        cpu: .milliseconds(700), childCPU: .zero, minorFaults: 0, memory: nil))
    account.learn(counted: .milliseconds(counted))
    account.learn(stolen: .milliseconds(stolen))
    #expect(account.cpu == .milliseconds(cpu))
  }

  @Test func `the tree's peak rate is measured between rounds`() {
    let start = Script.start(followsChildren: true)
    func member(_ cpu: Int64) -> ProbeEvent {
      .memberReading(
        MemberReading(
          pid: ProcessID(100), parent: ProcessID(1), name: [], at: Script.at(0),
          cpu: .milliseconds(cpu), childCPU: .zero, minorFaults: 0, memory: nil))
    }
    let summary = Script.summary(
      start,
      [
        .member(
          MemberSeen(
            pid: ProcessID(100), parent: ProcessID(1), name: [], at: Script.at(0), cpuBefore: .zero)
        ),
        member(0), .treeRound(at: Script.at(0), cpu: nil),
        member(150), .treeRound(at: Script.at(100), cpu: nil),
        member(160), .treeRound(at: Script.at(200), cpu: nil), Script.ended(200),
      ])
    #expect(summary.tree?.cpu == .milliseconds(160))
    #expect(summary.tree?.peakPercent == 150)
    #expect(summary.tree?.averagePercent == 80)
    #expect(summary.tree?.observer == "proc")
  }
}
