// From a copied stack to program counters. An interpreter of call frame information of our own, in
// place of libunwind: Docs/unwinding.md has the reasons and the measurements.

/// A stack, and what was missing of it.
public struct UnwoundStack: Sendable, Equatable {
  public var stack: RawStack
  /// With `copyLimit`: an address of the target that was needed and not copied. A capture that also
  /// copies from there on (the ordinary stack below a signal's, a coroutine's caller) leads further.
  public var missingAddress: UInt64?
}

/// Unwinds the stacks of one process. For one thread; the process may be gone by then, as far as
/// its files were opened before.
public final class Unwinder {
  /// Where an address of the process belongs.
  public let space: AddressSpace
  private let frameLimit: Int
  private var rows = RowCache()
  /// By address, how far the frame pointer is above the stack pointer; -1 where that is not known.
  private var distances: [UInt64: Int64] = [:]
  private static let distanceLimit = 1 << 14
  private var hasMap = false
  /// How often code has been found to have changed; what was learnt by address before is not true.
  public private(set) var codeChanges = 0
  /// The map was read anew for this stack; once is enough.
  private var isFresh = false

  /// - Parameters:
  ///   - cache: of files, shared by all processes that are watched.
  ///   - frameLimit: longer stacks are cut there.
  ///   - procRoot: where procfs is.
  public convenience init(
    _ pid: ProcessID, cache: ModuleCache, frameLimit: Int = 4096, procRoot: String = "/proc"
  ) {
    self.init(AddressSpace(pid, cache: cache, procRoot: procRoot), frameLimit: frameLimit)
  }

  init(_ space: AddressSpace, frameLimit: Int = 4096) {
    self.space = space
    self.frameLimit = max(1, frameLimit)
  }

  /// Reads the map anew. Done by itself when a program counter is in no mapping; to be called after
  /// an exec, and where code may have been unloaded and other code loaded in its place.
  ///
  /// - Throws: what reading /proc/<pid>/maps gave; the old map then stays in use.
  public func refreshMap() throws(SystemError) {
    hasMap = true
    if try space.refresh() {
      rows.removeAll()
      distances.removeAll()
      codeChanges += 1
    }
  }

  /// Unwinds a snapshot of a thread of the process.
  public func unwind(_ snapshot: StackSnapshot) -> UnwoundStack {
    isFresh = false
    if !hasMap { refreshOnce() }
    var walk = StackWalk(snapshot)
    var frames: [RawFrame] = []
    frames.reserveCapacity(32)
    while true {
      frames.append(
        RawFrame(
          programCounter: walk.programCounter, isExact: walk.isExact, source: walk.source))
      let result = step(&walk)
      switch result {
      case .caller:
        // What handlers return to was called by nobody: its address is that of its first instruction.
        if walk.isExact { frames[frames.count - 1].isExact = true }
        if frames.count >= frameLimit { return finished(frames, .frameLimit) }
      case .end: return finished(frames, nil)
      case .cut(let reason): return finished(frames, reason)
      case .nowhere:
        frames.removeLast()
        return finished(frames, .noProgress)
      case .missing(let address):
        // An address where nothing is mapped was made up by a damaged stack.
        let isMapped = space.map.index(of: address) != nil
        return finished(
          frames, isMapped ? .copyLimit : .noProgress, missing: isMapped ? address : nil)
      }
    }
  }

  private func finished(
    _ frames: [RawFrame], _ truncation: StackTruncation?, missing: UInt64? = nil
  ) -> UnwoundStack {
    UnwoundStack(
      stack: RawStack(frames: frames, truncation: truncation), missingAddress: missing)
  }

  private func refreshOnce() {
    isFresh = true
    // Without a map (the process is gone, not permitted) the stack says where it ends.
    try? refreshMap()
  }

  private func step(_ walk: inout StackWalk) -> StepResult {
    let address = walk.lookupAddress
    guard let number = rows.number(of: address) ?? resolve(address, walk) else {
      return stepFromNowhere(&walk)
    }
    if number < 0 { return stepWithoutTable(&walk, RowCache.Tableless(rawValue: number)) }
    if let plain = rows.plainRow(number) {
      let pointer = UInt8(walk.machine.framePointerIndex)
      if plain.frameRegister == pointer, walk.registers[pointer] == nil, plain.frameOffset == 16 {
        walk.registers[pointer] = framePointer(walk)
      }
      return walk.step(plain)
    }
    do {
      return try walk.step(rows.row(number))
    } catch {
      switch error {
      case .unknownRegister: return .cut(.unknownRegister)
      case .unreadable(let address): return .missing(address)
      case .malformed: return .cut(.noUnwindInfo)
      }
    }
  }

  /// Finds the row for an address and keeps it; nil where no code is mapped.
  private func resolve(_ address: UInt64, _ walk: StackWalk) -> Int32? {
    guard let index = codeMapping(address) else { return nil }
    let loaded = space.loaded(index)
    if let bias = loaded.bias, let row = loaded.tables?.row(for: address &- bias) {
      return rows.insert(address, row)
    }
    let signalReturn = MachineCode.signalReturn(walk.machine)
    if space.code(at: walk.programCounter, count: signalReturn.count) == signalReturn {
      return rows.insert(address, .signalReturn)
    }
    return rows.insert(address, isEntry(walk, loaded) ? .entry : .code)
  }

