// Runs a function's call frame instructions up to one address. The table may be hostile: the work is
// bounded by its bytes, nothing is allocated by its numbers, and what is unknown ends the stack.

/// The row under construction.
struct RowBuilder {
  /// DWARF numbers below this are kept (aarch64's pc is 32); vector registers are passed over.
  static let registerLimit = 33
  /// Compilers nest states two or three deep (chosen).
  private static let stateLimit = 64

  private struct State {
    var frameAddress = FrameAddressRule.none
    var rules = [RegisterRule](repeating: .unspecified, count: registerLimit)
  }

  private var state = State()
  private var initial = State()
  private var saved: [State] = []
  private var location: UInt64
  private let common: CallFrameTable.Common

  /// The row for a module-relative address in the function.
  ///
  /// - Returns: nil if the function does not hold the address or its instructions are not valid.
  static func row(
    for address: UInt64, in function: CallFrameTable.Function, isDebugFrame: Bool
  ) -> FrameRow? {
    guard address &- function.start < function.size else { return nil }
    var builder = RowBuilder(function)
    guard builder.run(ByteCursor(function.common.instructions), until: .max) else { return nil }
    builder.initial = builder.state
    builder.location = function.start
    guard builder.run(function.instructions, until: address) else { return nil }
    return builder.row(isDebugFrame: isDebugFrame)
  }

  private init(_ function: CallFrameTable.Function) {
    common = function.common
    location = function.start
  }

  private func row(isDebugFrame: Bool) -> FrameRow? {
    if case .none = state.frameAddress { return nil }
    var row = FrameRow(
      frameAddress: state.frameAddress, saved: [], returnRegister: common.returnRegister,
      isSignalFrame: common.isSignalFrame, source: isDebugFrame ? .debugFrame : .cfi)
    for (register, rule) in state.rules.enumerated() where rule != .unspecified && rule != .same {
      row.saved.append(FrameRow.Saved(register: UInt8(register), rule: rule))
    }
    return row
  }

  /// Runs until the location passes the address; whether all was valid.
  private mutating func run(_ program: ByteCursor, until address: UInt64) -> Bool {
    var program = program
    while let code = program.byte() {
      let low = code & 0x3f
      switch code >> 6 {
      case 1:
        advance(UInt64(low))
        if location > address { return true }
      case 2:
        guard let offset = program.unsignedLEB() else { return false }
        set(UInt64(low), .offset(scaled(Int64(bitPattern: offset))))
      case 3: restore(UInt64(low))
      default:
        guard extended(low, &program) else { return false }
        if location > address { return true }
      }
    }
    return true
  }

  private mutating func advance(_ count: UInt64) {
    location = location &+ count &* common.codeAlignment
  }

  private func scaled(_ factor: Int64) -> Int64 { factor &* common.dataAlignment }

  private mutating func set(_ register: UInt64, _ rule: RegisterRule) {
    if register < UInt64(Self.registerLimit) { state.rules[Int(register)] = rule }
  }

  private mutating func restore(_ register: UInt64) {
    if register < UInt64(Self.registerLimit) {
      state.rules[Int(register)] = initial.rules[Int(register)]
    }
  }

  /// The instructions without an operand in their first byte.
  private mutating func extended(_ code: UInt8, _ program: inout ByteCursor) -> Bool {
    switch code {
    case 0x00: return true  // nop
    case 0x01:  // set_loc
      guard let value = program.pointer(encoding: common.pointerEncoding) else { return false }
      location = value
      return true
    case 0x02, 0x03, 0x04:  // advance_loc1, 2, 4
      guard let count = program.number(1 << Int(code - 2)) else { return false }
      advance(count)
      return true
    case 0x0a:  // remember_state
      guard saved.count < Self.stateLimit else { return false }
      saved.append(state)
      return true
    case 0x0b:  // restore_state
      guard let last = saved.popLast() else { return false }
      state = last
      return true
    case 0x0c...0x0f, 0x12, 0x13: return frameAddress(code, &program)
    // negate_ra_state (aarch64) or window_save: a signed return address, stripped where it is used.
    case 0x2d: return true
    case 0x2e: return program.unsignedLEB() != nil  // GNU_args_size
    default: return registerRule(code, &program)
    }
  }

  private mutating func frameAddress(_ code: UInt8, _ program: inout ByteCursor) -> Bool {
    switch code {
    case 0x0c, 0x12:  // def_cfa, def_cfa_sf
      guard let register = frameRegister(&program), let offset = offset(&program, code == 0x12)
      else { return false }
      state.frameAddress = .register(register, offset)
    case 0x0d:  // def_cfa_register
      guard let register = frameRegister(&program),
        case .register(_, let offset) = state.frameAddress
      else { return false }
      state.frameAddress = .register(register, offset)
    case 0x0e, 0x13:  // def_cfa_offset, def_cfa_offset_sf
      guard let offset = offset(&program, code == 0x13),
        case .register(let register, _) = state.frameAddress
      else { return false }
      state.frameAddress = .register(register, offset)
    default:  // def_cfa_expression
      guard let expression = program.block() else { return false }
      state.frameAddress = .expression(expression)
    }
    return true
  }

  private func frameRegister(_ program: inout ByteCursor) -> UInt8? {
    guard let register = program.unsignedLEB(), register < UInt64(Self.registerLimit) else {
      return nil
    }
    return UInt8(register)
  }

  private func offset(_ program: inout ByteCursor, _ isSignedAndScaled: Bool) -> Int64? {
    isSignedAndScaled
      ? program.signedLEB().map(scaled) : program.unsignedLEB().map(Int64.init(bitPattern:))
  }

  private mutating func registerRule(_ code: UInt8, _ program: inout ByteCursor) -> Bool {
    guard let register = program.unsignedLEB() else { return false }
    switch code {
    case 0x05:  // offset_extended
      guard let offset = program.unsignedLEB() else { return false }
      set(register, .offset(scaled(Int64(bitPattern: offset))))
    case 0x06: restore(register)  // restore_extended
    case 0x07: set(register, .undefined)
    case 0x08: set(register, .same)
    case 0x09:  // register
      guard let other = program.unsignedLEB() else { return false }
      set(register, other < UInt64(Self.registerLimit) ? .register(UInt8(other)) : .undefined)
    case 0x10, 0x16:  // expression, val_expression
      guard let block = program.block() else { return false }
      set(register, code == 0x10 ? .expression(block) : .valueExpression(block))
    case 0x11:  // offset_extended_sf
      guard let offset = program.signedLEB() else { return false }
      set(register, .offset(scaled(offset)))
    case 0x14:  // val_offset
      guard let offset = program.unsignedLEB() else { return false }
      set(register, .valueOffset(scaled(Int64(bitPattern: offset))))
    case 0x15:  // val_offset_sf
      guard let offset = program.signedLEB() else { return false }
      set(register, .valueOffset(scaled(offset)))
    case 0x2f:  // GNU_negative_offset_extended
      guard let offset = program.unsignedLEB() else { return false }
      set(register, .offset(0 &- scaled(Int64(bitPattern: offset))))
    default: return false
    }
    return true
  }
}
