// How a thread is to be captured: without a stop wherever possible, and never where a stop shows.

/// Why there is no copy of a thread's stack. Evidence, not a failure: the thread was left alone.
public enum CaptureRefusal: Error, Sendable, Equatable {
  /// It has ended, or is a zombie.
  case gone
  /// It has no user stack.
  case kernelThread
  /// Each time it moved on while it was copied.
  case moved
  /// Its registers would need a stop, which the program would see as EINTR from this call.
  case wouldInterrupt(call: String)
  /// A stop would not come: it waits uninterruptibly (disk, vfork, freezer), or did not stop in time.
  case uninterruptible
  /// Somebody else traces it, and its registers would need a stop.
  case traced(by: ProcessID?)
  /// The kernel does not permit us to look at it.
  case notPermitted
  /// A 32-bit program.
  case wrongMachine
  case malformed(ProcParseError)
  case failed(SystemError)
}

extension CaptureRefusal {
  /// The reason in words, for where a user has to know.
  var words: String {
    switch self {
    case .gone: "it had ended"
    case .kernelThread: "it is a kernel thread"
    case .moved: "it moved on each time"
    case .wouldInterrupt(let call): "a stop would show as EINTR from \(call)"
    case .uninterruptible: "it waits uninterruptibly"
    case .traced(let tracer):
      tracer.map { "traced by process \($0)" } ?? "traced by another process"
    case .notPermitted: "the kernel does not permit it"
    case .wrongMachine: "a 32-bit program"
    case .malformed: "/proc could not be understood"
    case .failed(let error): "\(error.call): \(error.reason)"
    }
  }
}

/// What to do about one thread, from what /proc says of it. Pure.
enum CapturePlan: Equatable {
  /// It is blocked: its registers are these two, its stack can be read as it is.
  case withoutStop(stackPointer: UInt64, programCounter: UInt64)
  case stop
  case refuse(CaptureRefusal)

  /// - Parameters:
  ///   - line: its syscall file.
  ///   - needsRegisters: whether more than stack pointer and program counter are wanted.
  ///   - state: its state letter, asked for only where it matters.
  ///   - isSocket: whether a descriptor of the process is a socket; asked for only where it matters.
  init(
    line: SyscallLine, needsRegisters: Bool, state: () -> UInt8?, isSocket: (UInt64) -> Bool
  ) {
    let place: (stackPointer: UInt64, programCounter: UInt64)?
    var call: SyscallLine.Call?
    switch line {
    case .running: place = nil
    case .outside(let stackPointer, let programCounter): place = (stackPointer, programCounter)
    case .inside(let inside):
      place = (inside.stackPointer, inside.programCounter)
      call = inside
    }
    // Also of a thread that is stopped, frozen, traced or uninterruptible.
    if let place, place.stackPointer != 0, !needsRegisters {
      self = .withoutStop(
        stackPointer: place.stackPointer, programCounter: place.programCounter)
      return
    }
    let hasStack = place.map { $0.stackPointer != 0 } ?? true
    self = Self.stop(state(), isBlocked: place != nil, hasStack: hasStack, in: call, isSocket)
  }

  private static func stop(
    _ state: UInt8?, isBlocked: Bool, hasStack: Bool, in call: SyscallLine.Call?,
    _ isSocket: (UInt64) -> Bool
  ) -> CapturePlan {
    switch state {
    case nil, UInt8(ascii: "Z"), UInt8(ascii: "X"): return .refuse(.gone)
    case UInt8(ascii: "I"): return .refuse(.kernelThread)
    case _ where !hasStack: return .refuse(.kernelThread)
    case UInt8(ascii: "t"): return .refuse(.traced(by: nil))
    case UInt8(ascii: "D") where isBlocked: return .refuse(.uninterruptible)
    // Stopped by job control: its call has been interrupted already, and it stays stopped.
    case UInt8(ascii: "T"): return .stop
    default:
      guard let call, let known = InterruptedCalls.named(call.number) else { return .stop }
      let isSeen =
        switch known.when {
        case .always: true
        case .onSockets: isSocket(call.arguments.first)
        }
      return isSeen ? .refuse(.wouldInterrupt(call: known.name)) : .stop
    }
  }
}
