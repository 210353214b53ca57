// The copy of one thread's registers and stack: what unwinding works on, never the live thread.

/// Registers in the numbering of DWARF for the machine; those that the capture could not learn are
/// not known (without a stop only stack pointer and program counter are).
public struct RegisterFile: Sendable, Equatable {
  public enum Machine: UInt8, Sendable {
    /// 0 to 15 are rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15; 16 is rip.
    case x86_64
    /// 0 to 30 are x0 to x30; 31 is sp; 32 is pc.
    case aarch64

    public var registerCount: Int { self == .x86_64 ? 17 : 33 }
    public var stackPointerIndex: Int { self == .x86_64 ? 7 : 31 }
    public var framePointerIndex: Int { self == .x86_64 ? 6 : 29 }
    public var programCounterIndex: Int { self == .x86_64 ? 16 : 32 }
  }

  public let machine: Machine
  /// By DWARF number; 0 where not known.
  public private(set) var values: [UInt64]
  /// Bit n is set if register n is known.
  public private(set) var known: UInt64

  /// Nothing known but where the thread is.
  public init(machine: Machine, stackPointer: UInt64, programCounter: UInt64) {
    self.machine = machine
    values = Array(repeating: 0, count: machine.registerCount)
    known = 0
    self[machine.stackPointerIndex] = stackPointer
    self[machine.programCounterIndex] = programCounter
  }

  /// The register with that DWARF number; nil if not known or if there is none.
  public subscript(index: Int) -> UInt64? {
    get {
      guard values.indices.contains(index), known & (1 << UInt64(index)) != 0 else { return nil }
      return values[index]
    }
    set {
      guard values.indices.contains(index) else { return }
      values[index] = newValue ?? 0
      if newValue == nil {
        known &= ~(1 << UInt64(index))
      } else {
        known |= 1 << UInt64(index)
      }
    }
  }

  public var stackPointer: UInt64 { values[machine.stackPointerIndex] }
  public var programCounter: UInt64 { values[machine.programCounterIndex] }
}

/// A copied piece of the target's memory.
public struct MemoryRegion: Sendable, Equatable {
  /// The address of the first byte in the target.
  public var start: UInt64
  public var bytes: [UInt8]

  public init(start: UInt64, bytes: [UInt8]) {
    self.start = start
    self.bytes = bytes
  }

  public var end: UInt64 { start &+ UInt64(bytes.count) }
}

/// One thread's registers and the live part of its stack, at one moment.
public struct StackSnapshot: Sendable, Equatable {
  public var tid: ThreadID
  public var takenAt: Instant
  /// How long the thread was stopped for it; zero if it was taken without a stop.
  public var stopTime: Nanoseconds
  /// In this time it left its CPU because of us: from when it was asked to stop until all was copied. What it
  /// does after that is its own, however long its release took us. Nil if it was not stopped.
  public var stop: ClosedRange<Instant>?
  public var registers: RegisterFile
  /// The stack from the stack pointer up; after it, where needed, a second one (the ordinary stack
  /// below a signal's). Sorted by address, not overlapping.
  public var regions: [MemoryRegion]

  public init(
    tid: ThreadID, takenAt: Instant, stopTime: Nanoseconds, stop: ClosedRange<Instant>? = nil,
    registers: RegisterFile, regions: [MemoryRegion]
  ) {
    self.tid = tid
    self.takenAt = takenAt
    self.stopTime = stopTime
    self.stop = stop
    self.registers = registers
    self.regions = regions
  }
}
