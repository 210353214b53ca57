// Evaluates the DWARF expressions of call frame information: those of PLT stubs, signal returns and
// realigned stacks. Bounded in steps and depth; a hostile one ends the stack, never us. (libunwind
// 1.6.2 divides the smallest number by -1, a SIGFPE, and follows a branch to itself for ever.)

/// Why a step out of a frame failed.
enum StepFailure: Error, Equatable {
  /// A register that the capture could not know.
  case unknownRegister
  /// Memory that was not copied.
  case unreadable(UInt64)
  case malformed
}

enum FrameExpression {
  /// Real ones have some ten steps (chosen).
  private static let stepLimit = 1000
  private static let depthLimit = 64

  /// What the expression leaves on its stack.
  ///
  /// - Parameter first: what is on the stack at its begin: the frame address, if it is known.
  static func evaluate(
    _ expression: [UInt8], first: UInt64?, registers: borrowing RegisterState,
    memory: StackMemory
  ) throws(StepFailure) -> UInt64 {
    var program = ByteCursor(expression)
    var stack: [UInt64] = first.map { [$0] } ?? []
    var steps = 0
    while let code = program.byte() {
      steps += 1
      guard steps <= stepLimit, stack.count <= depthLimit else { throw .malformed }
      if try !push(code, &program, &stack, registers) {
        try operate(code, &program, &stack, memory)
      }
    }
    guard let result = stack.last else { throw .malformed }
    return result
  }

  /// Constants and registers; false if the code is none of them.
  private static func push(
    _ code: UInt8, _ program: inout ByteCursor, _ stack: inout [UInt64],
    _ registers: borrowing RegisterState
  ) throws(StepFailure) -> Bool {
    let value: UInt64?
    switch code {
    case 0x03: value = program.number(8)  // addr
    case 0x08: value = program.number(1)  // const1u and so on
    case 0x09: value = program.signed(1).map(UInt64.init(bitPattern:))
    case 0x0a: value = program.number(2)
    case 0x0b: value = program.signed(2).map(UInt64.init(bitPattern:))
    case 0x0c: value = program.number(4)
    case 0x0d: value = program.signed(4).map(UInt64.init(bitPattern:))
    case 0x0e, 0x0f: value = program.number(8)
    case 0x10: value = program.unsignedLEB()
    case 0x11: value = program.signedLEB().map(UInt64.init(bitPattern:))
    case 0x30...0x4f: value = UInt64(code - 0x30)  // lit0 to lit31
    case 0x70...0x8f, 0x92:  // breg0 to breg31, bregx
      guard let register = code == 0x92 ? program.unsignedLEB() : UInt64(code - 0x70),
        let offset = program.signedLEB(), register < UInt64(RowBuilder.registerLimit)
      else { throw .malformed }
      guard let base = registers[UInt8(register)] else { throw .unknownRegister }
      value = base &+ UInt64(bitPattern: offset)
    default: return false
    }
    guard let value else { throw .malformed }
    stack.append(value)
    return true
  }

  private static func operate(
    _ code: UInt8, _ program: inout ByteCursor, _ stack: inout [UInt64], _ memory: StackMemory
  ) throws(StepFailure) {
    switch code {
    case 0x96: return  // nop
    case 0x06, 0x94:  // deref, deref_size
      let size = code == 0x06 ? 8 : program.byte() ?? 0
      guard [1, 2, 4, 8].contains(size) else { throw .malformed }
      let address = try pop(&stack)
      guard let word = memory.number(at: address, size: Int(size)) else {
        throw .unreadable(address)
      }
      stack.append(word)
    case 0x12, 0x14, 0x15:  // dup, over, pick
      guard let index = code == 0x15 ? program.byte() : code == 0x12 ? 0 : 1,
        Int(index) < stack.count
      else { throw .malformed }
      stack.append(stack[stack.count - 1 - Int(index)])
    case 0x13: _ = try pop(&stack)  // drop
    case 0x16, 0x17:  // swap, rot
      let count = code == 0x16 ? 2 : 3
      guard stack.count >= count else { throw .malformed }
      stack.insert(stack.removeLast(), at: stack.count - count + 1)
    case 0x19:  // abs
      stack.append(Int64(bitPattern: try pop(&stack)).magnitude)
    case 0x1f: stack.append(0 &- (try pop(&stack)))  // neg
    case 0x20: stack.append(~(try pop(&stack)))  // not
    case 0x23:  // plus_uconst
      guard let value = program.unsignedLEB() else { throw .malformed }
      stack.append(try pop(&stack) &+ value)
    case 0x28, 0x2f:  // bra, skip
      guard let distance = program.signed(2) else { throw .malformed }
      let isTaken = code == 0x28 ? try pop(&stack) != 0 : true
      guard !isTaken || program.skip(Int(distance)) else { throw .malformed }
    default: try calculate(code, &stack)
    }
  }

  /// Two off, one on.
  private static func calculate(
    _ code: UInt8, _ stack: inout [UInt64]
  ) throws(StepFailure) {
    let right = try pop(&stack)
    let left = try pop(&stack)
    let signedLeft = Int64(bitPattern: left)
    let signedRight = Int64(bitPattern: right)
    let result: UInt64
    switch code {
    case 0x1a: result = left & right
    case 0x1b:  // div, signed
      guard right != 0 else { throw .malformed }
      result = UInt64(bitPattern: signedLeft.dividedReportingOverflow(by: signedRight).partialValue)
    case 0x1c: result = left &- right
    case 0x1d:  // mod, unsigned
      guard right != 0 else { throw .malformed }
      result = left % right
    case 0x1e: result = left &* right
    case 0x21: result = left | right
    case 0x22: result = left &+ right
    case 0x24: result = right < 64 ? left << right : 0
    case 0x25: result = right < 64 ? left >> right : 0
    case 0x26: result = UInt64(bitPattern: signedLeft >> Int64(min(right, 63)))
    case 0x27: result = left ^ right
    case 0x29: result = signedLeft == signedRight ? 1 : 0
    case 0x2a: result = signedLeft >= signedRight ? 1 : 0
    case 0x2b: result = signedLeft > signedRight ? 1 : 0
    case 0x2c: result = signedLeft <= signedRight ? 1 : 0
    case 0x2d: result = signedLeft < signedRight ? 1 : 0
    case 0x2e: result = signedLeft != signedRight ? 1 : 0
    default: throw .malformed
    }
    stack.append(result)
  }

  private static func pop(_ stack: inout [UInt64]) throws(StepFailure) -> UInt64 {
    guard let value = stack.popLast() else { throw .malformed }
    return value
  }
}
