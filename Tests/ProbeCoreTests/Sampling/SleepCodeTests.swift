// Which system call the code at a place makes.

import Testing

@testable import ProbeCore

@Suite struct SleepCodeTests {
  @Test func `the number loaded just before the call is its number`() {
    let poll: [UInt8] = [1, 2, 3, 4, 0x90, 0xb8, 7, 0, 0, 0, 0x0f, 0x05]
    #expect(SleepCodes.intelCode(poll) == .call(7))
    #expect(
      SleepCodes.intelCode([1, 2, 3, 4, 0x90, 0xb8, 0x19, 1, 0, 0, 0x0f, 0x05]) == .call(281))
    #expect(SleepCodes.intelCode([1, 2, 3, 4, 0x31, 0xc0, 0x0f, 0x05]) == .call(0))
    // pthread_mutex_lock: the private flag is flipped after the number was loaded.
    let lock: [UInt8] = [0xb8, 0xca, 0, 0, 0, 0x40, 0x80, 0xf6, 0x80, 0x0f, 0x05]
    #expect(SleepCodes.intelCode([0x00] + lock) == .call(202))
    // Loaded elsewhere; a number that no call has; the calls of 32-bit code.
    #expect(SleepCodes.intelCode([0x48, 0x89, 0xf8, 0x4d, 0x89, 0xc8, 0x0f, 0x05]) == .unclear)
    #expect(SleepCodes.intelCode([0x90, 0xb8, 7, 0, 1, 0, 0x0f, 0x05]) == .unclear)
    #expect(SleepCodes.intelCode([0x90, 0xb8, 7, 0, 0, 0, 0xcd, 0x80]) == .unclear)
    #expect(SleepCodes.intelCode([0x90, 0xb8, 7, 0, 0, 0, 0x89, 0xe5]) == .fault)
    #expect(SleepCodes.code([0x0f, 0x05]) == .unclear)
  }

  @Test func `on ARM as well`() {
    // mov x8, #73; svc #0
    #expect(
      SleepCodes.armCode([0x28, 0x09, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4]) == .call(73))
    #expect(
      SleepCodes.armCode([0xe8, 0x03, 0x00, 0xaa, 0x01, 0x00, 0x00, 0xd4]) == .unclear)
    #expect(SleepCodes.armCode([0x28, 0x09, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6]) == .fault)
  }

  @Test func `only calls whose arguments do not matter are told of`() throws {
    func wait(_ name: String) throws -> Wait? {
      let number = try #require(WaitCalls.all.first { $0.name == name }?.number)
      return WaitCalls.wait(WaitSite(call: number, stackPointer: 1, programCounter: 2))
    }
    try #expect(wait("ppoll")?.waitClass == .idle)
    try #expect(wait("futex")?.category == .lock)
    try #expect(wait("fsync")?.waitClass == .never)
    try #expect(wait("write")?.category == .other)
    try #expect(wait("read") == nil)
    try #expect(wait("io_uring_enter") == nil)
    let unknown = WaitCalls.wait(WaitSite(call: 9999, stackPointer: 1, programCounter: 2))
    #expect(unknown?.waitClass == .never)
  }

  #if arch(x86_64)
    @Test func `code is read once a place, and what cannot be read is unclear`() {
      var codes = SleepCodes()
      var reads = 0
      let place = SleepPlace(stackPointer: 16, programCounter: 4096)
      for _ in 0..<3 {
        let state = codes.kind(at: place) { address, count in
          reads += 1
          #expect(address == 4084 && count == 12)
          return [1, 2, 3, 4, 0x90, 0xb8, 7, 0, 0, 0, 0x0f, 0x05]
        }
        guard case .waiting(let wait)? = state else {
          Issue.record("\(String(describing: state))")
          continue
        }
        #expect(wait.site == WaitSite(call: 7, stackPointer: 16, programCounter: 4096))
      }
      #expect(reads == 1)
      #expect(codes.kind(at: SleepPlace(stackPointer: 1, programCounter: 3)) { _, _ in nil } == nil)
      #expect(
        codes.kind(at: SleepPlace(stackPointer: 1, programCounter: 99)) { _, _ in nil } == nil)
      let fault = SleepPlace(stackPointer: 1, programCounter: 500)
      #expect(codes.kind(at: fault) { _, count in [UInt8](repeating: 0, count: count) } == .blocked)
    }
  #endif
}
