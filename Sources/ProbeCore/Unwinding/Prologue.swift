// Where the frame pointer of a function is, seen from its stack pointer, by the code at its
// beginning. A thread that is not stopped does not tell its registers; its stack pointer it does.

/// Reads the first instructions of an x86-64 function that keeps a frame pointer.
struct Prologue {
  private let bytes: [UInt8]
  private var at = 0
  private var pushed = 0

  /// How far the frame pointer is above the stack pointer once the frame is set up.
  ///
  /// Known are `push %rbp; mov %rsp, %rbp`, then pushes, moves and `sub $N, %rsp`, in the order in
  /// which compilers mix them; the frame is complete at the `sub`, at a call or at the end of the
  /// bytes.
  ///
  /// - Parameter bytes: from the function's first one up to the instruction where it stands.
  /// - Returns: nil for anything else.
  static func distance(_ bytes: [UInt8]) -> UInt64? {
    var prologue = Prologue(bytes: bytes)
    return prologue.read()
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func byte(_ ahead: Int) -> UInt8 {
    at + ahead < bytes.count ? bytes[at + ahead] : 0
  }

  private mutating func take(_ expected: [UInt8]) -> Bool {
    // A last instruction may be longer than what is there of it.
    guard at < bytes.count, bytes[at...].starts(with: expected) else { return false }
    at += expected.count
    return true
  }

  private mutating func read() -> UInt64? {
    _ = take([0xf3, 0x0f, 0x1e, 0xfa])  // endbr64
    // Moves may stand before each of the two.
    while !take([0x55]) { guard at < bytes.count, step() == .next, pushed == 0 else { return nil } }
    while !take([0x48, 0x89, 0xe5]), !take([0x48, 0x8b, 0xec]) {
      guard at < bytes.count, step() == .next, pushed == 0 else { return nil }
    }
    while at < bytes.count {
      if take([0x48, 0x83, 0xec]) {
        // A negative one would be `sub $-128`: no frame that we know.
        return byte(0) < 0x80 ? UInt64(pushed * 8) + UInt64(byte(0)) : nil
      }
      if take([0x48, 0x81, 0xec]) {
        let size = (0..<4).reduce(UInt64(0)) { $0 | UInt64(byte($1)) << UInt64(8 * $1) }
        return size < 1 << 20 ? UInt64(pushed * 8) + size : nil
      }
      switch step() {
      case .next: continue
      case .complete: return UInt64(pushed * 8)
      case .unknown: return nil
      }
    }
    return UInt64(pushed * 8)
  }

  private enum Step { case next, complete, unknown }

  /// One instruction that does not touch the stack pointer, or a push.
  private mutating func step() -> Step {
    var length = 0
    var prefix: UInt8 = 0
    if byte(0) & 0xf0 == 0x40 {
      prefix = byte(0)
      length = 1
    }
    let code = byte(length)
    switch code {
    case 0x50...0x57:
      at += length + 1
      pushed += 1
      return .next
    // A call, a system call. Behind a jump the frame may become larger: then it is not known.
    case 0xe8: return .complete
    case 0x0f where byte(length + 1) == 0x05: return .complete
    case 0xb8...0xbf:  // mov of a constant
      at += length + 1 + (prefix & 8 != 0 ? 8 : 4)
      return .next
    // mov, lea, xor, test, cmp, movslq: with one operand in memory or none.
    case 0x89, 0x8b, 0x8d, 0x31, 0x33, 0x85, 0x39, 0x3b, 0x63: break
    case 0xc7, 0x83, 0x81: break
    default: return .unknown
    }
    let mode = byte(length + 1)
    // To the stack pointer: `mov`, `lea`, and what 81 and 83 do with it.
    let isToStackPointer =
      code == 0x8b || code == 0x8d || code == 0x63 || code == 0x33
      ? mode >> 3 & 7 == 4 && prefix & 4 == 0
      : mode & 0xc7 == 0xc4 && prefix & 1 == 0
    if isToStackPointer && code != 0x85 && code != 0x39 && code != 0x3b { return .unknown }
    var size = length + 2 + Self.operandSize(mode, scale: byte(length + 2))
    if code == 0xc7 || code == 0x81 { size += 4 }
    if code == 0x83 { size += 1 }
    at += size
    return .next
  }

  /// The bytes behind the mode byte: scale, displacement.
  private static func operandSize(_ mode: UInt8, scale: UInt8) -> Int {
    let hasScale = mode & 7 == 4 && mode < 0xc0
    let base = hasScale ? 1 : 0
    switch mode >> 6 {
    case 0: return base + (mode & 7 == 5 || hasScale && scale & 7 == 5 ? 4 : 0)
    case 1: return base + 1
    case 2: return base + 4
    default: return 0
    }
  }
}
