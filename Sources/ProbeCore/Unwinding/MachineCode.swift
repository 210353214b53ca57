// What a few bytes of machine code say where no table speaks: a call before a return address, a
// signal's return, the borders of a function with a frame pointer. x86-64, and aarch64 written
// beside it from the manuals but not run.

enum MachineCode {
  /// Whether a call may end where the bytes end.
  ///
  /// - Parameter bytes: the 7 before a return address (x86-64), or the 4 (aarch64).
  static func endsWithCall(_ bytes: [UInt8], _ machine: RegisterFile.Machine) -> Bool {
    let count = bytes.count
    switch machine {
    case .aarch64:
      guard count >= 4 else { return false }
      let word = bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      // bl; blr and its signed forms.
      return word & 0xfc00_0000 == 0x9400_0000 || word & 0xfeff_f000 == 0xd63f_0000
    case .x86_64:
      if count >= 5, bytes[count - 5] == 0xe8 { return true }
      // ff /2: call through a register or memory, 2, 3, 4, 6 or 7 bytes long.
      for length in [2, 3, 4, 6, 7] where count >= length {
        guard bytes[count - length] == 0xff else { continue }
        let mode = bytes[count - length + 1]
        guard mode & 0x38 == 0x10 else { continue }
        // ff 14 xx with base 5 has a 4-byte displacement although the mode says none.
        let isScaledTable = length == 7 && mode == 0x14 && bytes[count - 5] & 0x07 == 5
        if isScaledTable || Self.length(ofCallWith: mode) == length { return true }
      }
      return false
    }
  }

  private static func length(ofCallWith mode: UInt8) -> Int {
    let hasScale = mode & 0x07 == 4 && mode < 0xc0
    switch mode >> 6 {
    case 0: return (mode & 0x07 == 5 ? 6 : 2) + (hasScale ? 1 : 0)
    case 1: return 3 + (hasScale ? 1 : 0)
    case 2: return 6 + (hasScale ? 1 : 0)
    default: return 2
    }
  }

  static func callLength(_ machine: RegisterFile.Machine) -> Int { machine == .x86_64 ? 7 : 4 }

  /// The code that handlers return to: "mov $15, %rax; syscall", or "mov x8, #139; svc #0".
  static func signalReturn(_ machine: RegisterFile.Machine) -> [UInt8] {
    switch machine {
    case .x86_64: [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]
    case .aarch64: [0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4]
    }
  }

  /// Where registers are in the frame of a signal, from the stack pointer at its return code.
  /// x86-64: struct ucontext, whose gregs start at 40. aarch64: siginfo (128 bytes), then
  /// ucontext, whose regs start at 184.
  static func signalFrame(
    _ machine: RegisterFile.Machine
  ) -> [(register: UInt8, offset: UInt64)] {
    switch machine {
    case .x86_64:
      let order: [UInt8] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]
      return order.enumerated().map { ($1, 40 + 8 * UInt64($0)) }
    case .aarch64:
      return (0..<33).map { (UInt8($0), 312 + 8 * UInt64($0)) }
    }
  }

  /// Where the return address is while a function's frame is not set up, or not any more.
  enum Border {
    /// At the stack pointer: before "push %rbp", or at "ret".
    case atStackPointer
    /// One above it: between "push %rbp" and "mov %rsp, %rbp".
    case pushed
  }

  /// - Parameters:
  ///   - before: the byte before the program counter.
  ///   - after: the four bytes from it on.
  static func border(before: UInt8, after: [UInt8], _ machine: RegisterFile.Machine) -> Border? {
    guard machine == .x86_64 else { return nil }
    if after.starts(with: [0x55, 0x48, 0x89, 0xe5]) { return .atStackPointer }
    if after.starts(with: [0xf3, 0x0f, 0x1e, 0xfa]) { return .atStackPointer }
    if before == 0x55, after.starts(with: [0x48, 0x89, 0xe5]) { return .pushed }
    if after.first == 0xc3 { return .atStackPointer }
    return nil
  }
}
