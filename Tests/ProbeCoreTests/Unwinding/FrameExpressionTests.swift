internal import Testing

@testable import ProbeCore

@Suite struct FrameExpressionTests {
  private func evaluate(
    _ bytes: [UInt8], first: UInt64? = nil, memory: [MemoryRegion] = []
  ) throws(StepFailure) -> UInt64 {
    let registers = RegisterFile(
      machine: .x86_64, stackPointer: 0x7000, programCounter: 0x40_100c)
    return try FrameExpression.evaluate(
      bytes, first: first, registers: RegisterState(registers),
      memory: StackMemory(regions: memory))
  }

  @Test func `a PLT stub's frame depends on how far it has run`() throws {
    // breg7+8, breg16+0, lit15, and, lit11, ge, lit3, shl, plus: one more word from byte 11 on.
    let plt: [UInt8] = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22]
    #expect(try evaluate(plt) == 0x7000 + 8 + 8)  // pc & 15 is 12
  }

  @Test func `memory is read from the copy only`() throws {
    let region = MemoryRegion(start: 0x7000, bytes: [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(try evaluate([0x77, 0, 0x06], memory: [region]) == 0x0807_0605_0403_0201)
    #expect(try evaluate([0x77, 6, 0x94, 2], memory: [region]) == 0x0807)
    #expect(throws: StepFailure.unreadable(0x7001)) {
      try self.evaluate([0x77, 1, 0x06], memory: [region])
    }
    #expect(throws: StepFailure.unreadable(0x7007)) {
      try self.evaluate([0x77, 7, 0x94, 2], memory: [region])
    }
  }

  @Test func `the stack is turned as the standard says`() throws {
    #expect(try evaluate([0x31, 0x32, 0x16, 0x1c]) == 1)  // 1 2 swap: 2 - 1
    #expect(try evaluate([0x31, 0x32, 0x33, 0x17, 0x13]) == 1)  // 1 2 3 rot: 3 1 2, drop
    #expect(try evaluate([0x31, 0x32, 0x14]) == 1)  // over
    #expect(try evaluate([0x23, 5], first: 7) == 12)
  }

  @Test func `a register that is not known is said so`() {
    #expect(throws: StepFailure.unknownRegister) { try self.evaluate([0x76, 0]) }
  }

  @Test(
    arguments: [
      // The smallest number by -1 is a SIGFPE on x86-64; here it wraps.
      ([0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b], 1 << 63)
    ] as [([UInt8], UInt64)])
  func `what would crash elsewhere has a value`(_ code: [UInt8], _ value: UInt64) throws {
    #expect(try evaluate(code) == value)
  }

  @Test(
    arguments: [
      [], [0x1b], [0x31, 0x30, 0x1b], [0x31, 0x30, 0x1d], [0x2f, 0xfd, 0xff], [0x2f, 0x00, 0x80],
      [0x12], [0x31, 0x15, 9], [0x0e, 1], [0x10, 0x80], [0x92, 0x7f, 0], [0x31, 0x06, 0xff],
      [0x31, 0x94, 3], [0xe0], [0x31, 0x2f, 0x7f, 0x7f], Array(repeating: 0x31, count: 2000),
    ] as [[UInt8]])
  func `a hostile expression ends`(_ code: [UInt8]) {
    #expect(throws: StepFailure.self) { try self.evaluate(code) }
  }
}
