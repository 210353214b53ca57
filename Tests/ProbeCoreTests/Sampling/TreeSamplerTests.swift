import Testing

@testable import ProbeCore

@Suite struct TreeSamplerTests {
  private struct Rig: ~Copyable {
    var source: ProcSource
    var sampler: TreeSampler
    var out = ByteWriter()
    var isFirst = true

    init(_ tree: ScratchProc) {
      source = tree.source
      sampler = TreeSampler(source, isLaunched: false)
    }

    mutating func round(isSlow: Bool = false) -> [ProbeEvent] {
      let frames = sampler.round(
        at: Script.at(0), isFirst: isFirst, isSlow: isSlow, &source, into: &out)
      isFirst = false
      let result = events(&out)
      #expect(frames == result.count)
      return result
    }
  }

  private func born(_ events: [ProbeEvent]) -> [Int32] {
    events.compactMap { event in
      if case .member(let member) = event { member.pid.rawValue } else { nil }
    }
  }

  private func ended(_ events: [ProbeEvent]) -> [Int32] {
    events.compactMap { event in
      if case .memberEnded(let pid, _) = event { pid.rawValue } else { nil }
    }
  }

  @Test func `descendants in any order of numbers are found, strangers are not`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.process(30, parent: 600)  // grandchild with a lower number than its parent
    tree.process(600, parent: 500)
    tree.process(700, parent: 1)
    tree.write("notaprocess", "")
    var rig = Rig(tree)
    #expect(rig.sampler.pollingReason != nil)
    #expect(Set(born(rig.round())) == [500, 600, 30])
    #expect(born(rig.round()).isEmpty)
    tree.process(701, parent: 700)
    tree.process(601, parent: 30)
    #expect(born(rig.round()) == [601])
  }

  @Test func `what was there is charged from now on, what comes later from its start`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1, user: 20, childUser: 7)
    var rig = Rig(tree)
    var state = SessionState(Script.start(followsChildren: true))
    for event in rig.round() { state.apply(event) }
    #expect(state.summary().tree?.cpu == .zero)
    tree.process(500, parent: 1, user: 23, childUser: 7)
    tree.process(600, parent: 500, user: 11)
    for event in rig.round() { state.apply(event) }
    // 30 ms more of the target and 110 ms of its child.
    #expect(state.summary().tree?.cpu == .milliseconds(140))
    // The target has 100 + 2 + 4 KiB of its own, its child 2 + 4 and at most its 10 faults of a page
    // of what it inherited, and both share 8.
    #expect(state.summary().tree?.footprintPeak == (106 + 6 + 40 + 8) * 1024)
  }

  @Test func `an end is told before anything is read of the others`() throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.process(600, parent: 500, user: 50)
    var rig = Rig(tree)
    _ = rig.round()
    tree.write("600/stat", "")  // a kept stat of a process that has gone answers nothing
    tree.remove("600")
    tree.process(500, parent: 1, childUser: 50)
    let events = rig.round()
    let end = try #require(
      events.firstIndex { if case .memberEnded = $0 { true } else { false } })
    let reading = try #require(
      events.firstIndex { if case .memberReading = $0 { true } else { false } })
    #expect(ended(events) == [600] && end < reading)
    guard case .treeRound = events.last else {
      Issue.record("a round ends with its mark")
      return
    }
  }

  @Test(arguments: ["600 (p", "600 (p) S\n", "garbage\n"])
  func `a stat cut in the middle is no reading of that one only`(text: String) {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.process(600, parent: 500)
    var rig = Rig(tree)
    _ = rig.round()
    tree.write("600/stat", text)
    let events = rig.round()
    let read = events.compactMap { event in
      if case .memberReading(let reading) = event { reading.pid.rawValue } else { nil }
    }
    #expect(read == [500])
  }

  @Test func `what the hypervisor took is counted from the first look`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    var rig = Rig(tree)
    func stolen(_ isSlow: Bool, _ rig: inout Rig) -> [Nanoseconds?] {
      rig.round(isSlow: isSlow).compactMap { event in
        if case .treeRound(_, _, let stolen) = event { .some(stolen) } else { nil }
      }
    }
    func machine(_ ticks: Int) { tree.write("stat", "cpu  1 2 3 4 5 6 7 \(ticks) 0 0\n") }
    #expect(stolen(true, &rig) == [nil])  // no such file
    machine(70)
    #expect(stolen(false, &rig) == [.zero])
    machine(75)
    #expect(stolen(false, &rig) == [nil])
    // 5 ticks of 10 ms, and up to one that rounding hides.
    #expect(stolen(true, &rig) == [.milliseconds(60)])
    tree.write("stat", "cpu  1 2")
    #expect(stolen(true, &rig) == [nil])
    machine(3)  // another machine after a move: runs backwards
    #expect(stolen(true, &rig) == [.zero])
  }

  @Test func `hostile names pass through`() {
    let tree = ScratchProc()
    tree.process(500, parent: 1, name: "a) R 1 (\n\u{1b}[2J")
    var rig = Rig(tree)
    let names = rig.round().compactMap { event -> String? in
      if case .member(let member) = event {
        String(decoding: member.name, as: UTF8.self)
      } else {
        nil
      }
    }
    #expect(names == ["a) R 1 (\n\u{1b}[2J"])
  }
}
