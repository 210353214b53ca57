import Testing

@testable import ProbeCore

@Suite struct ThreadSamplerTests {
  private func readings(_ events: [ProbeEvent]) -> [Int32: Int64] {
    let threads = events.lastTick?.threads ?? []
    return Dictionary(
      uniqueKeysWithValues: threads.map { ($0.tid.rawValue, $0.cpu.rawValue / 1_000_000) })
  }

  @Test func `threads that were there are the base, later ones are new`() throws {
    let tree = ScratchProc()
    tree.thread(500, "main", cpu: 10)
    tree.thread(501, "old", cpu: 20)
    var rig = try Rig(tree.source)
    let first = rig.tick(clock: 30)
    #expect(first.seen.map(\.tid.rawValue).sorted() == [500, 501])
    #expect(first.seen.allSatisfy { !$0.isNew })
    #expect(first.seen.first { $0.tid.rawValue == 501 }?.cpu == .milliseconds(20))
    #expect(first.lastTick?.threadCount == 2 && first.lastTick?.threads.isEmpty == true)

    tree.thread(502, "new", cpu: 7)
    let second = rig.tick(clock: 37)
    #expect(second.seen.map(\.tid.rawValue) == [502])
    #expect(second.seen.first?.isNew == true && second.seen.first?.cpu == .milliseconds(7))
    #expect(second.lastTick?.threadCount == 3)
    // Threads are told before the tick that counts them.
    #expect(
      second.firstIndex { if case .threadSeen = $0 { true } else { false } }! < second.count - 1)
  }

  @Test func `what was launched began with one thread, whatever the first look finds`() throws {
    let tree = ScratchProc()
    tree.thread(500, "main", cpu: 10)
    tree.thread(501, "early", cpu: 20)
    var rig = try Rig(tree.source, launchBase: .milliseconds(1))
    let first = rig.tick(clock: 30)
    #expect(first.seen.filter(\.isNew).map(\.tid.rawValue) == [501])
    #expect(first.seen.first { $0.tid.rawValue == 500 }?.cpu == .milliseconds(1))
  }

  @Test func `only threads whose counters moved are in a tick`() throws {
    let tree = ScratchProc()
    for tid in Int32(500)..<510 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    tree.thread(503, cpu: 40)
    tree.thread(508, cpu: 0, delay: 5)  // it only waited for a CPU
    #expect(readings(rig.tick(clock: 40)) == [503: 40, 508: 0])
    #expect(readings(rig.tick(clock: 40)) == [:])
  }

  @Test func `threads that cannot have run are not read, and one that wakes is charged at once`()
    throws
  {
    let tree = ScratchProc()
    for tid in Int32(500)..<600 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    tree.thread(500, cpu: 10)
    _ = rig.tick(clock: 10)
    let warm = rig.sampler.reads
    for round in Int64(2)...11 {
      tree.thread(500, cpu: round * 10)
      #expect(readings(rig.tick(clock: round * 10)) == [500: round * 10])
    }
    // One read a tick: the busy thread explains all of the clock's growth.
    #expect(rig.sampler.reads - warm == 10)

    tree.thread(500, cpu: 120)
    tree.thread(577, cpu: 3)
    #expect(readings(rig.tick(clock: 123)) == [500: 120, 577: 3])
    // From now on both are read first.
    let again = rig.sampler.reads
    tree.thread(577, cpu: 6)
    #expect(readings(rig.tick(clock: 126)) == [577: 6])
    #expect(rig.sampler.reads - again == 2)
  }

  @Test func `a thread that runs while we look is read once more, and the others stay unread`()
    throws
  {
    let tree = ScratchProc()
    for tid in Int32(500)..<520 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    tree.thread(500, cpu: 11)
    #expect(readings(rig.tick(clock: 10, again: 11)) == [500: 11])
    for clock in [20, 30] as [Int64] {
      let before = rig.sampler.reads
      tree.thread(500, cpu: clock)
      _ = rig.tick(clock: clock, again: clock + 1)
      #expect(rig.sampler.reads - before == 1)
    }
    // One more ran between: all are read.
    let reads = rig.sampler.reads
    tree.thread(500, cpu: 40)
    tree.thread(501, cpu: 2)
    #expect(readings(rig.tick(clock: 42)) == [500: 40, 501: 2])
    #expect(rig.sampler.reads - reads == 20)
    let before = rig.sampler.reads
    _ = rig.tick(clock: nil)
    #expect(rig.sampler.reads - before == 20)
  }

  @Test func `a thread that vanishes ends, and the others keep their places`() throws {
    let tree = ScratchProc()
    for tid in Int32(500)..<505 { tree.thread(tid, cpu: 1) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 5)
    for tid in Int32(500)..<505 { tree.thread(tid, cpu: 2) }
    _ = rig.tick(clock: 10)
    tree.end(500)
    tree.end(503)
    tree.thread(504, cpu: 9)
    let events = rig.tick(clock: 17)
    #expect(events.endedThreads.sorted() == [500, 503])
    #expect(readings(events) == [504: 9])
    #expect(events.lastTick?.threadCount == 3)
    tree.thread(501, cpu: 30)
    tree.thread(502, cpu: 40)
    #expect(readings(rig.tick(clock: 83)) == [501: 30, 502: 40])
    for tid in [501, 502] as [Int32] { tree.end(tid) }
    let last = rig.tick(clock: 90)
    #expect(last.endedThreads.sorted() == [501, 502])
    #expect(last.lastTick?.threadCount == 1)
  }

  @Test func `one that leaves as another comes is found within a second`() throws {
    let tree = ScratchProc()
    tree.thread(500, cpu: 0)
    tree.thread(501, cpu: 0)
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    tree.end(501)
    tree.thread(502, cpu: 4)
    var found: [ProbeEvent] = []
    for _ in 0..<10 { found += rig.tick(clock: 4) }
    #expect(found.endedThreads == [501])
    #expect(found.seen.map(\.tid.rawValue) == [502])
  }

  @Test(arguments: ["", "12", "12 34", "x y z\n", "-5 1 1\n"])
  func `a file cut or garbled between two looks takes its thread out, not the tick`(text: String)
    throws
  {
    let tree = ScratchProc()
    for tid in Int32(500)..<503 { tree.thread(tid, cpu: 1) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 3)
    tree.write("500/task/501/schedstat", text)
    tree.thread(502, cpu: 8)
    let events = rig.tick(clock: 10)
    #expect(events.endedThreads == [501])
    #expect(readings(events) == [502: 8])
    // Whole again, it comes back as what it is now.
    tree.thread(501, cpu: 2)
    #expect(rig.tick(clock: 11).seen.map(\.tid.rawValue) == [501])
  }

  @Test func `a thread without files is left out and does no harm`() throws {
    let tree = ScratchProc()
    tree.thread(500, cpu: 1)
    tree.thread(501, cpu: 1)
    tree.remove("500/task/501/schedstat")
    tree.write("500/task/not-a-thread", "")
    var rig = try Rig(tree.source)
    let events = rig.tick(clock: 1)
    #expect(events.seen.map(\.tid.rawValue) == [500])
  }

  @Test func `a new thread's own name is noticed, and so is a later one`() throws {
    let tree = ScratchProc()
    tree.thread(500, "main", cpu: 0)
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    tree.thread(501, "main", cpu: 1)
    _ = rig.tick(clock: 1)
    tree.thread(501, "worker\n\u{1b}", cpu: 2)
    let names = rig.tick(clock: 2).compactMap { event -> [UInt8]? in
      if case .threadNamed(ThreadID(501), let name) = event { name } else { nil }
    }
    #expect(names == [Array("worker\n\u{1b}".utf8)])
    for clock in Int64(3)...6 {
      tree.thread(501, "worker\n\u{1b}", cpu: clock)
      _ = rig.tick(clock: clock)
    }
    tree.thread(501, "late", cpu: 7)
    _ = rig.tick(clock: 7)
    let slow = rig.slowBeat()
    #expect(slow.contains(.threadNamed(ThreadID(501), name: Array("late".utf8))))
  }

  @Test(arguments: ["plain", "with blank", "back\\slash", "new\nline", "(odd) \t:", ""])
  func `a late name is taken as it is, escaped by the kernel or not`(name: String) throws {
    let tree = ScratchProc()
    tree.thread(500, "main", cpu: 0)
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    #expect(rig.slowBeat().allSatisfy { if case .threadNamed = $0 { false } else { true } })
    tree.thread(500, name, cpu: 5)
    _ = rig.tick(clock: 5)
    // Its first ticks look at the name themselves.
    for clock in Int64(6)...9 {
      tree.thread(500, name, cpu: clock)
      _ = rig.tick(clock: clock)
    }
    let later = name + "2"
    tree.thread(500, later, cpu: 10)
    _ = rig.tick(clock: 10)
    #expect(rig.slowBeat().contains(.threadNamed(ThreadID(500), name: Array(later.utf8))))
  }

  @Test func `details come a few at a time, of those that ran, each once`() throws {
    let tree = ScratchProc()
    for tid in Int32(500)..<510 { tree.thread(tid, cpu: 0) }
    var rig = try Rig(tree.source)
    _ = rig.tick(clock: 0)
    func detailed(_ events: [ProbeEvent]) -> Set<Int32> {
      Set(
        events.compactMap { event in
          if case .threadDetail(let detail) = event { detail.tid.rawValue } else { nil }
        })
    }
    var all: Set<Int32> = []
    for _ in 0..<4 {
      let some = detailed(rig.slowBeat(limit: 3))
      #expect(some.count <= 3)
      all.formUnion(some)
    }
    #expect(all == Set(500..<510))
    #expect(rig.slowBeat().isEmpty)
    tree.thread(507, cpu: 3)
    _ = rig.tick(clock: 3)
    #expect(detailed(rig.slowBeat()) == [507])
  }

  @Test func `a process that has gone has no tree`() {
    #expect(throws: ReadingError.gone) {
      _ = try ThreadSampler(ProcSource(root: "/no/such/proc", pid: ProcessID(1)))
    }
  }

  @Test(arguments: Fixture.allCases) func `recorded trees are sampled`(_ fixture: Fixture) throws {
    var rig = try Rig(fixture.source)
    let first = rig.tick(clock: 0)
    #expect(first.seen.count == first.lastTick?.threadCount)
    #expect(first.seen.contains { $0.tid.rawValue == fixture.pid })
    let second = rig.tick(clock: 0)
    #expect(second.seen.isEmpty && second.endedThreads.isEmpty)
    #expect(second.lastTick?.threads.isEmpty == true)
    let names = Set(rig.slowBeat().map { event in if case .threadDetail = event { 1 } else { 2 } })
    #expect(names == [1])
  }

  @Test func `names with anything in them are taken as they are`() throws {
    var rig = try Rig(Fixture.oddNames.source)
    let names = rig.tick(clock: 0).seen.map(\.name)
    #expect(names.contains { $0.contains(0x0a) })
    #expect(names.contains { $0.contains(UInt8(ascii: ")")) })
    #expect(names.contains { $0.contains(0x1b) })
  }

  @Test func `a leader that has ended is one thread among the living`() throws {
    var rig = try Rig(Fixture.leaderExit.source)
    let first = rig.tick(clock: 0)
    #expect(first.seen.count == 3)
    #expect(rig.sampler.anyThread != nil)
  }
}

extension Fixture {
  var source: ProcSource {
    ProcSource(root: "\(Self.root)/\(rawValue)/proc", pid: ProcessID(pid))
  }
}
