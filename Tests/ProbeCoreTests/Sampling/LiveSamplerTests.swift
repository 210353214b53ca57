// The samplers over real processes: our own, in a process of its own, so that counts are exact.

import Glibc
import Testing

@testable import ProbeCore

@Suite struct LiveSamplerTests {
  @Test func `fifty parked threads cost nothing, and one that wakes is charged in the next tick`()
    async
  {
    await #expect(processExitsWith: .success) {
      let gates = try Gates(50)
      var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
      var sampler = try ThreadSampler(source)
      var out = ByteWriter()
      func once(_ isFirst: Bool = false) -> [ProbeEvent] {
        // We are the busy thread ourselves, so the clock never stands still: a frozen one of what
        // the threads had used stands for a target's.
        let clock = Clock.processCPU(OwnProcess.pid)
        _ = sampler.tick(
          at: Clock.now(), late: .zero, skipped: 0, clock: clock, clockAgain: { clock },
          isFirst: isFirst, &source, into: &out)
        return events(&out)
      }
      _ = once(true)
      for _ in 0..<3 { _ = once() }
      gates.serve(7)
      let charged = once().lastTick?.threads.map(\.tid.rawValue) ?? []
      #expect(charged.contains(gates.tid(7)))
      gates.finish()
    }
  }

  @Test func `a launched process with parked threads is read by its busy ones only`() throws {
    let spinner =
      "import threading,time\n"
      + "e=threading.Event()\n"
      + "[threading.Thread(target=e.wait,daemon=True).start() for _ in range(50)]\n"
      + "print('ready',flush=True)\n"
      + "t=time.monotonic()\n"
      + "while time.monotonic()-t<30: time.sleep(0.005)\n"
    guard Launching.exists("/usr/bin/python3") else {
      print("skipped: no python3")
      return
    }
    let request = try Launching.request("/usr/bin/python3", "-c", spinner)
    let running = try request.hold().release()
    let reads = try? readsOfTwentyTicks(running.pid)
    // Reaped in any case: the library's own wait for exit tests stumbles over a child that is left.
    try running.signal(SIGKILL)
    _ = try running.reap()
    // 51 threads in 20 ticks would be 1020 reads. The main thread alone is 20; it may be caught
    // running now and then, which proves nothing, so that all are read.
    #expect(try #require(reads) < 510)
  }

  private func readsOfTwentyTicks(_ pid: ProcessID) throws -> Int {
    let ready = Launching.eventually {
      (try? NumberedDirectory("/proc/\(pid)/task").linkCount()) == 53 ? true : nil
    }
    try #require(ready == true)
    var source = ProcSource(root: "/proc", pid: pid)
    var sampler = try ThreadSampler(source)
    var out = ByteWriter()
    var warm = 0
    for round in 0..<26 {
      if round > 0 { usleep(12_000) }
      if round == 6 { warm = sampler.reads }
      _ = sampler.tick(
        at: Clock.now(), late: .zero, skipped: 0, clock: Clock.processCPU(pid),
        clockAgain: { Clock.processCPU(pid) }, isFirst: round == 0, &source, into: &out)
      out.removeAll()
    }
    #expect(sampler.count == 51)
    return sampler.reads - warm
  }

  @Test func `samplers give every descriptor back`() async {
    await #expect(processExitsWith: .success) {
      let gates = try Gates(20)
      func cycle() throws {
        var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
        var sampler = try ThreadSampler(source)
        var process = try ProcessSampler(source)
        var tree = TreeSampler(source, isLaunched: false)
        var out = ByteWriter()
        for isFirst in [true, false] {
          _ = sampler.tick(
            at: Clock.now(), late: .zero, skipped: 0, clock: nil, clockAgain: { nil },
            isFirst: isFirst, &source, into: &out)
          _ = process.memory(at: Clock.now(), anyThread: sampler.anyThread, &source)
          _ = tree.round(at: Clock.now(), isFirst: isFirst, isSlow: true, &source, into: &out)
        }
        _ = sampler.slowBeat(&source, into: &out)
        _ = try? PidFD(OwnProcess.pid)
        if let records = try? TaskRecords(OwnProcess.pid, cpus: HostInfo.configuredCPUs) {
          _ = records.cpu()
        }
        let queue = EventQueue()
        queue.append(&out)
        _ = try WatchControl()
        _ = try? OutputFile("/no/such/folder/file")
        _ = try OutputFile("/tmp/perfwatch-descriptors-\(OwnProcess.pid)")
      }
      try cycle()
      let before = openDescriptors()
      for _ in 0..<50 { try cycle() }
      #expect(openDescriptors() == before)
      gates.finish()
    }
  }
}

private func openDescriptors() -> Int { (0..<1024).count { fcntl(Int32($0), F_GETFD) >= 0 } }

/// Threads that each wait at a gate and work a little when it opens.
private final class Gates: Sendable {
  private let gates: [(read: Int32, write: Int32)]
  private let served: (read: Int32, write: Int32)
  private let tids: [Int32]

  init(_ count: Int) throws {
    func pair() -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      precondition(unsafe pipe(&ends) == 0)
      return (ends[0], ends[1])
    }
    gates = (0..<count).map { _ in pair() }
    served = pair()
    var before: [Int32] = []
    var folder = try NumberedDirectory("/proc/self/task")
    try folder.list(into: &before)
    let answer = served.write
    for gate in gates {
      // The thread runs until its gate is taken away; nobody joins it.
      _ = try OSThread(name: "parked") {
        var byte: UInt8 = 0
        while unsafe read(gate.read, &byte, 1) == 1 {
          let end = Clock.now() + .milliseconds(5)
          while Clock.now() < end {}
          _ = unsafe write(answer, &byte, 1)
        }
      }
    }
    // All are there and asleep before anything is measured.
    var parked: [Int32] = []
    _ = try Launching.eventually { () throws -> Bool? in
      var now: [Int32] = []
      try folder.list(into: &now)
      parked = now.filter { tid in
        let folder = "/proc/self/task/\(tid)"
        return Launching.contents(folder + "/comm") == "parked\n"
          && Launching.contents(folder + "/stat").contains(") S ")
      }
      return parked.count == count ? true : nil
    }
    tids = parked.sorted()
  }

  func tid(_ index: Int) -> Int32 { tids[index] }

  /// Opens one gate and waits until its thread has done its work.
  func serve(_ index: Int) {
    var byte: UInt8 = 1
    _ = unsafe write(gates[index].write, &byte, 1)
    _ = unsafe read(served.read, &byte, 1)
  }

  func finish() { for gate in gates { close(gate.write) } }
}
