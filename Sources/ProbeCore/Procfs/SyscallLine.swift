// Where a blocked thread is parked: system call, arguments, stack pointer and program counter,
// told by the kernel without stopping the thread.

/// /proc/<pid>/task/<tid>/syscall; reading it needs the right to trace the target.
public enum SyscallLine: Sendable, Equatable {
  /// On a CPU or ready for one; nothing else is known.
  case running
  /// Blocked outside a system call (page fault, stop, exit). Both are 0 for a zombie.
  case outside(stackPointer: UInt64, programCounter: UInt64)
  /// Blocked inside a system call.
  case inside(Call)

  /// A system call with the user registers at its entry.
  public struct Call: Sendable, Equatable {
    /// The number by the table of the target's architecture.
    public var number: Int64
    public var arguments: Arguments
    /// User stack pointer and program counter; both 0 for a kernel thread, which shows as call 0.
    public var stackPointer: UInt64
    public var programCounter: UInt64
  }

  /// The six argument registers, used or not.
  public struct Arguments: Sendable, Equatable {
    public var first: UInt64
    public var second: UInt64
    public var third: UInt64
    public var fourth: UInt64
    public var fifth: UInt64
    public var sixth: UInt64
  }

  /// Reads the file's bytes; does not allocate unless it throws.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    if bytes.holds("running\n", at: 0) {
      self = .running
      return
    }
    var scanner = ByteScanner(file: "syscall")
    let number = try scanner.signed(bytes, "number")
    if number == -1 {
      let stackPointer = try Self.address(bytes, &scanner, "sp")
      let programCounter = try Self.address(bytes, &scanner, "pc")
      try scanner.take(.newline, bytes, "end of line")
      self = .outside(stackPointer: stackPointer, programCounter: programCounter)
      return
    }
    let arguments = Arguments(
      first: try Self.address(bytes, &scanner, "argument 1"),
      second: try Self.address(bytes, &scanner, "argument 2"),
      third: try Self.address(bytes, &scanner, "argument 3"),
      fourth: try Self.address(bytes, &scanner, "argument 4"),
      fifth: try Self.address(bytes, &scanner, "argument 5"),
      sixth: try Self.address(bytes, &scanner, "argument 6"))
    let stackPointer = try Self.address(bytes, &scanner, "sp")
    let programCounter = try Self.address(bytes, &scanner, "pc")
    try scanner.take(.newline, bytes, "end of line")
    self = .inside(
      Call(
        number: number, arguments: arguments, stackPointer: stackPointer,
        programCounter: programCounter))
  }

  private static func address(
    _ bytes: Span<UInt8>, _ scanner: inout ByteScanner, _ field: String
  ) throws(ProcParseError) -> UInt64 {
    scanner.skipBlanks(bytes)
    guard bytes.holds("0x", at: scanner.position) else { throw scanner.failure(bytes, field) }
    scanner.position += 2
    guard scanner.peek(bytes)?.hexDigit != nil else { throw scanner.failure(bytes, field) }
    let value = try scanner.hex(bytes, field)
    guard let next = scanner.peek(bytes), next.isSeparator else {
      throw scanner.failure(bytes, field)
    }
    return value
  }
}
