import Testing

@testable import ProbeCore

@Suite struct WaitCallsTests {
  @Test func `no call is listed twice, on either architecture`() {
    let names = WaitCalls.all.map(\.name)
    #expect(Set(names).count == names.count)
    for numbers in [WaitCalls.all.compactMap(\.x86), WaitCalls.all.compactMap(\.arm)] {
      #expect(Set(numbers).count == numbers.count)
    }
  }

  @Test func `multiplexers and signal waits are idle, and only they`() {
    let idle = WaitCalls.all.filter { $0.waitClass == .idle }
    #expect(
      Set(idle.map(\.name)) == [
        "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
        "io_uring_enter", "io_getevents", "rt_sigtimedwait", "rt_sigsuspend", "pause",
      ])
    #expect(
      WaitCalls.all.allSatisfy {
        ($0.waitClass == .idle) == [.idle, .signal].contains($0.category)
      })
  }

  @Test(arguments: ["wait4", "waitid", "flock", "fsync", "connect", "write", "openat"])
  func `these are never a home`(name: String) {
    #expect(WaitCalls.all.first { $0.name == name }?.waitClass == .never)
  }

  @Test func `beside the homes, ends and interrupted calls that go on are traced`() {
    #expect(Set(WaitCalls.possibleHomes).isSuperset(of: WaitCalls.idleHomes))
    #expect(WaitCalls.control.contains(WaitCalls.restart))
    #expect(Set(WaitCalls.control).isSuperset(of: WaitCalls.exits))
    #expect(Set(WaitCalls.possibleHomes).isDisjoint(with: WaitCalls.control))
    // One filter of tracefs takes at most a page.
    #expect((WaitCalls.possibleHomes + WaitCalls.control).count * 12 < 4096)
  }

  @Test func `a call without a name is shown by its number`() {
    #expect(WaitCalls.name(-5) == "syscall -5")
    #expect(WaitCalls.named(.max) == nil)
    for call in WaitCalls.all {
      if let number = call.number { #expect(WaitCalls.name(number) == call.name) }
    }
  }

  @Test func `an io_uring call waits only when it asks for completions`() {
    #expect(WaitCalls.isWaiting(ring: (minimum: 1, flags: 1)))
    #expect(!WaitCalls.isWaiting(ring: (minimum: 0, flags: 1)))
    #expect(!WaitCalls.isWaiting(ring: (minimum: 1, flags: 0)))
  }
}
