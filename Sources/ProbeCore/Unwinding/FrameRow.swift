// One row of call frame information: how, at one instruction, the caller's registers are found.

/// Where a register's value in the caller is. Registers are numbered as DWARF does.
enum RegisterRule: Sendable, Hashable {
  /// Nothing was said of it: as in this frame, by the habit of all compilers.
  case unspecified
  case undefined
  case same
  /// Saved at the canonical frame address plus this.
  case offset(Int64)
  /// It is the canonical frame address plus this.
  case valueOffset(Int64)
  case register(UInt8)
  /// Saved at the address that the expression gives.
  case expression([UInt8])
  /// It is what the expression gives.
  case valueExpression([UInt8])
}

/// How the canonical frame address, the stack pointer of the caller, is found.
enum FrameAddressRule: Sendable, Hashable {
  case none
  case register(UInt8, Int64)
  case expression([UInt8])
}

/// A row as its table gives it.
struct FrameRow: Sendable, Hashable {
  struct Saved: Sendable, Hashable {
    var register: UInt8
    var rule: RegisterRule
  }

  var frameAddress: FrameAddressRule
  /// Those that are neither unspecified nor the same, by number.
  var saved: [Saved]
  /// Which register's rule gives the return address.
  var returnRegister: UInt8
  /// A signal handler's return into the kernel; the frame under it was interrupted.
  var isSignalFrame: Bool
  var source: FrameSource
}

/// A row that most code has: the frame address by a register, the others saved near it. It holds no
/// references, so that a warm step counts none.
struct PlainRow: Sendable {
  static let capacity = 16

  var frameRegister: UInt8
  var frameOffset: Int64
  var source: FrameSource
  /// Where the return address is, from the frame address; nil if it is in its register.
  var returnOffset: Int64?
  var count = 0
  var registers = InlineArray<16, UInt8>(repeating: 0)
  var offsets = InlineArray<16, Int32>(repeating: 0)

  /// nil if the row is not that plain.
  init?(_ row: FrameRow) {
    guard case .register(let register, let offset) = row.frameAddress, !row.isSignalFrame else {
      return nil
    }
    frameRegister = register
    frameOffset = offset
    source = row.source
    for saved in row.saved {
      guard case .offset(let offset) = saved.rule, let small = Int32(exactly: offset),
        count < Self.capacity
      else { return nil }
      if saved.register == row.returnRegister { returnOffset = offset }
      registers[count] = saved.register
      offsets[count] = small
      count += 1
    }
  }
}
