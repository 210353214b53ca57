// Whose fault: shares of the program and of its surroundings.

import Testing

@testable import ProbeCore

@Suite struct StallBlameTests {
  private func parts(cpu: Int64 = 0, delay: Int64 = 0, throttled: Int64 = 0, stopped: Int64 = 0)
    -> Summary.CauseParts
  {
    var parts = Summary.CauseParts()
    parts.cpuUser = .milliseconds(cpu)
    parts.runDelay = .milliseconds(delay)
    parts.throttled = .milliseconds(throttled)
    parts.stopped = .milliseconds(stopped)
    return parts
  }

  private func blame(
    _ parts: Summary.CauseParts, _ length: Int64, _ around: StallSurroundings? = nil
  ) -> StallBlame {
    StallBlame(parts, length: .milliseconds(length), around)
  }

  @Test func `computing is the program's, waiting for a CPU is not, and both are mixed`() {
    #expect(blame(parts(cpu: 300), 300).word == "yours")
    #expect(blame(parts(cpu: 50, delay: 250), 300).word == "environment")
    #expect(blame(parts(delay: 10, throttled: 280), 300).word == "environment")
    let mixed = blame(parts(cpu: 150, delay: 150), 300)
    #expect(mixed.word == "mixed" && mixed.environment == 0.5)
  }

  @Test func `time in which the target was stopped is nobody's`() {
    let judged = blame(parts(cpu: 10, delay: 90, stopped: 900), 1000)
    #expect(abs(judged.environment - 0.9) < 1e-9)
    #expect(blame(parts(stopped: 300), 300).environment == 0)
    #expect(blame(parts(), 0).environment == 0)
  }

  @Test func `a program that took all CPUs itself has nobody else to blame`() {
    var around = StallSurroundings(
      stall: 1, length: .milliseconds(300), processCPU: .milliseconds(600),
      threadCPU: .milliseconds(50))
    around.machineCPU = .milliseconds(600)
    #expect(blame(parts(cpu: 50, delay: 250), 300, around).word == "yours")
    around.machineCPU = .milliseconds(1150)
    // 550 of the 1100 ms that others computed were its own.
    let half = blame(parts(cpu: 0, delay: 300), 300, around)
    #expect(half.word == "mixed" && abs(half.environment - 0.5) < 0.001)
  }

  @Test func `waiting for pages is the program's, unless memory was short by others`() {
    var paged = Summary.CauseParts()
    paged.pageFault = .milliseconds(300)
    var around = StallSurroundings(stall: 1, length: .milliseconds(300))
    #expect(blame(paged, 300, around).word == "yours")
    around.memoryShortage = .milliseconds(300)
    around.memoryShare = 0.1
    #expect(blame(paged, 300, around).word == "environment")
    around.memoryShare = 0.9
    #expect(blame(paged, 300, around).word == "yours")
  }

  @Test func `what the hypervisor took is the environment's`() {
    var around = StallSurroundings(stall: 1, length: .milliseconds(300))
    around.machineCPU = .milliseconds(100)
    around.stolen = .milliseconds(900)
    #expect(blame(parts(cpu: 300), 300, around).word == "environment")
    around.machineCPU = .zero
    around.stolen = .zero
    #expect(blame(parts(cpu: 300), 300, around).word == "yours")
  }
}
