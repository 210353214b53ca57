// Captures one thread of a process at a time: by its files where it is blocked, by a stop where not.
// What comes out is a copy; whoever reads it does so while the thread has long gone on.

/// What is wanted of one capture.
public struct CaptureRequest: Sendable, Equatable {
  public var extent: CopyExtent
  /// Wants all registers of a blocked thread too, which takes a stop where a stop does not show.
  public var needsRegisters: Bool
  /// A thread that could only be captured by a stop is left alone.
  public var mayStop = true

  public init(
    extent: CopyExtent = CopyExtent(), needsRegisters: Bool = false, mayStop: Bool = true
  ) {
    self.extent = extent
    self.needsRegisters = needsRegisters
    self.mayStop = mayStop
  }
}

/// The captures of one process. Belongs to pw-tracer, as everything that stops a thread.
public struct StackCapturer: ~Copyable {
  public let pid: ProcessID
  /// /proc/<pid>/task; of this process for good, also when its number is used again.
  private let folder: FileDescriptor
  private var tracer = TaskTracer()
  /// What the syscall file said of the thread when it was captured; of the last capture that gave one.
  public private(set) var line = SyscallLine.running
  /// Of the thread that was captured last.
  private var kept: CaptureFiles?

  /// - Throws: `gone` or `notPermitted`.
  public init(_ pid: ProcessID) throws(CaptureRefusal) {
    self.pid = pid
    do {
      folder = try Syscalls.openFolder("/proc/\(pid)/task")
    } catch {
      throw CaptureRefusal(error)
    }
  }

  /// Registers and stack of a thread, as they were at one moment.
  ///
  /// Blocks for some microseconds; at worst, where a stop does not come, for a tenth of a second.
  ///
  /// - Returns: a snapshot; `stopTime` is zero where the thread was not stopped. If its first region
  ///   is as long as asked for, there is more above it. A stack pointer that points nowhere gives no
  ///   region.
  /// - Throws: why there is none. The thread goes on as if nothing had been.
  public mutating func capture(
    _ tid: ThreadID, _ request: CaptureRequest = CaptureRequest()
  ) throws(CaptureRefusal) -> StackSnapshot {
    var files: CaptureFiles
    if let last = kept.take(), last.tid == tid {
      files = last
    } else {
      files = try CaptureFiles(pid, tid, in: folder)
    }
    var denials = 0
    // An attempt fails because the thread has moved on; six are chosen.
    for _ in 0..<6 {
      do {
        guard let snapshot = try attempt(&files, request) else { continue }
        kept = consume files
        return snapshot
      } catch {
        // At its end, and while another thread's exec takes its number over, a thread answers EPERM
        // to everybody (measured: for less than 0.1 ms).
        // A thread in an exec has no stack either.
        if error == .kernelThread, files.stat()?.isKernelThread == false { continue }
        denials += 1
        if error != .notPermitted || denials == 3 { throw error }
        var nothing = PollSet([])
        nothing.wait(.milliseconds(1))
      }
    }
    throw .moved
  }

  /// nil if the thread has moved.
  private mutating func attempt(
    _ files: inout CaptureFiles, _ request: CaptureRequest
  ) throws(CaptureRefusal) -> StackSnapshot? {
    let slices = files.slices()
    let bytes = try files.readLine()
    let line: SyscallLine
    do {
      line = try SyscallLine(bytes.span)
    } catch {
      throw .malformed(error)
    }
    let plan = CapturePlan(
      line: line, needsRegisters: request.needsRegisters, state: { files.stat()?.state },
      isSocket: { files.isSocket($0) })
    switch plan {
    case .refuse(.traced): throw .traced(by: files.tracer())
    case .refuse(let refusal): throw refusal
    case .stop where !request.mayStop: throw .moved
    case .stop:
      let snapshot = try stop(files, bytes, request.extent)
      self.line = line
      return snapshot
    case .withoutStop(let stackPointer, let programCounter):
      let takenAt = Clock.now()
      let regions = try copy(files.tid, stackPointer, request.extent)
      // It was blocked, and has not been put on a CPU since: nothing of it has changed. Without that count
      // the same place has to do, though it may have left and come back with another stack above.
      let later = files.slices()
      guard later == slices else { return nil }
      if later ?? 0 == 0, try files.readLine() != bytes { return nil }
      self.line = line
      return StackSnapshot(
        tid: files.tid, takenAt: takenAt, stopTime: .zero,
        registers: RegisterFile(
          machine: TaskTracer.machine, stackPointer: stackPointer, programCounter: programCounter),
        regions: regions)
    }
  }

  private mutating func copy(
    _ tid: ThreadID, _ stackPointer: UInt64, _ extent: CopyExtent
  ) throws(CaptureRefusal) -> [MemoryRegion] {
    do {
      return try tracer.copy(tid, stackPointer: stackPointer, extent)
    } catch {
      // A stack pointer into nowhere still has a program counter beside it.
      if error.isBadAddress { return [] }
      throw CaptureRefusal(error)
    }
  }

  private mutating func stop(
    _ files: borrowing CaptureFiles, _ line: [UInt8], _ extent: CopyExtent
  ) throws(CaptureRefusal) -> StackSnapshot? {
    let condition = StopCondition(
      line: files.line, expected: line, processor: files.stat()?.processor ?? -1,
      restartable: InterruptedCalls.restartable)
    do {
      return try tracer.stop(files.tid, if: condition, extent)
    } catch {
      switch error {
      case .changed: return nil
      case .gone: throw .gone
      case .timedOut: throw .uninterruptible
      case .wrongMachine: throw .wrongMachine
      case .failed(let failure): throw .failed(failure)
      case .notPermitted: throw Self.refusal(files)
      }
    }
  }

  /// The kernel has one answer, EPERM, for many reasons.
  private static func refusal(_ files: borrowing CaptureFiles) -> CaptureRefusal {
    if let tracer = files.tracer() { return .traced(by: tracer) }
    guard let stat = files.stat(), !stat.isZombie, !stat.isExiting else { return .gone }
    return stat.isKernelThread ? .kernelThread : .notPermitted
  }
}

@available(*, unavailable) extension StackCapturer: Sendable {}
