internal import Testing

@testable import ProbeCore

@Suite struct MachineCodeTests {
  @Test(
    arguments: [
      [0, 0, 0xe8, 1, 2, 3, 4],  // call 0x4030201
      [0, 0, 0, 0, 0, 0xff, 0xd0],  // call *%rax
      [0, 0, 0, 0, 0x41, 0xff, 0xd4],  // call *%r12
      [0, 0, 0, 0, 0xff, 0x50, 0x18],  // call *0x18(%rax)
      [0, 0, 0, 0xff, 0x54, 0x24, 8],  // call *8(%rsp)
      [0, 0xff, 0x15, 1, 2, 3, 4],  // call *0x4030201(%rip)
      [0xff, 0x94, 0x24, 0, 1, 0, 0],  // call *0x100(%rsp)
      [0xff, 0x14, 0xc5, 0, 1, 2, 3],  // call *0x3020100(,%rax,8)
    ] as [[UInt8]])
  func `bytes that end with a call`(_ bytes: [UInt8]) {
    #expect(MachineCode.endsWithCall(bytes, .x86_64))
  }

  @Test(
    arguments: [
      [], [0xd0], [0, 0, 0, 0, 0, 0xff, 0xe0], [0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90],
      [0, 0, 0, 0, 0xff, 0x10, 0], [0, 0, 0, 0xe8, 1, 2, 3],
    ] as [[UInt8]])
  func `bytes that do not`(_ bytes: [UInt8]) {
    #expect(!MachineCode.endsWithCall(bytes, .x86_64))
  }

  @Test func `calls of the other machine`() {
    #expect(MachineCode.endsWithCall([0x02, 0, 0, 0x94], .aarch64))  // bl .+8
    #expect(MachineCode.endsWithCall([0x60, 0x02, 0x3f, 0xd6], .aarch64))  // blr x19
    #expect(!MachineCode.endsWithCall([0x60, 0x02, 0x1f, 0xd6], .aarch64))  // br x19
  }
}