  /// The frame pointer of a thread that was not stopped, by the code of the function. Not believed
  /// unless a return address lies above it.
  private func framePointer(_ walk: StackWalk) -> UInt64? {
    guard walk.machine == .x86_64 else { return nil }
    let address = walk.lookupAddress
    let distance: Int64
    if let known = distances[address] {
      distance = known
    } else {
      if distances.count >= Self.distanceLimit { distances.removeAll() }
      distance = frameDistance(address)
      distances[address] = distance
    }
    guard distance >= 0 else { return nil }
    let pointer = walk.stackPointer &+ UInt64(distance)
    // The ABI aligns the stack at each call, and so the frame pointer.
    guard pointer & 15 == 0, let caller = walk.memory.word(at: pointer &+ 8),
      isReturn(caller, walk.machine)
    else { return nil }
    return pointer
  }

  private func frameDistance(_ address: UInt64) -> Int64 {
    // 96 bytes hold what compilers put before the frame is complete (chosen).
    guard let index = codeMapping(address) else { return -1 }
    let loaded = space.loaded(index)
    guard let bias = loaded.bias, let start = loaded.tables?.functionStart(of: address &- bias),
      let bytes = space.code(at: start &+ bias, count: Int(min(address &- bias &- start, 96))),
      let distance = Prologue.distance(bytes)
    else { return -1 }
    return Int64(distance)
  }

  private func codeMapping(_ address: UInt64) -> Int? {
    // The first page is never mapped: a call of a null pointer is no reason to read the map.
    guard address >= 4096 else { return nil }
    var index = space.map.index(of: address)
    if index == nil, !isFresh {
      refreshOnce()
      index = space.map.index(of: address)
    }
    return index.flatMap { space.map.mappings[$0].isExecutable ? $0 : nil }
  }

  /// The program counter is in no code. A call through a bad pointer has left its return address at
  /// the stack pointer (or in the link register); anything else is a damaged stack.
  private func stepFromNowhere(_ walk: inout StackWalk) -> StepResult {
    guard walk.isExact else { return .nowhere }
    let pointer = walk.stackPointer
    switch walk.machine {
    case .x86_64:
      guard let caller = walk.memory.word(at: pointer), isReturn(caller, walk.machine) else {
        return .cut(.noUnwindInfo)
      }
      return walk.enter(caller, stackPointer: pointer &+ 8, source: .framePointer)
    case .aarch64:
      guard let caller = walk.registers[30], isReturn(caller, walk.machine) else {
        return .cut(.noUnwindInfo)
      }
      return walk.enter(caller, stackPointer: pointer, source: .framePointer)
    }
  }

  /// No table knows the code: a signal's return, the first code of a program, or a frame pointer.
  private func stepWithoutTable(
    _ walk: inout StackWalk, _ what: RowCache.Tableless?
  ) -> StepResult {
    switch what {
    case .signalReturn: return walk.stepOutOfSignal()
    case .entry: return .end
    case .code, nil:
      if walk.isExact, let result = stepAtBorder(&walk) { return result }
      return stepByFramePointer(&walk)
    }
  }

  /// _start, which calls and is never returned to; 64 bytes is more than it has anywhere.
  private func isEntry(_ walk: StackWalk, _ loaded: AddressSpace.Loaded) -> Bool {
    guard !walk.isExact, let bias = loaded.bias, let entry = loaded.tables?.layout.entry else {
      return false
    }
    return entry != 0 && walk.programCounter &- bias &- entry <= 64
  }

  /// The innermost frame may not be set up yet, or not any more.
  private func stepAtBorder(_ walk: inout StackWalk) -> StepResult? {
    guard let bytes = space.code(at: walk.programCounter &- 1, count: 5),
      let border = MachineCode.border(
        before: bytes[0], after: Array(bytes[1...]), walk.machine)
    else { return nil }
    let place = walk.stackPointer &+ (border == .pushed ? 8 : 0)
    guard let caller = walk.memory.word(at: place), isReturn(caller, walk.machine) else {
      return nil
    }
    if border == .pushed {
      let pointer = UInt8(walk.machine.framePointerIndex)
      walk.registers[pointer] = walk.memory.word(at: walk.stackPointer)
    }
    return walk.enter(caller, stackPointer: place &+ 8, source: .framePointer)
  }

  /// The frame pointer's chain. It is not believed: it must lead up, within what was copied, to the
  /// address behind a call.
  private func stepByFramePointer(_ walk: inout StackWalk) -> StepResult {
    let register = UInt8(walk.machine.framePointerIndex)
    guard let raw = walk.registers[register] else { return .cut(.unknownRegister) }
    let pointer = walk.untagged(raw)
    // The psABI's mark of the deepest frame; in the innermost it may be any number.
    if pointer == 0, !walk.isExact { return .end }
    guard pointer & 7 == 0, pointer >= walk.stackPointer else { return .cut(.noUnwindInfo) }
    guard let next = walk.memory.word(at: pointer), let caller = walk.memory.word(at: pointer &+ 8)
    else {
      // Beyond the copy, but in the same mapping: the copy was too short.
      let mapping = space.map.index(of: walk.stackPointer)
      let isStack = mapping != nil && mapping == space.map.index(of: pointer)
      return isStack ? .missing(pointer) : .cut(.noUnwindInfo)
    }
    if caller == 0 { return .end }
    guard isReturn(caller, walk.machine) else { return .cut(.noUnwindInfo) }
    // What the frame did to the other registers, nobody says.
    walk.registers.keepOnly(0)
    walk.registers[register] = walk.untagged(next)
    return walk.enter(caller, stackPointer: pointer &+ 16, source: .framePointer)
  }

  /// Whether an address may be a return address: in code, and behind a call where that can be seen.
  private func isReturn(_ address: UInt64, _ machine: RegisterFile.Machine) -> Bool {
    if rows.number(of: address &- 1) != nil { return true }
    guard codeMapping(address &- 1) != nil else { return false }
    let length = MachineCode.callLength(machine)
    guard let bytes = space.code(at: address &- UInt64(length), count: length) else { return true }
    return MachineCode.endsWithCall(bytes, machine)
  }
}
