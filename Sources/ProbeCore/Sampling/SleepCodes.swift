// What kind of sleep the code at a place makes, from the instructions before it.

/// Tells system calls by the instructions that make them.
///
/// Where a thread went to sleep the kernel tells as two registers. The instruction before the program
/// counter is a system call, and the one before that mostly loads its number; anything else is a page
/// fault.
struct SleepCodes: Sendable {
  /// Places remembered; then all are read anew. Chosen.
  static let capacity = 256
  /// So much code before the program counter is read: the longest of the patterns.
  static let length = 12

  enum Code: Sendable, Equatable {
    case call(Int32)
    /// A system call whose number was loaded elsewhere, or code that cannot be read.
    case unclear
    /// No system call: the thread was put to sleep at an instruction of its own.
    case fault
  }

  private var known: [UInt64: Code] = [:]

  /// - Parameter read: so much of the target's memory; nil where it cannot be read.
  mutating func kind(
    at place: SleepPlace, read: (_ address: UInt64, _ count: Int) -> [UInt8]?
  ) -> ThreadProbe.State? {
    let counter = place.programCounter
    let code: Code
    if let seen = known[counter] {
      code = seen
    } else {
      let start = counter.subtractingReportingOverflow(UInt64(Self.length))
      let bytes = start.overflow ? nil : read(start.partialValue, Self.length)
      code = bytes.map { Self.code($0) } ?? .unclear
      if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
      known[counter] = code
    }
    switch code {
    case .unclear: return nil
    case .fault: return .blocked
    case .call(let number):
      return WaitCalls.wait(
        WaitSite(
          call: number, stackPointer: place.stackPointer, programCounter: counter)
      ).map { .waiting($0) }
    }
  }

  /// The instructions that end where the thread goes on.
  static func code(_ bytes: [UInt8]) -> Code {
    guard bytes.count >= length else { return .unclear }
    #if arch(arm64)
      return armCode(bytes)
    #else
      return intelCode(bytes)
    #endif
  }

  /// `mov $number,%eax; syscall` or `xor %eax,%eax; syscall`; the C library's locks flip a flag of the
  /// futex operation in between (`xor $flag,%sil`).
  static func intelCode(_ bytes: [UInt8]) -> Code {
    var end = bytes.count
    // int $0x80 and sysenter have other numbers.
    if bytes[(end - 2)...] == [0xcd, 0x80] || bytes[(end - 2)...] == [0x0f, 0x34] {
      return .unclear
    }
    guard bytes[(end - 2)...] == [0x0f, 0x05] else { return .fault }
    if end >= 11, bytes[(end - 6)..<(end - 3)] == [0x40, 0x80, 0xf6] { end -= 4 }
    if bytes[end - 7] == 0xb8, bytes[(end - 4)..<(end - 2)] == [0, 0] {
      return .call(Int32(bytes[end - 6]) | Int32(bytes[end - 5]) << 8)
    }
    return bytes[(end - 4)..<(end - 2)] == [0x31, 0xc0] ? .call(0) : .unclear
  }

  /// `mov x8, #number; svc #0`. Not run on hardware.
  static func armCode(_ bytes: [UInt8]) -> Code {
    func word(_ at: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
    }
    guard word(bytes.count - 4) == 0xd400_0001 else { return .fault }
    let load = word(bytes.count - 8)
    return load & 0xffe0_001f == 0xd280_0008 ? .call(Int32(load >> 5 & 0xffff)) : .unclear
  }
}

extension WaitCalls {
  /// What a call at this place waits for, whatever its arguments; nil where they decide.
  static func wait(_ site: WaitSite) -> Wait? {
    guard let call = named(site.call) else {
      return Wait(site: site, waitClass: .never, category: .other)
    }
    // Only a waiting io_uring_enter is a home, and only a read of something else than a file.
    if site.call == ringEnter || call.category == .disk && call.waitClass != .never { return nil }
    let isAnyObject = call.name == "write" || call.name == "writev"
    return Wait(
      site: site, waitClass: call.waitClass, category: isAnyObject ? .other : call.category)
  }
}
