// Captures of real threads: where they are, what is on their stacks, and that they do not notice.
// Safety: pointers handed to the C library are to local values.

@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable internal import ProbeCore

@Suite struct CaptureTests {
  /// Captures the main thread of a parked target once it is where it says.
  private static func capture(
    _ child: Child, _ request: CaptureRequest = CaptureRequest()
  ) async throws -> StackSnapshot {
    let (pid, tid) = (child.pid, child.main)
    return try await onTracer {
      var capturer = try StackCapturer(pid)
      return try capturer.capture(tid, request)
    }
  }

  private static func refusal(
    _ child: Child, _ request: CaptureRequest = CaptureRequest()
  ) async throws -> CaptureRefusal? {
    do {
      _ = try await capture(child, request)
      return nil
    } catch let refusal as CaptureRefusal {
      return refusal
    }
  }

  private static func parked(_ what: String) async throws -> Child {
    let child = try await Child("capture_parked", [what])
    try await eventually("it waits in \(what)") {
      let line = Scratch.text("/proc/\(child.pid)/syscall")
      return what == "busy" || what == "traced"
        // Not any more in the write that said so (call 1).
        ? line.hasPrefix("running") : line.first?.isNumber == true && !line.hasPrefix("1 ")
    }
    return child
  }

  private static func expectPattern(_ snapshot: StackSnapshot, _ child: Child) throws {
    let numbers = child.numbers
    try #require(numbers.count == 2)
    #expect(snapshot.holdsPattern(at: numbers[0], count: numbers[1]))
    let stack = try #require(snapshot.regions.first)
    let pointer = snapshot.registers.stackPointer
    #expect(stack.start == pointer - 128)
    #expect(pointer < numbers[0])
    #expect(snapshot.regions.count == 1)
  }

