// What is read of living threads: where they wait, what for, whether they run or are stopped.

@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

@Suite struct LoopSamplerTests {
  typealias Flag = OwnThread.Flag

  /// Probes a thread until the state is the wanted one, at most five seconds, and returns the last probe.
  private static func probe(
    _ tid: ThreadID, of pid: ProcessID = OwnProcess.pid,
    until isRight: (ThreadProbe.State) -> Bool
  ) throws -> ThreadProbe {
    var source = ProcSource(root: "/proc", pid: pid)
    var sampler = try LoopSampler(tid, &source)
    var probe = try sampler.probe(&source)
    for _ in 0..<5000 where !isRight(probe.state) {
      usleep(1000)
      probe = try sampler.probe(&source)
    }
    return probe
  }

  private static func wait(_ state: ThreadProbe.State) -> Wait? {
    if case .waiting(let wait) = state { return wait }
    return nil
  }

  // MARK: Waits

  @Test(arguments: [false, true])
  func `a thread in poll waits idly, and unmoved it shows the same numbers`(
    isPselect: Bool
  ) throws {
    let ends = Pipe()
    let thread = OwnThread {
      if isPselect {
        var set = fd_set()
        unsafe withUnsafeMutableBytes(of: &set) { bytes in
          unsafe bytes[Int(ends.output) / 8] |= 1 << UInt8(ends.output % 8)
        }
        _ = unsafe select(ends.output + 1, &set, nil, nil, nil)
      } else {
        var item = pollfd(fd: ends.output, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&item, 1, -1)
      }
    }
    let first = try Self.probe(thread.tid) { Self.wait($0)?.waitClass == .idle }
    let second = try Self.probe(thread.tid) { Self.wait($0)?.waitClass == .idle }
    let wait = try #require(Self.wait(first.state))
    #expect(wait.waitClass == .idle)
    #expect(wait.category == .idle)
    #expect(
      (isPselect ? ["select", "pselect6"] : ["poll", "ppoll"]).contains(
        WaitCalls.name(wait.site.call)))
    #expect(wait.site.stackPointer > 0 && wait.site.programCounter > 0)
    #expect(first.state == second.state)
    #expect(first.slices == second.slices)
    #expect(first.sleeps == second.sleeps)
    #expect(first.cpu == second.cpu)
    #expect(first.at < second.at)
    ends.release()
    thread.join()
  }

  @Test func `a read of a pipe may be a home, one of a regular file never`() throws {
    let ends = Pipe()
    let thread = OwnThread { ends.take() }
    let probe = try Self.probe(thread.tid) { Self.wait($0) != nil }
    let wait = try #require(Self.wait(probe.state))
    #expect(WaitCalls.name(wait.site.call) == "read")
    #expect(wait.waitClass == .learnable)
    #expect(wait.category == .pipe)
    ends.release()
    thread.join()

    var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
    var sampler = try LoopSampler(OwnProcess.thread, &source)
    let file = try Syscalls.open("/proc/self/exe", flags: O_RDONLY)
    let read = try #require(WaitCalls.all.first { $0.name == "read" }?.number)
    let seen = sampler.wait(read, [UInt64(file.raw), 0, 0, 0], 1, 2, source)
    #expect(seen.category == .disk)
    #expect(seen.waitClass == .never)
  }

  @Test func `a read of a socket waits for a socket`() throws {
    let ends = Pipe(isSocket: true)
    let thread = OwnThread { ends.take() }
    let wait = Self.wait(try Self.probe(thread.tid) { Self.wait($0) != nil }.state)
    #expect(wait?.category == .socket)
    #expect(wait?.waitClass == .learnable)
    ends.release()
    thread.join()
  }

  @Test func `nanosleep sleeps`() throws {
    let stop = Flag()
    let thread = OwnThread { while !stop.isSet { usleep(20_000) } }
    let wait = Self.wait(try Self.probe(thread.tid) { Self.wait($0)?.category == .sleep }.state)
    #expect(wait?.waitClass == .learnable)
    #expect(wait.map { WaitCalls.name($0.site.call).hasSuffix("nanosleep") } == true)
    stop.set()
    thread.join()
  }

  @Test func `waiting for another thread's end is told from a lock`() throws {
    let stop = Flag()
    let worker = OwnThread { while !stop.isSet { usleep(2000) } }
    let joiner = OwnThread { worker.join() }
    let joining = Self.wait(try Self.probe(joiner.tid) { Self.wait($0)?.category == .join }.state)
    #expect(joining?.category == .join)
    #expect(joining.map { WaitCalls.name($0.site.call) } == "futex")

    let lock = Lock()
    lock.take()
    let waiter = OwnThread {
      lock.take()
      lock.give()
    }
    let locked = Self.wait(try Self.probe(waiter.tid) { Self.wait($0)?.category == .lock }.state)
    #expect(locked?.category == .lock)
    #expect(locked?.waitClass == .learnable)
    lock.give()
    waiter.join()
    stop.set()
    joiner.join()
  }

  @Test func `a thread that spins runs, and its numbers grow`() throws {
    let stop = Flag()
    let thread = OwnThread { while !stop.isSet {} }
    var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
    var sampler = try LoopSampler(thread.tid, &source)
    let first = try sampler.probe(&source)
    usleep(60_000)
    let second = try sampler.probe(&source)
    #expect(second.state == .running)
    #expect(second.cpu + second.runDelay > first.cpu + first.runDelay + .ms(20))
    #expect(second.userTicks != nil && second.ioCalls != nil)
    #expect(!second.isExiting)
    stop.set()
    thread.join()
  }

  @Test func `a thread that is gone says so`() throws {
    let stop = Flag()
    let thread = OwnThread { while !stop.isSet { usleep(500) } }
    var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
    var sampler = try LoopSampler(thread.tid, &source)
    stop.set()
    thread.join()
    // The kernel needs a moment to forget it.
    var failure: ReadingError?
    for _ in 0..<2000 where failure == nil {
      do throws(ReadingError) {
        _ = try sampler.probe(&source)
        usleep(1000)
      } catch {
        failure = error
      }
    }
    #expect(failure == .gone)
    do throws(ReadingError) {
      _ = try LoopSampler(thread.tid, &source)
      Issue.record("it is gone")
    } catch {
      #expect(error == .gone)
    }
  }

  // MARK: Another process

  @Test func `a stopped process is stopped, and goes on in the wait where it was`() throws {
    let held = try Launching.request(Launching.target("sleeper"), "/dev/null", "7", "20000").hold()
    let pid = held.pid
    let target = try held.release()
    let tid = ThreadID(pid.rawValue)
    let before = try Self.probe(tid, of: pid) { Self.wait($0)?.category == .sleep }
    #expect(Self.wait(before.state)?.category == .sleep)
    try target.signal(SIGSTOP)
    let stopped = try Self.probe(tid, of: pid) { $0 == .stopped }
    #expect(stopped.state == .stopped)
    try target.signal(SIGCONT)
    let after = try Self.probe(tid, of: pid) { Self.wait($0)?.category == .sleep }
    #expect(Self.wait(after.state)?.site == Self.wait(before.state)?.site)
    try target.signal(SIGKILL)
    #expect(try target.reap().status == .signal(SIGKILL))
  }

  @Test func `a wait that a stop interrupted is the same wait`() throws {
    let source = ProcSource(root: "/proc", pid: OwnProcess.pid)
    var mine = ProcSource(root: "/proc", pid: OwnProcess.pid)
    var sampler = try LoopSampler(OwnProcess.thread, &mine)
    let poll = try #require(WaitCalls.all.first { $0.name == "ppoll" }?.number)
    let first = sampler.wait(poll, [0, 0, 0, 0], 1000, 2000, source)
    #expect(first.waitClass == .idle)
    #expect(sampler.wait(WaitCalls.restart, [0, 0, 0, 0], 1000, 2000, source) == first)
    // Somewhere else it is not known what goes on.
    let other = sampler.wait(WaitCalls.restart, [0, 0, 0, 0], 1000, 2004, source)
    #expect(other.waitClass == .never)
    #expect(sampler.wait(5000, [0, 0, 0, 0], 1, 2, source).category == .other)
  }

  @Test func `samplers leave no descriptor open`() async {
    await #expect(processExitsWith: .success) {
      func count() -> Int {
        var numbers: [Int32] = []
        do {
          var directory = try NumberedDirectory("/proc/self/fd")
          try directory.list(into: &numbers)
        } catch {
          preconditionFailure("\(error)")
        }
        return numbers.count
      }
      func sampleOnce() {
        var source = ProcSource(root: "/proc", pid: OwnProcess.pid)
        var sampler = try? LoopSampler(OwnProcess.thread, &source)
        _ = try? sampler?.probe(&source)
        // Fails in the middle: the first file is there in no case.
        _ = try? LoopSampler(ThreadID(1 << 22), &source)
      }
      sampleOnce()
      let before = count()
      for _ in 0..<200 { sampleOnce() }
      let after = count()
      // The runtime may open one or two of its own meanwhile; a leak would be 200.
      precondition(before > 0 && after < before + 50, "\(before) before, \(after) after")
    }
  }
}

