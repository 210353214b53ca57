import Testing

@testable import ProbeCore

@Suite struct QuickLookTests {
  private func readings(_ events: [ProbeEvent]) -> [[Int32: Int64]] {
    events.compactMap { event in
      guard case .tick(let tick) = event else { return nil }
      return Dictionary(
        uniqueKeysWithValues: tick.threads.map {
          ($0.tid.rawValue, $0.cpu.rawValue / 1_000_000)
        })
    }
  }

  /// Ten threads, of which 503 and 508 ran in the last tick; 15 ms are of threads that have ended.
  private func armed(_ tree: ScratchProc, statm: Int32 = -1) throws -> Rig {
    for tid in Int32(500)..<510 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 15)
    tree.thread(503, cpu: 40)
    tree.thread(508, cpu: 5, delay: 5)
    // Names of threads are looked at again in their first ticks.
    _ = rig.tick(clock: 60)
    tree.thread(503, cpu: 41)
    tree.thread(508, cpu: 6)
    _ = rig.tick(clock: 62)
    rig.sampler.arm(statm: statm)
    return rig
  }

  @Test func `looks are noted and become the ticks that they stand for`() throws {
    let tree = ScratchProc()
    var rig = try armed(tree)
    let reads = rig.sampler.reads
    tree.thread(503, cpu: 51)
    #expect(rig.look(clock: 72) == .newPages)
    #expect(rig.look(clock: 72) == .noted)
    tree.thread(508, cpu: 7)
    #expect(rig.look(clock: 73) == .newPages)
    #expect(rig.sampler.reads == reads)
    #expect(rig.sampler.oldestLook == Script.at(400))
    let events = rig.looks()
    #expect(readings(events) == [[503: 51], [:], [508: 7]])
    let ticks = events.compactMap { event -> Tick? in
      if case .tick(let tick) = event { tick } else { nil }
    }
    #expect(ticks.map(\.at) == [400, 500, 600].map { Script.at($0) })
    #expect(ticks.map(\.processCPU) == [72, 72, 73].map { .milliseconds($0) })
    #expect(ticks.allSatisfy { $0.threadCount == 10 })
    #expect(rig.sampler.oldestLook == nil && rig.looks().isEmpty)
    // The next full tick goes on from there.
    tree.thread(508, cpu: 9)
    #expect(readings(rig.tick(clock: 75)) == [[508: 9]])
  }

  @Test func `a look that known threads do not explain is none`() throws {
    let tree = ScratchProc()
    var rig = try armed(tree)
    tree.thread(501, cpu: 3)
    #expect(rig.look(clock: 65) == .unknown)
    #expect(rig.look(clock: nil) == .unknown)
    #expect(rig.looks().isEmpty)
    #expect(readings(rig.tick(clock: 65)) == [[501: 3]])
  }

  @Test(arguments: ["", "12", "12 ", "x 5 6\n", "99999999999999999999 1 1\n", "-1 5 6\n"])
  func `a file that cannot be read makes it none`(text: String) throws {
    let tree = ScratchProc()
    var rig = try armed(tree)
    tree.write("500/task/508/schedstat", text)
    #expect(rig.look(clock: 63) == .unknown)
    #expect(rig.looks().isEmpty)
  }

  @Test func `without being armed, or after a full tick, there are no looks`() throws {
    let tree = ScratchProc()
    var rig = try armed(tree)
    _ = rig.tick(clock: 62)
    #expect(rig.look(clock: 62) == .unknown)
  }

  @Test func `notes are bounded`() throws {
    let tree = ScratchProc()
    var rig = try armed(tree)
    var noted = 0
    while noted < 100, rig.look(clock: 62) == .noted { noted += 1 }
    #expect(noted == Int(QuickTicks.maxNotes))
    #expect(rig.looks().count == noted)
  }

  @Test func `memory is repeated while no page comes or goes, and asked for when one does`() throws
  {
    let tree = ScratchProc()
    tree.write("500/statm", "100 20 10 1 0 30 0\n")
    let statm = try tree.source.open("statm")
    var rig = try armed(tree, statm: statm.raw)
    tree.thread(503, cpu: 42)
    #expect(rig.look(clock: 63) == .newPages)
    tree.thread(503, cpu: 43)
    #expect(rig.look(clock: 64) == .noted)
    // It did not run: nothing to say.
    #expect(rig.look(clock: 64) == .noted)
    tree.write("500/statm", "101 20 10 1 0 30 0\n")
    tree.thread(503, cpu: 44)
    #expect(rig.look(clock: 65) == .newPages)
    let reading = MemoryReading(
      at: Script.at(1), anonymous: 1, shared: 2, swap: 0, pageTables: 0, huge: 0, residentPeak: 9)
    let memory = rig.looks(memory: reading).compactMap { event -> MemoryReading? in
      if case .memory(let value) = event { value } else { nil }
    }
    #expect(memory.map(\.at) == [Script.at(500)])
    #expect(memory.first?.anonymous == 1)
  }

  @Test func `more busy threads than can be noted are read in full ticks`() throws {
    let tree = ScratchProc()
    for tid in Int32(500)..<520 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    for round in Int64(0)...3 {
      for tid in Int32(500)..<520 { tree.thread(tid, cpu: round) }
      _ = rig.tick(clock: 20 * round)
    }
    rig.sampler.arm(statm: -1)
    #expect(rig.look(clock: 60) == .unknown)
  }
}
