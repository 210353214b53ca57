// What the machine and the rest of the program did while a thread was stalled.

/// Differences over the part of a stall that was watched for it.
public struct StallSurroundings: Sendable, Equatable {
  /// The stall's number.
  public var stall: Int
  public var length: Nanoseconds
  /// CPU of the whole target, and of the stalled thread.
  public var processCPU: Nanoseconds
  public var threadCPU: Nanoseconds
  /// CPU of all programs on the machine, in nanoseconds; nil where it cannot be read.
  public var machineCPU: Nanoseconds?
  /// Time that the hypervisor gave to others, summed over all CPUs.
  public var stolen: Nanoseconds?
  /// Time in which the control group was held back by its quota; never more than `length`.
  public var throttled: Nanoseconds?
  /// Time in which threads waited for memory (PSI): any of the machine's, any of the control group's; nil where
  /// the kernel does not tell. Never more than `length`.
  public var memoryShortage: Nanoseconds?
  public var groupMemoryShortage: Nanoseconds?
  /// 0 to 1: how much of the machine's memory the target held.
  public var memoryShare: Double?
  /// Of the thread, over the whole stall.
  public var minorFaults: UInt64?
  public var majorFaults: UInt64?

  public init(
    stall: Int, length: Nanoseconds, processCPU: Nanoseconds = .zero,
    threadCPU: Nanoseconds = .zero
  ) {
    self.stall = stall
    self.length = length
    self.processCPU = processCPU
    self.threadCPU = threadCPU
  }

  /// 0 to 1: how much of what others than the stalled thread computed was the target's own.
  public var ownShareOfLoad: Double? {
    guard let machineCPU else { return nil }
    let own = max(0, (processCPU - threadCPU).inSeconds)
    let others = max(own, (machineCPU - threadCPU).inSeconds)
    // Next to nothing ran: then nobody had the CPUs.
    return others > 0.001 ? own / others : nil
  }

  /// 0 to 1: how much of the time that CPUs wanted to run was taken away.
  public var stolenShare: Double? {
    guard let machineCPU, let stolen else { return nil }
    let wanted = (machineCPU + stolen).inSeconds
    return wanted > 0.001 ? max(0, stolen.inSeconds) / wanted : nil
  }
}

extension StallSurroundings {
  /// 0 to 1: the part of the time in which memory was short.
  public var shortShare: Double {
    guard let memoryShortage, length > .zero else { return 0 }
    return min(1, memoryShortage.inSeconds / length.inSeconds)
  }

  /// Memory was short for the control group, and for nobody else: its limit was reached.
  public var isGroupShort: Bool {
    guard let memoryShortage, let groupMemoryShortage, groupMemoryShortage > .zero else {
      return false
    }
    return groupMemoryShortage.inSeconds >= 0.8 * memoryShortage.inSeconds
  }

  /// 0 to 1: of waiting for pages, what others are to blame for: the rest of what fills the memory, or a limit
  /// that was set for the program.
  public var foreignShareOfPaging: Double {
    shortShare * (isGroupShort ? 1 : 1 - min(1, max(0, memoryShare ?? 0)))
  }

  /// The parts with the time in which the control group was held back, which else shows as run-queue
  /// delay or, where the kernel takes such threads off their queue, as nothing; more than a tenth of a second
  /// of that looks as if it was stopped.
  ///
  /// - Parameter length: of the stall; what was seen in the watched part of it holds for all of it.
  func sharpened(
    _ parts: Summary.CauseParts, length whole: Nanoseconds
  ) -> Summary.CauseParts {
    guard let throttled, throttled > .zero, length > .zero else { return parts }
    var parts = parts
    var rest = throttled.inSeconds * max(1, whole.inSeconds / length.inSeconds)
    for field in [\Summary.CauseParts.runDelay, \.unknown, \.stopped] {
      let taken = min(parts[keyPath: field], Nanoseconds(Int64((min(rest, 1e9) * 1e9).rounded())))
      parts[keyPath: field] += .zero - taken
      parts.throttled += taken
      rest -= taken.inSeconds
    }
    return parts
  }

  func encode(into out: inout ByteWriter) {
    out.put(stall)
    out.put(length)
    out.put(processCPU)
    out.put(threadCPU)
    for time in [machineCPU, stolen, throttled] { out.put(optional: time) { $0.put($1) } }
    for count in [minorFaults, majorFaults] { out.put(optional: count) { $0.put($1) } }
    for time in [memoryShortage, groupMemoryShortage] { out.put(optional: time) { $0.put($1) } }
    out.put(optional: memoryShare) { $0.put($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    self.init(
      stall: try reader.int(), length: try reader.nanoseconds(),
      processCPU: try reader.nanoseconds(), threadCPU: try reader.nanoseconds())
    machineCPU = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    stolen = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    throttled = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    minorFaults = try reader.optional { (r) throws(WireError) in try r.unsigned() }
    majorFaults = try reader.optional { (r) throws(WireError) in try r.unsigned() }
    memoryShortage = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    groupMemoryShortage = try reader.optional { (r) throws(WireError) in try r.nanoseconds() }
    memoryShare = try reader.optional { (r) throws(WireError) in try r.double() }
  }
}
