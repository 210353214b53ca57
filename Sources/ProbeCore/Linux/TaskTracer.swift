// Stops one thread for as long as it takes to copy its registers and stack; copies without a stop.
// Safety: the arrays are borrowed for the call that fills them, and the kernel writes at most the
// sizes given; what was written is copied out before the buffer is used again.

internal import CProbe
internal import Glibc

/// How much of a stack to copy.
public struct CopyExtent: Sendable, Equatable {
  /// Bytes from the stack pointer up; rounded into 4 KiB to 1 MiB. What does not exist is not copied.
  public var stackBytes: Int
  /// An address outside the first region of which 64 KiB are wanted as well: where an unwinding of an
  /// earlier capture missed the ordinary stack below a signal's or a coroutine's.
  public var extraRegionAt: UInt64?

  public init(stackBytes: Int = 64 << 10, extraRegionAt: UInt64? = nil) {
    self.stackBytes = min(max(stackBytes, 4 << 10), 1 << 20)
    self.extraRegionAt = extraRegionAt
  }
}

/// Why a thread could not be stopped and copied; it goes on, and nobody traces it.
enum StopFailure: Error, Equatable {
  /// It was doing something else than expected, so it was left alone.
  case changed
  case gone
  /// EPERM: not ours to trace, or traced by somebody.
  case notPermitted
  /// It did not stop within the limit: uninterruptible in the kernel.
  case timedOut
  /// Registers of another size: a 32-bit program.
  case wrongMachine
  case failed(SystemError)
}

/// What a thread must be doing for a stop to be made.
struct StopCondition: ~Copyable {
  /// Its open syscall file.
  let line: Int32
  /// The content of that file.
  let expected: [UInt8]
  /// The CPU it ran on last; -1 if unknown.
  let processor: Int32
  /// Calls that a stop interrupts and that may be begun anew.
  let restartable: [Int32]
}

/// Makes all stops. Tied to the thread pw-tracer, which is why it is neither copyable nor Sendable.
///
/// Each stop happens on a short-lived thread of its own, while the caller waits: the end of a tracing
/// thread is the only thing that lets go of a target which never stopped, and it lets go in any case.
@safe struct TaskTracer: ~Copyable {
  /// The machine whose registers we know.
  static var machine: RegisterFile.Machine {
    #if arch(arm64)
      .aarch64
    #else
      .x86_64
    #endif
  }

  private static let extraBytes = 64 << 10
  /// Of a stop on a loaded machine; one that has not come by then is not going to. Chosen.
  static let limit = Nanoseconds.milliseconds(100)

  /// Stack and behind it the extra region; filled with zeros, so that its pages exist.
  private var space: [UInt8] = []

  /// Copies without a stop. The thread may move meanwhile: look before and after.
  ///
  /// - Throws: process_vm_readv(2): ESRCH, EPERM, or EFAULT for a stack pointer that is none.
  mutating func copy(
    _ tid: ThreadID, stackPointer: UInt64, _ extent: CopyExtent
  ) throws(SystemError) -> [MemoryRegion] {
    reserve(extent)
    var stack = unsafe cprobe_copy()
    var extra = unsafe cprobe_copy()
    let result = unsafe space.withUnsafeMutableBufferPointer { space in
      unsafe Self.divide(space, extent, &stack, &extra)
      return unsafe cprobe_copy_stack(tid.rawValue, stackPointer, &stack, &extra)
    }
    guard result == 0 else {
      throw SystemError(call: "process_vm_readv", object: "\(tid)", code: -result)
    }
    return unsafe regions(stack, extra, extent)
  }

  /// Stops the thread, copies, and lets it go. Blocks for at most `limit` and the copy.
  mutating func stop(
    _ tid: ThreadID, if condition: borrowing StopCondition, _ extent: CopyExtent,
    limit: Nanoseconds = Self.limit
  ) throws(StopFailure) -> StackSnapshot {
    reserve(extent)
    var request = unsafe cprobe_stop()
    unsafe request.tid = tid.rawValue
    unsafe request.cpu = condition.processor
    unsafe request.line_fd = condition.line
    unsafe request.limit_ns = limit.rawValue
    let line = condition.expected
    let restartable = condition.restartable
    let result = unsafe space.withUnsafeMutableBufferPointer { space in
      unsafe line.withUnsafeBufferPointer { line in
        unsafe restartable.withUnsafeBufferPointer { restartable in
          unsafe request.line = line.baseAddress
          unsafe request.line_size = line.count
          unsafe request.restartable = restartable.baseAddress
          unsafe request.restartable_count = restartable.count
          unsafe Self.divide(space, extent, &request.stack, &request.extra)
          return unsafe cprobe_stop_and_copy(&request)
        }
      }
    }
    try Self.check(result, tid)
    let asked = unsafe Instant(nanoseconds: request.asked_at)
    let copied = unsafe Instant(nanoseconds: request.copied_at)
    return StackSnapshot(
      tid: tid, takenAt: unsafe Instant(nanoseconds: request.stopped_at),
      stopTime: unsafe Nanoseconds(request.resumed_at - request.going_at),
      stop: asked...max(asked, copied),
      registers: unsafe Self.registers(request),
      regions: unsafe regions(request.stack, request.extra, extent))
  }

  private static func check(_ result: Int32, _ tid: ThreadID) throws(StopFailure) {
    switch -result {
    case 0: return
    case -1: throw .changed
    case ESRCH: throw .gone
    case EPERM: throw .notPermitted
    case ETIMEDOUT: throw .timedOut
    case ENOEXEC: throw .wrongMachine
    default: throw .failed(SystemError(call: "ptrace", object: "\(tid)", code: -result))
    }
  }

  private mutating func reserve(_ extent: CopyExtent) {
    let count = extent.stackBytes + Self.extraBytes
    if space.count < count { space = [UInt8](repeating: 0, count: count) }
  }

  private static func divide(
    _ space: UnsafeMutableBufferPointer<UInt8>, _ extent: CopyExtent, _ stack: inout cprobe_copy,
    _ extra: inout cprobe_copy
  ) {
    unsafe stack.buffer = space.baseAddress
    unsafe stack.size = extent.stackBytes
    guard let address = extent.extraRegionAt, let base = space.baseAddress else { return }
    unsafe extra.buffer = base + extent.stackBytes
    unsafe extra.size = extraBytes
    unsafe extra.start = address
  }

  private func regions(
    _ stack: cprobe_copy, _ extra: cprobe_copy, _ extent: CopyExtent
  ) -> [MemoryRegion] {
    var regions: [MemoryRegion] = []
    if unsafe stack.count > 0 {
      let bytes = unsafe Array(space[..<stack.count])
      regions.append(MemoryRegion(start: unsafe stack.start, bytes: bytes))
    }
    if unsafe extra.count > 0 {
      let from = extent.stackBytes
      let bytes = unsafe Array(space[from..<(from + extra.count)])
      regions.append(MemoryRegion(start: unsafe extra.start, bytes: bytes))
    }
    return regions.sorted { $0.start < $1.start }
  }

  private static func registers(_ request: cprobe_stop) -> RegisterFile {
    let values = unsafe withUnsafeBytes(of: request.registers) { bytes in
      unsafe Array(bytes.bindMemory(to: UInt64.self))
    }
    var file = RegisterFile(
      machine: machine, stackPointer: values[machine.stackPointerIndex],
      programCounter: values[machine.programCounterIndex])
    for index in 0..<machine.registerCount { file[index] = values[index] }
    return file
  }
}

@available(*, unavailable) extension TaskTracer: Sendable {}
