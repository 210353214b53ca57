// What all CPUs of the machine did, and what the hypervisor took from them.

/// The first line of /proc/stat, in ticks of 1/sysconf(_SC_CLK_TCK) s summed over all CPUs.
public struct SystemStat: Sendable, Equatable {
  /// Guest time is contained in `userTicks` and `niceTicks`.
  public var userTicks: UInt64
  public var niceTicks: UInt64
  public var systemTicks: UInt64
  public var idleTicks: UInt64
  /// Not reliable: only idle time with a disk request under way.
  public var ioWaitTicks: UInt64
  public var interruptTicks: UInt64
  public var softInterruptTicks: UInt64
  /// Time in which a CPU of this virtual machine was ready but another one had the real CPU.
  public var stealTicks: UInt64

  /// Reads the file's bytes; does not allocate unless it throws. Later lines are not looked at.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var scanner = ByteScanner(file: "stat")
    guard bytes.holds("cpu ", at: 0) else { throw scanner.failure(bytes, "cpu") }
    scanner.position = 4
    userTicks = try scanner.unsigned(bytes, "user")
    niceTicks = try scanner.unsigned(bytes, "nice")
    systemTicks = try scanner.unsigned(bytes, "system")
    idleTicks = try scanner.unsigned(bytes, "idle")
    ioWaitTicks = try scanner.unsigned(bytes, "iowait")
    interruptTicks = try scanner.unsigned(bytes, "irq")
    softInterruptTicks = try scanner.unsigned(bytes, "softirq")
    stealTicks = try scanner.unsigned(bytes, "steal")
  }
}
