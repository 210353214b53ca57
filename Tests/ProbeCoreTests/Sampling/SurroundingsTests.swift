// Two samples make a difference, and nothing is sampled more often than a stall is worth.

import Testing

@testable import ProbeCore

@Suite struct SurroundingsTests {
  private func sample(
    _ at: Int64, busy: UInt64?, stolen: UInt64? = 0, throttled: Int64? = nil, process: Int64 = 0
  ) -> SurroundingsSample {
    SurroundingsSample(
      at: Instant(nanoseconds: at * 1_000_000), processCPU: .milliseconds(process),
      threadCPU: .zero, busyTicks: busy, stolenTicks: stolen,
      throttled: throttled.map { .milliseconds($0) })
  }

  private func difference(
    _ first: SurroundingsSample, _ last: SurroundingsSample
  ) -> StallSurroundings {
    SurroundingsWatch.difference(first, last, stall: 3, tick: .milliseconds(10))
  }

  @Test func `differences are in time, whatever the counters' units`() {
    let result = difference(
      sample(100, busy: 50, stolen: 1, throttled: 10, process: 5),
      sample(400, busy: 90, stolen: 4, throttled: 110, process: 305))
    #expect(result.stall == 3 && result.length == .milliseconds(300))
    #expect(result.machineCPU == .milliseconds(400) && result.stolen == .milliseconds(30))
    #expect(result.throttled == .milliseconds(100) && result.processCPU == .milliseconds(300))
  }

  @Test func `throttling of several run queues is no more than the time that has passed`() {
    #expect(
      difference(sample(0, busy: 0, throttled: 0), sample(100, busy: 0, throttled: 900)).throttled
        == .milliseconds(100))
  }

  @Test func `what was not measured stays unknown, and counters that run backwards count nothing`()
  {
    let result = difference(sample(0, busy: nil), sample(100, busy: 7, stolen: nil, throttled: 5))
    #expect(result.machineCPU == nil && result.stolen == nil && result.throttled == nil)
    #expect(difference(sample(0, busy: 9), sample(100, busy: 7)).machineCPU == .zero)
  }

  /// The files of this kernel, in a tree of our own: version 2 with memory is in no group that we can have here.
  @Test func `shortage of memory is read of the machine and of the innermost group that tells`() {
    let proc = ScratchProc()
    func pressure(_ some: Int) -> String {
      "some avg10=2.90 avg60=1.65 avg300=0.76 total=\(some)\n"
        + "full avg10=0.00 avg60=0.00 avg300=0.05 total=1\n"
    }
    proc.makeDirectory("pressure")
    proc.write("pressure/memory", pressure(900_000))
    proc.write("meminfo", "MemTotal:        8000 kB\nMemFree: 1 kB\n")
    proc.write("500/statm", "2000 1000 10 1 0 100 0\n")
    proc.write("500/cgroup", "5:memory:/other\n0::/app/inner\n")
    for group in ["", "/app", "/app/inner"] { proc.makeDirectory("cg\(group)") }
    proc.write("cg/memory.pressure", pressure(7))
    proc.write("cg/app/memory.pressure", pressure(400_000))
    var source = proc.source
    var reader = SurroundingsReader(version1: nil, version2: proc.root + "/cg")
    let first = reader.sample(&source, thread: .zero)
    #expect(first.memoryShortage == .milliseconds(900))
    #expect(first.groupMemoryShortage == .milliseconds(400))
    #expect(first.memoryShare == 0.5)
    proc.write("cg/app/inner/memory.pressure", pressure(100_000))
    #expect(reader.sample(&source, thread: .zero).groupMemoryShortage == .milliseconds(100))
    // A kernel without PSI.
    proc.write("pressure/memory", "")
    proc.write("500/cgroup", "5:memory:/other\n")
    let without = reader.sample(&source, thread: .zero)
    #expect(without.memoryShortage == nil && without.groupMemoryShortage == nil)
    let result = SurroundingsWatch.difference(first, without, stall: 1, tick: .milliseconds(10))
    #expect(result.memoryShortage == nil && result.shortShare == 0)
  }

  @Test func `of waiting for pages others have what the target does not hold itself`() {
    var around = StallSurroundings(stall: 1, length: .milliseconds(200))
    #expect(around.foreignShareOfPaging == 0)
    around.memoryShortage = .milliseconds(150)
    around.memoryShare = 0.2
    #expect(abs(around.foreignShareOfPaging - 0.75 * 0.8) < 1e-9 && !around.isGroupShort)
    // All of it was the group's: its limit was reached, which others have set.
    around.groupMemoryShortage = .milliseconds(140)
    #expect(around.isGroupShort && abs(around.foreignShareOfPaging - 0.75) < 1e-9)
  }

  @Test func `each level of a control group is asked, the innermost first`() {
    #expect(SurroundingsReader.levels("/a/b/c") == ["/a/b/c", "/a/b", "/a", ""])
    #expect(SurroundingsReader.levels("/") == [""])
    #expect(SurroundingsReader.levels(String(repeating: "/x", count: 50)).count == 8)
  }

  @Test func `parts that were throttled are taken from where they showed`() {
    var parts = Summary.CauseParts()
    parts.cpuUser = .milliseconds(50)
    parts.runDelay = .milliseconds(200)
    parts.unknown = .milliseconds(50)
    var around = StallSurroundings(stall: 1, length: .milliseconds(150))
    around.throttled = .milliseconds(110)
    // The watched half of the stall: the whole had 220.
    let sharp = around.sharpened(parts, length: .milliseconds(300))
    #expect(sharp.throttled == .milliseconds(220) && sharp.runDelay == .zero)
    #expect(sharp.unknown == .milliseconds(30) && sharp.cpuUser == .milliseconds(50))
    #expect(sharp.sum == parts.sum)
    around.throttled = .milliseconds(10_000)
    #expect(around.sharpened(parts, length: .milliseconds(300)).sum == parts.sum)
    // Linux 6.18 takes the threads off their queue; so long without a move looks like a stop.
    parts.stopped = .milliseconds(100)
    around.throttled = .milliseconds(150)
    #expect(around.sharpened(parts, length: .milliseconds(300)).stopped == .milliseconds(50))
    parts.stopped = .zero
    around.throttled = nil
    #expect(around.sharpened(parts, length: .milliseconds(300)) == parts)
  }
}

extension Summary.CauseParts {
  fileprivate var sum: Nanoseconds { Self.fields.reduce(.zero) { $0 + self[keyPath: $1] } }
}
