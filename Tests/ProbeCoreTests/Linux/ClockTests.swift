@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

@Suite struct ClockTests {
  @Test func `our own CPU grows with work, and our process clock is the same`() throws {
    let before = Clock.ownCPU()
    let end = Clock.now() + .milliseconds(20)
    while Clock.now() < end {}
    let own = Clock.ownCPU()
    let clock = try #require(Clock.processCPU(OwnProcess.pid))
    // Of 20 ms on the clock some are CPU even on a machine that others use.
    #expect(own > before)
    #expect(clock >= own)
    #expect(clock - own < .seconds(5))
  }

  @Test func `nobody has no clock`() {
    // One more than PID_MAX_LIMIT of the kernel.
    #expect(Clock.processCPU(ProcessID(4_194_305)) == nil)
    #expect(Clock.processCPU(ProcessID(-5)) == nil)
  }

  @Test func `a zombie's clock can be read until it is reaped`() throws {
    let running = try Launching.request(
      "/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
    )
    .hold().release()
    var set = PollSet([running.pidfd])
    set.wait(.seconds(20))
    try #require(set.isReady(0))
    let clock = try #require(Clock.processCPU(running.pid))
    #expect(clock > .zero)
    let pid = running.pid
    let reaped = try running.reap()
    // The same CPU by another way; wait4 has it in microseconds.
    #expect(abs((reaped.user + reaped.system - clock).inMilliseconds) < 5)
    #expect(Clock.processCPU(pid) == nil)
  }

  @Test func `the monotonic clock never goes back, the wall clock is of this century`() {
    var last = Clock.now()
    for _ in 0..<1000 {
      let now = Clock.now()
      #expect(now >= last)
      last = now
    }
    #expect(CivilTime.iso8601(Clock.wallClock()).hasPrefix("20"))
  }
}

@Suite struct PidFDTests {
  @Test func `it is readable when the process ends, and tells how where the kernel does`() throws {
    let running = try Launching.request("/bin/sh", "-c", "exit 7").hold().release()
    let handle = try PidFD(running.pid)
    var set = PollSet([handle.raw])
    set.wait(.seconds(20))
    #expect(set.isReady(0))
    _ = try running.reap()
    let status = PidFD.exitStatus(handle.raw)
    #expect(status == nil || status == .code(7))
  }

  @Test func `a living process is not readable and has no status`() throws {
    let handle = try PidFD(OwnProcess.pid)
    var set = PollSet([handle.raw])
    set.wait(.zero)
    #expect(!set.isReady(0))
    #expect(PidFD.exitStatus(handle.raw) == nil)
  }

  @Test func `nobody and nonsense are refused`() {
    for pid in [Int32.max, 0, -1] {
      #expect(throws: SystemError.self) { _ = try PidFD(ProcessID(pid)) }
    }
  }

  @Test(
    arguments: [
      (0x0700, .code(7)), (0, .code(0)), (0xff00, .code(255)), (9, .signal(9)),
      (0x8b, .signal(11)),  // with a core dump
    ] as [(Int32, ProbeCore.ExitStatus)])
  func `a wait status is taken apart`(status: Int32, means: ProbeCore.ExitStatus) {
    #expect(ExitStatus(waitStatus: status) == means)
  }
}

@Suite struct DirectoryTests {
  @Test func `only numbers that fit are entries, again and again`() throws {
    let tree = ScratchProc()
    for name in ["7", "0012", "99999999999", "-3", "4x", "self", "2147483647", "2147483648"] {
      tree.write(name, "")
    }
    var directory = try NumberedDirectory(tree.root)
    var numbers: [Int32] = [1, 2, 3]
    for _ in 0..<2 {
      try directory.list(into: &numbers)
      #expect(Set(numbers) == [500, 7, 12, .max])
    }
  }

  // 32 KiB hold fewer of them, so they come in more than one piece.
  @Test func `1500 entries come in one list`() throws {
    let tree = ScratchProc()
    #expect(
      Launching.runPlainly(["/bin/sh", "-c", "cd \"$0\" && seq 1000 2499 | xargs touch", tree.root])
        == .code(0))
    var directory = try NumberedDirectory(tree.root)
    var numbers: [Int32] = []
    try directory.list(into: &numbers)
    #expect(Set(numbers) == Set([500] + (1000..<2500)))
  }
}
