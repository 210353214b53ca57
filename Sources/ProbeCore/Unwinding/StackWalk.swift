// The state of one stack while it is unwound, and the step by a row.

/// What a step out of a frame gave.
enum StepResult: Equatable {
  /// The walk stands in the caller.
  case caller
  /// There is none: this was the outermost frame.
  case end
  case cut(StackTruncation)
  /// This is no frame: its program counter, a return address, is in no code.
  case nowhere
  /// The caller's frame is at an address that was not copied.
  case missing(UInt64)
}

/// Where the walk is: registers of a frame, and what is known of it.
struct StackWalk {
  let machine: RegisterFile.Machine
  let memory: StackMemory
  var registers: RegisterState
  var programCounter: UInt64
  var stackPointer: UInt64
  /// The program counter is the next instruction to run, no return address.
  var isExact = true
  var source = FrameSource.register
  /// How often the stack pointer went down or to another stack; each signal stack and each coroutine
  /// does so once.
  private var jumps = 0
  private static let jumpLimit = 64

  init(_ snapshot: StackSnapshot) {
    machine = snapshot.registers.machine
    memory = StackMemory(regions: snapshot.regions)
    registers = RegisterState(snapshot.registers)
    programCounter = snapshot.registers.programCounter
    stackPointer = snapshot.registers.stackPointer
  }

  /// The address that tables are asked about: a return address may be the first of the next function.
  var lookupAddress: UInt64 { isExact ? programCounter : programCounter &- 1 }

  /// Steps by a row without expressions: a look at memory for each register that was saved.
  mutating func step(_ row: borrowing PlainRow) -> StepResult {
    guard let base = registers[row.frameRegister] else { return .cut(.unknownRegister) }
    let frame = untagged(base) &+ UInt64(bitPattern: row.frameOffset)
    guard isProgress(to: frame) else { return .cut(.noProgress) }
    let caller: UInt64
    if let offset = row.returnOffset {
      let address = frame &+ UInt64(bitPattern: offset)
      guard let word = memory.word(at: address) else { return .missing(address) }
      caller = word
    } else {
      // The link register of a leaf; only the innermost frame and one under a signal can have it.
      guard machine == .aarch64, isExact else { return .cut(.noUnwindInfo) }
      guard let link = registers[30] else { return .cut(.unknownRegister) }
      caller = link
    }
    for index in 0..<row.count {
      registers[row.registers[index]] = memory.word(
        at: frame &+ UInt64(bitPattern: Int64(row.offsets[index])))
    }
    return enter(caller, stackPointer: frame, source: row.source)
  }

  /// Steps by any row.
  mutating func step(_ row: FrameRow) throws(StepFailure) -> StepResult {
    let old = registers
    let frame = try frameAddress(row)
    for saved in row.saved {
      if saved.register == row.returnRegister {
        if saved.rule == .undefined { return .end }
        registers[saved.register] = try value(saved.rule, frame, old)
      } else {
        // A register whose value cannot be had matters only if it is asked for further out.
        registers[saved.register] = try? value(saved.rule, frame, old)
      }
    }
    let hasReturn = row.saved.contains { $0.register == row.returnRegister }
    guard hasReturn || machine == .aarch64 && isExact else { return .cut(.noUnwindInfo) }
    guard let caller = registers[row.returnRegister] else { return .cut(.unknownRegister) }
    let pointer = UInt8(machine.stackPointerIndex)
    let savedPointer = row.saved.contains { $0.register == pointer } ? registers[pointer] : frame
    guard let new = savedPointer else { return .cut(.noUnwindInfo) }
    if row.isSignalFrame {
      guard isJumpAllowed(to: new, caller) else { return .cut(.noProgress) }
    } else {
      guard isProgress(to: new) else { return .cut(.noProgress) }
    }
    let result = enter(caller, stackPointer: new, source: row.source)
    isExact = row.isSignalFrame
    return result
  }

  /// Steps out of the code that handlers return to, where no table describes it (musl, Go).
  mutating func stepOutOfSignal() -> StepResult {
    let base = stackPointer
    for (register, offset) in MachineCode.signalFrame(machine) {
      let address = base &+ offset
      guard let word = memory.word(at: address) else { return .missing(address) }
      registers[register] = word
    }
    guard let caller = registers[UInt8(machine.programCounterIndex)],
      let pointer = registers[UInt8(machine.stackPointerIndex)],
      isJumpAllowed(to: pointer, caller)
    else { return .cut(.noProgress) }
    let result = enter(caller, stackPointer: pointer, source: .cfi)
    isExact = true
    return result
  }

  /// Becomes the caller, of whose registers all but stack pointer and program counter are set.
  mutating func enter(
    _ caller: UInt64, stackPointer: UInt64, source: FrameSource
  ) -> StepResult {
    let caller = stripped(caller)
    if caller == 0 { return .end }
    registers[UInt8(machine.programCounterIndex)] = caller
    registers[UInt8(machine.stackPointerIndex)] = stackPointer
    programCounter = caller
    self.stackPointer = stackPointer
    self.source = source
    isExact = false
    return .caller
  }

  private func frameAddress(_ row: FrameRow) throws(StepFailure) -> UInt64 {
    switch row.frameAddress {
    case .none: throw .malformed
    case .register(let register, let offset):
      guard let base = registers[register] else { throw .unknownRegister }
      return untagged(base) &+ UInt64(bitPattern: offset)
    case .expression(let expression):
      return try FrameExpression.evaluate(
        expression, first: nil, registers: registers, memory: memory)
    }
  }

  private func value(
    _ rule: RegisterRule, _ frame: UInt64, _ old: RegisterState
  ) throws(StepFailure) -> UInt64? {
    switch rule {
    case .unspecified, .same, .undefined: return nil
    case .offset(let offset):
      return try word(at: frame &+ UInt64(bitPattern: offset))
    case .valueOffset(let offset): return frame &+ UInt64(bitPattern: offset)
    case .register(let other): return old[other]
    case .expression(let expression):
      return try word(
        at: FrameExpression.evaluate(expression, first: frame, registers: old, memory: memory))
    case .valueExpression(let expression):
      return try FrameExpression.evaluate(
        expression, first: frame, registers: old, memory: memory)
    }
  }

  private func word(at address: UInt64) throws(StepFailure) -> UInt64 {
    guard let word = memory.word(at: address) else { throw .unreadable(address) }
    return word
  }

  /// Whether a caller's frame may start there: above this one, or on another copied stack.
  mutating func isProgress(to frame: UInt64) -> Bool {
    guard frame & 7 == 0 else { return false }
    if frame > stackPointer || frame == stackPointer && isExact && machine == .aarch64 {
      return true
    }
    return memory.region(of: frame) != memory.region(of: stackPointer)
      && isJumpAllowed(to: frame, 0)
  }

  private mutating func isJumpAllowed(to pointer: UInt64, _ caller: UInt64) -> Bool {
    if pointer == stackPointer && caller == programCounter { return false }
    jumps += 1
    return jumps <= Self.jumpLimit
  }

  /// Swift marks the frame pointer that an async function saves by its bit 60.
  func untagged(_ address: UInt64) -> UInt64 {
    address >> 60 == 1 ? address & ~(1 << 60) : address
  }

  /// A return address without the signature that aarch64 may keep in its upper bits.
  private func stripped(_ address: UInt64) -> UInt64 {
    machine == .aarch64 ? address & 0x0000_ffff_ffff_ffff : address
  }
}
