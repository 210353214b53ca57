// The waits of our own test process: threads that we park ourselves are found with their objects.

import Testing

@testable import ProbeCore

@Suite struct WaitFinderTests {
  private let own = OwnProcess.pid

  @Test func `a thread that is not in a call has no wait`() {
    var finder = WaitFinder(own)
    let tid = ThreadID(own.rawValue)
    #expect(finder.find(tid, .running, at: Clock.now()) == nil)
    #expect(
      finder.find(tid, .outside(stackPointer: 1, programCounter: 2), at: Clock.now()) == nil)
  }

  @Test func `a wait that is over when it was looked at is dropped`() {
    // The line is one that no thread of ours is in.
    let call = SyscallLine.Call(
      number: 0,
      arguments: .init(first: 0, second: 1, third: 2, fourth: 3, fifth: 4, sixth: 5),
      stackPointer: 12345, programCounter: 67890)
    var finder = WaitFinder(own)
    #expect(finder.find(ThreadID(own.rawValue), .inside(call), at: Clock.now()) == nil)
  }

  @Test func `a process is told by name and redacted command, one that is gone is not`() {
    let process = Neighbours.process(own)
    #expect(process?.pid == own.rawValue && process?.name.isEmpty == false)
    #expect(Neighbours.process(ProcessID(.max)) == nil)
  }

  @Test func `nobody holds an object that does not exist`() {
    let near = Neighbours(own, ThreadID(own.rawValue))
    #expect(near.holder(of: "pipe:[18446744073709551615]", .writing) == nil)
  }
}
