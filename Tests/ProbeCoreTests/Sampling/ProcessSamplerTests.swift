import Testing

@testable import ProbeCore

@Suite struct ProcessSamplerTests {
  @Test func `memory is the status file's parts`() throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    var source = tree.source
    var sampler = try ProcessSampler(source)
    let reading = try #require(sampler.memory(at: Script.at(3), anyThread: nil, &source))
    #expect(reading.at == Script.at(3))
    #expect(reading.anonymous == 100 << 10 && reading.shared == 8 << 10)
    #expect(reading.swap == 2 << 10 && reading.pageTables == 4 << 10 && reading.huge == 0)
    #expect(reading.footprint == 114 << 10)
    #expect(reading.residentPeak == 150 << 10)
  }

  @Test func `a file that changes between two looks is read anew, and a cut one is no reading`()
    throws
  {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    var source = tree.source
    var sampler = try ProcessSampler(source)
    tree.process(500, parent: 1, user: 40, childUser: 5, anonymousKilobytes: 7)
    #expect(sampler.memory(at: Script.at(0), anyThread: nil, &source)?.anonymous == 7 << 10)
    let times = sampler.times(&source)
    #expect(times?.user == 40 && times?.childUser == 5)
    tree.write("500/status", "Name:\tapp\nRssAnon:\t12")
    #expect(sampler.memory(at: Script.at(0), anyThread: nil, &source) == nil)
    #expect(sampler.memoryFailure != nil)
    tree.write("500/stat", "500 (app")
    #expect(sampler.times(&source) == nil)
  }

  @Test func `a zombie leader's memory is told by a thread that lives`() throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    tree.write("500/status", ScratchProc.status(500, of: 500, "app", anonymous: nil))
    tree.thread(501, cpu: 0)
    tree.thread(502, cpu: 0)
    var source = tree.source
    var sampler = try ProcessSampler(source)
    #expect(sampler.memory(at: Script.at(0), anyThread: nil, &source) == nil)
    #expect(sampler.memory(at: Script.at(0), anyThread: 501, &source)?.anonymous == 100 << 10)
    // And by another one when that ends too.
    tree.write("500/task/501/status", ScratchProc.status(501, of: 500, "app", anonymous: nil))
    #expect(sampler.memory(at: Script.at(0), anyThread: 502, &source) != nil)
  }

  @Test func `the recorded leader that ended has its stand-in`() throws {
    var source = Fixture.leaderExit.source
    var sampler = try ProcessSampler(source)
    #expect(sampler.memory(at: Script.at(0), anyThread: 7331, &source) == nil)
    #expect(sampler.memory(at: Script.at(0), anyThread: 7333, &source) != nil)
    #expect(sampler.times(&source) != nil)
  }

  @Test(arguments: Fixture.allCases) func `recorded processes are read`(_ fixture: Fixture) throws {
    var source = fixture.source
    var sampler = try ProcessSampler(source)
    #expect(sampler.times(&source) != nil)
    let hasMemory = sampler.memory(at: Script.at(0), anyThread: nil, &source) != nil
    let bare: Set<Fixture> = [.leaderExit, .zombie, .kthreadd]
    #expect(hasMemory == !bare.contains(fixture))
    #expect(source.cpuClock(clockTicksPerSecond: 100) != nil)
  }

  @Test func `PSS is read where there is a smaps_rollup, and refused in words elsewhere`() throws {
    var source = Fixture.redis.source
    let sampler = try ProcessSampler(source)
    #expect(try sampler.proportional(&source) > 0)
    var other = Fixture.zombie.source
    let bare = try ProcessSampler(other)
    #expect(throws: ReadingError.self) { try bare.proportional(&other) }
  }

  @Test func `a process that has gone cannot be opened`() {
    #expect(throws: ReadingError.gone) {
      _ = try ProcessSampler(ProcSource(root: "/no/such/proc", pid: ProcessID(1)))
    }
  }

  @Test(arguments: [
    (UInt64(3), 100, Int64(30_000_000)), (UInt64.max, 100, Int64.max), (3, 0, 3_000_000_000),
  ])
  func `a recorded clock counts ticks and never overflows`(
    ticks: UInt64, perSecond: Int, expected: Int64
  ) throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    let line = ScratchProc.stat(500, "a", parent: 1).replacing(
      " 10 0 0 0 0 0 ", with: " 10 0 0 0 \(ticks) 0 ")
    tree.write("500/stat", line)
    var source = tree.source
    #expect(source.cpuClock(clockTicksPerSecond: perSecond) == Nanoseconds(expected))
  }

  @Test func `the process's own files tell of its main thread while that lives`() throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1, name: "first")
    var source = tree.source
    var sampler = try ProcessSampler(source)
    #expect(sampler.leader == nil)
    _ = sampler.times(&source)
    _ = sampler.memory(at: Script.at(0), anyThread: nil, &source)
    #expect(sampler.leader?.name == Array("first".utf8))
    #expect(sampler.leader?.voluntarySwitches != nil)
    tree.write("500/stat", ScratchProc.stat(500, "fir)st", parent: 1))
    _ = sampler.times(&source)
    #expect(sampler.leader?.name == Array("fir)st".utf8))
    let zombie = ScratchProc.stat(500, "first", parent: 1).replacing(" S ", with: " Z ")
    tree.write("500/stat", zombie)
    _ = sampler.times(&source)
    #expect(sampler.leader == nil)
  }

  @Test func `the link is read again only when the stack, the code or the name is another`() throws
  {
    let tree = ScratchProc()
    func stat(_ name: String, code: Int, stack: Int) -> String {
      var fields = ScratchProc.stat(500, name, parent: 1).split(separator: " ").map(String.init)
      fields[25] = "\(code)"
      fields[27] = "\(stack)"
      return fields.joined(separator: " ")
    }
    tree.process(500, parent: 1)
    func link(_ path: String) {
      _ = Launching.runPlainly(["/bin/ln", "-sfn", path, "\(tree.root)/500/exe"])
    }
    var source = tree.source
    link("/bin/a")
    tree.write("500/stat", stat("a", code: 4096, stack: 8192))
    var sampler = try ProcessSampler(source)
    _ = sampler.times(&source)
    #expect(sampler.newExecutableIfLikely(source) == nil)
    link("/bin/b")
    _ = sampler.times(&source)
    #expect(sampler.newExecutableIfLikely(source) == nil)
    for (text, path) in [
      (stat("a", code: 4096, stack: 8208), "/bin/b"),
      (stat("a", code: 4112, stack: 8208), "/bin/c"),
      (stat("b", code: 4112, stack: 8208), "/bin/d"), (stat("b", code: 0, stack: 0), "/bin/e"),
      (stat("b", code: 0, stack: 0), "/bin/f"),
    ] {
      link(path)
      tree.write("500/stat", text)
      _ = sampler.times(&source)
      #expect(sampler.newExecutableIfLikely(source) == Array(path.utf8))
    }
  }

  @Test func `a program is new when the link is another one`() throws {
    let tree = ScratchProc()
    tree.process(500, parent: 1)
    var source = tree.source
    var sampler = try ProcessSampler(source)
    #expect(sampler.newExecutable(source) == nil)  // no link at all, as for a kernel thread
    _ = Launching.runPlainly(["/bin/ln", "-s", "/bin/other", "\(tree.root)/500/exe"])
    #expect(sampler.newExecutable(source) == Array("/bin/other".utf8))
    #expect(sampler.newExecutable(source) == nil)
    _ = sampler.times(&source)
  }
}
