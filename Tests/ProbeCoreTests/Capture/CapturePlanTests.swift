// What is done about a thread, for every state and every kind of call.

import Testing

@testable import ProbeCore

@Suite struct CapturePlanTests {
  private static func inside(_ number: Int32, first: UInt64 = 3, sp: UInt64 = 0x7ffd_0000_1000)
    -> SyscallLine
  {
    .inside(
      SyscallLine.Call(
        number: Int64(number),
        arguments: .init(first: first, second: 0, third: 0, fourth: 0, fifth: 0, sixth: 0),
        stackPointer: sp, programCounter: 0x40_1000))
  }

  /// Not every architecture has every call; each has to be in a table.
  private static func number(_ name: String) throws -> Int32 {
    let tables: [any NumberedCall] = InterruptedCalls.all + WaitCalls.all
    let call = try #require(tables.first { $0.name == name })
    guard let number = call.number else { try Test.cancel("there is no \(name) here") }
    return number
  }

  private static func plan(
    _ state: Character?, _ line: SyscallLine, registers: Bool = false, sockets: Set<UInt64> = []
  ) -> CapturePlan {
    CapturePlan(
      line: line, needsRegisters: registers, state: { state?.asciiValue },
      isSocket: { sockets.contains($0) })
  }

  private static let untouched = CapturePlan.withoutStop(
    stackPointer: 0x7ffd_0000_1000, programCounter: 0x40_1000)
  private static let outside = SyscallLine.outside(
    stackPointer: 0x7ffd_0000_1000, programCounter: 0x40_1000)

  /// D covers disk, a vfork parent and the freezer of cgroup 1; that of cgroup 2 shows as S.
  @Test(arguments: ["S", "D", "T", "t", "R"] as [Character])
  func `a blocked thread is never stopped for its stack`(state: Character) throws {
    #expect(Self.plan(state, Self.inside(7)) == Self.untouched)
    #expect(Self.plan(state, Self.outside) == Self.untouched)
    for call in InterruptedCalls.all {
      if let number = call.number {
        #expect(Self.plan(state, Self.inside(number)) == Self.untouched)
      }
    }
  }

  @Test func `the state is not asked for where it does not matter`() {
    let plan = CapturePlan(
      line: Self.outside, needsRegisters: false,
      state: {
        Issue.record("asked")
        return nil
      }, isSocket: { _ in false })
    #expect(plan == Self.untouched)
  }

  @Test(arguments: [false, true])
  func `a running thread is stopped`(registers: Bool) {
    #expect(Self.plan("R", .running, registers: registers) == .stop)
    // The letter was read a moment after the line.
    #expect(Self.plan("S", .running, registers: registers) == .stop)
    #expect(Self.plan("D", .running, registers: registers) == .stop)
    #expect(Self.plan("T", .running, registers: registers) == .stop)
  }

  @Test(arguments: [("Z", true), ("X", true), (nil, true), ("I", false)] as [(Character?, Bool)])
  func `what has no stack is refused`(state: Character?, isGone: Bool) {
    let empty = SyscallLine.outside(stackPointer: 0, programCounter: 0)
    let refusal = CapturePlan.refuse(isGone ? .gone : .kernelThread)
    #expect(Self.plan(state, empty) == refusal)
    #expect(Self.plan(state, .running) == refusal)
    #expect(Self.plan(state, empty, registers: true) == refusal)
  }

  @Test(arguments: ["S", "D", "R"] as [Character])
  func `a sleeping thread without a user stack is one of the kernel's`(state: Character) {
    #expect(Self.plan(state, Self.inside(0, sp: 0)) == .refuse(.kernelThread))
    #expect(
      Self.plan(state, .outside(stackPointer: 0, programCounter: 0), registers: true)
        == .refuse(.kernelThread))
  }

  @Test(arguments: ["poll", "ppoll", "futex", "nanosleep", "wait4", "pause", "msgrcv"])
  func `registers of a thread in a call that goes on unnoticed take a stop`(name: String) throws {
    let call = try Self.number(name)
    #expect(Self.plan("S", Self.inside(call), registers: true) == .stop)
  }

  @Test(
    arguments: [
      "epoll_wait", "epoll_pwait", "epoll_pwait2", "rt_sigtimedwait", "semop", "semtimedop",
      "io_getevents", "io_uring_enter", "ioctl",
    ])
  func `no stop in a call that would answer EINTR`(name: String) throws {
    let call = try Self.number(name)
    #expect(
      Self.plan("S", Self.inside(call), registers: true) == .refuse(.wouldInterrupt(call: name)))
    // In a group stop it has been interrupted already.
    #expect(Self.plan("T", Self.inside(call), registers: true) == .stop)
  }

  @Test(
    arguments: [
      "read", "readv", "write", "writev", "sendfile", "recvfrom", "recvmsg", "recvmmsg", "sendto",
      "sendmsg", "sendmmsg", "accept", "accept4", "connect",
    ])
  func `sockets may have a time-out, other files do not`(name: String) throws {
    let line = Self.inside(try Self.number(name), first: 5)
    #expect(
      Self.plan("S", line, registers: true, sockets: [5])
        == .refuse(.wouldInterrupt(call: name)))
    #expect(Self.plan("S", line, registers: true, sockets: [6]) == .stop)
  }

  @Test func `registers that nobody can have now are refused`() {
    #expect(Self.plan("D", Self.inside(58), registers: true) == .refuse(.uninterruptible))
    #expect(Self.plan("D", Self.outside, registers: true) == .refuse(.uninterruptible))
    #expect(Self.plan("t", Self.outside, registers: true) == .refuse(.traced(by: nil)))
    #expect(Self.plan("t", .running) == .refuse(.traced(by: nil)))
  }

  @Test func `no call is listed twice, and the numbers are those of the waits`() {
    let all = InterruptedCalls.all
    #expect(Set(all.map(\.name)).count == all.count)
    for numbers in [all.compactMap(\.x86), all.compactMap(\.arm)] {
      #expect(Set(numbers).count == numbers.count)
    }
    for call in all {
      guard let wait = WaitCalls.all.first(where: { $0.name == call.name }) else { continue }
      #expect(call.x86 == wait.x86 && call.arm == wait.arm, "\(call.name)")
    }
    #expect(!InterruptedCalls.restartable.contains(Int32(bitPattern: 3)))  // close
  }
}