  @Test(arguments: ["poll", "read", "nanosleep", "futex", "epoll", "recv"])
  func `a blocked thread gives its stack without a stop`(what: String) async throws {
    try await Lane.shared {
      let child = try await Self.parked(what)
      let snapshot = try await Self.capture(child)
      #expect(snapshot.stopTime == .zero)
      try Self.expectPattern(snapshot, child)
      let line = Scratch.text("/proc/\(child.pid)/syscall").split(separator: " ")
      #expect(
        line.dropLast().last.map(String.init)
          == "0x" + String(snapshot.registers.stackPointer, radix: 16))
      #expect(snapshot.registers[6] == nil)
      try await child.end()
    }
  }

  @Test func `a running thread gives all registers in one stop`() async throws {
    try await Lane.shared {
      let child = try await Self.parked("busy")
      let snapshot = try await Self.capture(child)
      #expect(snapshot.stopTime > .zero)
      try Self.expectPattern(snapshot, child)
      let count = snapshot.registers.machine.registerCount
      #expect((0..<count).allSatisfy { snapshot.registers[$0] != nil })
      #expect(Child.isFree("\(child.pid)"))
      // The program counter is in the program itself, where nothing but the loop is.
      let maps = Scratch.text("/proc/\(child.pid)/maps").split(separator: "\n")
      let counter = snapshot.registers.programCounter
      let home = maps.first { line in
        let ends = line.prefix { $0 != " " }.split(separator: "-").map { UInt64($0, radix: 16)! }
        return ends[0] <= counter && counter < ends[1]
      }
      #expect(home?.hasSuffix("capture_parked") == true)
      try await child.end()
    }
  }

  @Test(arguments: ["poll", "read", "nanosleep", "futex"])
  func `registers of a blocked thread equal what proc says`(what: String) async throws {
    try await Lane.shared {
      let child = try await Self.parked(what)
      let plain = try await Self.capture(child)
      let full = try await Self.capture(child, CaptureRequest(needsRegisters: true))
      #expect(full.stopTime > .zero)
      #expect(full.registers.stackPointer == plain.registers.stackPointer)
      #expect(full.registers.programCounter == plain.registers.programCounter)
      #expect(full.registers[full.registers.machine.framePointerIndex] != nil)
      // Below the stack pointer nothing is kept.
      #expect(full.regions.first?.bytes.dropFirst(128) == plain.regions.first?.bytes.dropFirst(128))
      try await child.end()
    }
  }

  @Test(arguments: [("epoll", "epoll_wait"), ("recv", "recvfrom")])
  func `registers that would cost an EINTR are refused`(what: String, call: String) async throws {
    try await Lane.shared {
      let child = try await Self.parked(what)
      #expect(
        try await Self.refusal(child, CaptureRequest(needsRegisters: true))
          == .wouldInterrupt(call: call))
      try await child.end()
    }
  }

  @Test func `a vfork parent is read, and not waited for`() async throws {
    try await Lane.shared {
      let child = try await Self.parked("vfork")
      try Self.expectPattern(try await Self.capture(child), child)
      #expect(
        try await Self.refusal(child, CaptureRequest(needsRegisters: true)) == .uninterruptible)
      try await child.end()
    }
  }

  /// The plan would refuse; this is what happens when a thread gets there after the plan was made.
  @Test func `a stop that does not come is given up, and does not strike later`() async throws {
    try await Lane.shared {
      let child = try await Self.parked("vfork")
      let (pid, tid) = (child.pid, child.main)
      let began = Clock.now()
      let failure = try await onTracer {
        let file = try Syscalls.open("/proc/\(pid)/syscall", flags: O_RDONLY)
        let condition = StopCondition(
          line: file.raw, expected: try InputFile.read("/proc/\(pid)/syscall"), processor: -1,
          restartable: [])
        var tracer = TaskTracer()
        do throws(StopFailure) {
          _ = try tracer.stop(tid, if: condition, CopyExtent(), limit: .milliseconds(50))
          return StopFailure?.none
        } catch {
          return error
        }
      }
      #expect(failure == .timedOut)
      #expect(Clock.now() - began < .seconds(5))
      #expect(Child.isFree("\(pid)"))
      // The child of vfork ends, and then the parent runs on.
      let children = Scratch.text("/proc/\(pid)/task/\(pid)/children").split(separator: " ")
      for other in children.compactMap({ Int32($0) }) { kill(other, SIGKILL) }
      try await eventually("the parent runs") {
        Scratch.text("/proc/\(pid)/syscall").hasPrefix("running")
      }
      #expect(Child.isFree("\(pid)"))
      try await child.end()
    }
  }

  @Test func `a missed address gives a second region`() async throws {
    try await Lane.shared {
      let child = try await Self.parked("altstack")
      let numbers = child.numbers
      let request = CaptureRequest(
        extent: CopyExtent(stackBytes: 8192, extraRegionAt: numbers[0] + 12))
      let snapshot = try await Self.capture(child, request)
      #expect(snapshot.holdsPattern(at: numbers[0], count: numbers[1]))
      #expect(snapshot.regions.count == 2)
      let starts = snapshot.regions.map(\.start)
      #expect(starts == starts.sorted())
      #expect(snapshot.regions[0].end <= snapshot.regions[1].start)
      #expect(
        snapshot.regions.contains {
          $0.start <= snapshot.registers.stackPointer && snapshot.registers.stackPointer < $0.end
            && $0.bytes.count == 8192
        })
      try await child.end()
    }
  }

  @Test func `an address nowhere gives no second region, and one inside the first neither`()
    async throws
  {
    try await Lane.shared {
      let child = try await Self.parked("poll")
      for address in [1, 4096, child.numbers[0], UInt64.max, 1 << 63] as [UInt64] {
        let extent = CopyExtent(extraRegionAt: address)
        let snapshot = try await Self.capture(child, CaptureRequest(extent: extent))
        try Self.expectPattern(snapshot, child)
      }
      try await child.end()
    }
  }

  @Test(arguments: ["poll", "epoll", "busy"])
  func `a stopped thread stays stopped until SIGCONT`(what: String) async throws {
    try await Lane.shared {
      let child = try await Self.parked(what)
      child.signal(SIGSTOP)
      try await eventually("it stops") { Process.state(child.pid.rawValue) == "T" }
      let plain = try await Self.capture(child)
      #expect(plain.stopTime == .zero)
      try Self.expectPattern(plain, child)
      let full = try await Self.capture(child, CaptureRequest(needsRegisters: true))
      #expect(full.registers.stackPointer == plain.registers.stackPointer)
      #expect(full.registers.programCounter == plain.registers.programCounter)
      try await eventually("it is stopped again") { Process.state(child.pid.rawValue) == "T" }
      #expect(Scratch.text("/proc/\(child.pid)/status").contains("TracerPid:\t0\n"))
      child.signal(SIGCONT)
      try await eventually("it goes on") {
        // epoll_wait fails with EINTR after SIGSTOP and SIGCONT, with us or without.
        Process.state(child.pid.rawValue) == (what == "poll" ? "S" : "R")
      }
      try await child.end()
    }
  }

  @Test func `what another traces is said, and so is what is gone`() async throws {
    try await Lane.shared {
      let child = try await Self.parked("traced")
      try await eventually("it is traced and runs") {
        !Scratch.text("/proc/\(child.pid)/status").contains("TracerPid:\t0\n")
          && Scratch.text("/proc/\(child.pid)/syscall").hasPrefix("running")
      }
      let children = Scratch.text("/proc/\(child.pid)/task/\(child.pid)/children")
      let tracer = ProcessID(try #require(Int32(children.filter(\.isNumber))))
      #expect(try await Self.refusal(child) == .traced(by: tracer))
      try await child.end()
      #expect(try await Self.refusal(child) == .gone)
    }
  }

  @Test func `a thread of the kernel has no stack of ours`() async throws {
    let refusal = try await onTracer {
      var capturer = try StackCapturer(ProcessID(2))
      do throws(CaptureRefusal) {
        _ = try capturer.capture(ThreadID(2))
        return CaptureRefusal?.none
      } catch {
        return error
      }
    }
    #expect(refusal == .kernelThread || refusal == .notPermitted)
  }

  /// What the stall detector takes off the counters: see `OwnStops`.
  @Test func `each stop of a running thread counts as one sleep in its counters`() async throws {
    try await Lane.shared {
      let child = try await Child("capture_parked", ["busy"])
      let (pid, tid) = (child.pid, child.main)
      func sleeps() throws -> UInt64 {
        let bytes = try InputFile.read("/proc/\(pid)/task/\(tid)/status")
        return try TaskStatus(bytes.span).voluntarySwitches ?? 0
      }
      let before = try sleeps()
      let stops = try await onTracer {
        var capturer = try StackCapturer(pid)
        var stops: UInt64 = 0
        // Without a stop it is not what is counted here.
        for _ in 0..<1000 where stops < 200 {
          if try capturer.capture(tid).stopTime > .zero { stops += 1 }
        }
        return stops
      }
      #expect(stops == 200)
      #expect(try sleeps() - before == stops)
      try await child.end()
    }
  }
}
