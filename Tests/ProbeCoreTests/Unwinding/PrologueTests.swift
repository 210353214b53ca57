import Testing

@testable import ProbeCore

@Suite struct PrologueTests {
  private func distance(_ hex: String) -> UInt64? {
    Prologue.distance(hex.split(separator: " ").map { UInt8($0, radix: 16)! })
  }

  @Test func `pushes and the room for locals add up`() {
    // push %rbp; mov %rsp,%rbp; push %r15; push %rbx; sub $0x18,%rsp
    #expect(distance("55 48 89 e5 41 57 53 48 83 ec 18") == 0x28)
    // endbr64; push; mov; sub $0x1000,%rsp
    #expect(distance("f3 0f 1e fa 55 48 89 e5 48 81 ec 00 10 00 00 e8") == 0x1000)
    // The same move in its other spelling; nothing else up to a call.
    #expect(distance("55 48 8b ec e8 00 00 00 00") == 0)
    #expect(distance("55 48 89 e5") == 0)
  }

  @Test func `moves between them do not matter`() {
    // mov %rdi,%rax; push; lea 8(%rsp),%rsi; mov %rsp,%rbp; push %r12; mov %rdi,%r12; xor %eax,%eax;
    // mov $7,%edx; mov 0x10(%rdi),%rcx; sub $8,%rsp
    #expect(
      distance(
        "48 89 f8 55 48 8d 74 24 08 48 89 e5 41 54 49 89 fc 31 c0 ba 07 00 00 00 48 8b 4f 10 "
          + "48 83 ec 08") == 0x10)
    // A store to the frame: movl $0,-4(%rbp); movq $1,0x12345678(%rax).
    #expect(
      distance("55 48 89 e5 c7 45 fc 00 00 00 00 48 c7 80 78 56 34 12 01 00 00 00 48 83 ec 20")
        == 0x20)
  }

  @Test func `what moves the stack pointer in another way is not known`() {
    // and $-32,%rsp; sub %rax,%rsp; lea -0x20(%rsp),%rsp; mov %rax,%rsp; pop %rbx.
    for code in ["48 83 e4 e0", "48 29 c4", "48 8d 64 24 e0", "48 89 c4", "5b"] {
      #expect(distance("55 48 89 e5 \(code) 48 83 ec 10") == nil, "\(code)")
    }
    // Behind a jump, more may be pushed: test %edi,%edi; je.
    #expect(distance("55 48 89 e5 85 ff 74 10 53 48 83 ec 10") == nil)
    // No frame pointer at all; nothing; a size that is none.
    #expect(distance("53 48 83 ec 10") == nil)
    #expect(distance("48 83 ec 08") == nil)
    #expect(Prologue.distance([]) == nil)
    #expect(distance("55 48 89 e5 48 81 ec 00 00 00 f0") == nil)
  }

  @Test func `no bytes lead out of bounds`() {
    var state: UInt64 = 88172645463325252
    for _ in 0..<20_000 {
      let bytes = (0..<12).map { _ -> UInt8 in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
      }
      _ = Prologue.distance([0x55] + bytes)
      _ = Prologue.distance([0x55, 0x48, 0x89, 0xe5] + bytes)
    }
  }
}