/// Two ends, one of which a thread waits at.
private final class Pipe: Sendable {
  let output: Int32
  private let input: Int32

  init(isSocket: Bool = false) {
    var ends: [Int32] = [-1, -1]
    let result =
      unsafe isSocket
      ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
    precondition(result == 0, "no pipe: \(errno)")
    output = ends[0]
    input = ends[1]
  }

  func take() {
    var byte: UInt8 = 0
    _ = unsafe Glibc.read(output, &byte, 1)
  }

  func release() {
    var byte: UInt8 = 1
    _ = unsafe Glibc.write(input, &byte, 1)
  }

  deinit {
    close(output)
    close(input)
  }
}

/// A mutex that a thread can be made to wait for. Safety: its memory lives as long as it does.
@safe private final class Lock: Sendable {
  private nonisolated(unsafe) let raw: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    unsafe raw = .allocate(capacity: 1)
    unsafe raw.initialize(to: pthread_mutex_t())
    _ = unsafe pthread_mutex_init(raw, nil)
  }

  func take() { _ = unsafe pthread_mutex_lock(raw) }
  func give() { _ = unsafe pthread_mutex_unlock(raw) }

  deinit {
    _ = unsafe pthread_mutex_destroy(raw)
    unsafe raw.deallocate()
  }
}
