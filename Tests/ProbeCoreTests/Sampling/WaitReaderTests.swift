// What the syscall file says of a thread, as a state.

internal import Testing

@testable import ProbeCore

@Suite struct WaitReaderTests {
  private func state(_ line: String) -> ThreadProbe.State {
    var reader = WaitReader()
    let source = ProcSource(root: "/nowhere", pid: ProcessID(1))
    return reader.state(Array(line.utf8).span, source)
  }

  @Test func `a zombie waits for nothing, and what is blocked outside a call is in a page fault`() {
    #expect(state("running\n") == .running)
    #expect(state("-1 0x7ffd00001000 0x7f0000001000\n") == .blocked)
    #expect(state("-1 0x0 0x0\n") == .unknown)
    #expect(state("nonsense") == .unknown)
    let inside = state("7 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffd00001000 0x7f0000001000\n")
    guard case .waiting(let wait) = inside else {
      Issue.record("\(inside)")
      return
    }
    #expect(wait.waitClass == .idle && wait.site.stackPointer == 0x7ffd_0000_1000)
  }
}
