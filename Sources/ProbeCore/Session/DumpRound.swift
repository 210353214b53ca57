// One round of captures over the threads of a process.

/// A thread that was looked at.
struct CapturedThread {
  var listed: ListedThread
  var line: SyscallLine?
  var wait: DumpedThread.Wait?
  /// Its stack bytes are dropped once it is unwound.
  var snapshot: StackSnapshot?
  var unwound: UnwoundStack?
  /// Why there is no stack, or no more of it.
  var refusal: CaptureRefusal?
  var stopTime = Nanoseconds.zero
}

/// Captures many threads first and unwinds them then: their stacks are of nearly the same moment.
struct DumpRound: ~Copyable {
  private(set) var captured: [CapturedThread] = []
  private(set) var cost = ThreadDump.Cost()

  private let pid: ProcessID
  private let resolver: StackResolver
  private let questions: ProcessQuestions
  private var capturer: StackCapturer
  private var settled = 0
  private var heldBytes = 0
  /// Stops that did not come; each costs a tenth of a second.
  private var lateStops = 0

  /// So many bytes of stacks are held before they are unwound. Chosen; 1000 blocked threads are 5 MB, and
  /// fresh memory for all of them costs more than to unwind them (measured). It is a hundred threads or so.
  private static let byteLimit = 512 << 10
  /// Chosen: who does not stop three times belongs to a frozen process.
  private static let lateStopLimit = 3
  /// A thread is captured again at most so often: registers, more bytes, another region.
  private static let attempts = 6

  init(_ pid: ProcessID, resolver: StackResolver, threads: [ListedThread]) throws(WatchError) {
    self.pid = pid
    self.resolver = resolver
    questions = Self.questions(pid, threads)
    do {
      capturer = try StackCapturer(pid)
    } catch {
      throw WatchError("cannot dump \(pid): \(DumpTexts.text(error))")
    }
  }

  /// Takes a thread's stack; to be followed by `settle`.
  mutating func capture(_ thread: ListedThread) {
    var entry = CapturedThread(listed: thread)
    if thread.isEnded {
      entry.refusal = .gone
    } else {
      take(&entry, CaptureRequest())
      // It goes on and off a CPU faster than we look.
      if entry.refusal == .moved { take(&entry, CaptureRequest()) }
      describeWait(&entry)
    }
    heldBytes += entry.snapshot?.regions.reduce(0) { $0 + $1.bytes.count } ?? 0
    captured.append(entry)
    if heldBytes > Self.byteLimit { settle() }
  }

  /// Unwinds what was captured, and captures again where that leads further.
  mutating func settle() {
    while settled < captured.count {
      let index = settled
      settled += 1
      guard let snapshot = captured[index].snapshot else { continue }
      captured[index].unwound = resolver.unwind(snapshot)
      extend(index)
      captured[index].snapshot?.regions = []
      count(captured[index])
    }
    heldBytes = 0
  }

  private mutating func count(_ entry: CapturedThread) {
    if entry.stopTime > .zero { cost.stopped += 1 } else { cost.withoutStop += 1 }
  }

  // MARK: Capturing

  /// - Returns: whether there is a new snapshot.
  @discardableResult
  private mutating func take(_ entry: inout CapturedThread, _ request: CaptureRequest) -> Bool {
    do {
      let snapshot = try capturer.capture(entry.listed.tid, request)
      entry.snapshot = snapshot
      entry.line = capturer.line
      entry.refusal = nil
      if snapshot.stopTime > .zero {
        entry.stopTime += snapshot.stopTime
        cost.stops += 1
        cost.stopTotal += snapshot.stopTime
        cost.stopLongest = max(cost.stopLongest, snapshot.stopTime)
      }
      return true
    } catch {
      if error == .uninterruptible { lateStops += 1 }
      entry.refusal = error
      return false
    }
  }

  private mutating func extend(_ index: Int) {
    var request = CaptureRequest()
    for _ in 0..<Self.attempts {
      guard let old = captured[index].unwound, let snapshot = captured[index].snapshot,
        let next = Self.next(after: request, old, snapshot)
      else { return }
      if next.needsRegisters, lateStops >= Self.lateStopLimit {
        captured[index].refusal = .uninterruptible
        return
      }
      request = next
      var entry = captured[index]
      guard take(&entry, request), let new = entry.snapshot else {
        captured[index].refusal = entry.refusal
        return
      }
      let unwound = resolver.unwind(new)
      // A running thread has moved on; the longer of two stacks tells more.
      let isBetter =
        unwound.stack.truncation == nil || unwound.stack.frames.count >= old.stack.frames.count
      if isBetter {
        entry.unwound = unwound
        describeWait(&entry)
        captured[index] = entry
      } else {
        captured[index].stopTime = entry.stopTime
        return
      }
    }
  }

  /// What another capture would have to copy; nil if none would lead further.
  private static func next(
    after request: CaptureRequest, _ unwound: UnwoundStack, _ snapshot: StackSnapshot
  ) -> CaptureRequest? {
    var next = request
    switch unwound.stack.truncation {
    case .unknownRegister where !request.needsRegisters: next.needsRegisters = true
    case .copyLimit:
      guard let missing = unwound.missingAddress else { return nil }
      let bottom = snapshot.registers.stackPointer
      let most = CopyExtent(stackBytes: .max).stackBytes
      let isAbove = missing >= bottom && missing - bottom < UInt64(most)
      if isAbove, request.extent.stackBytes < most {
        next.extent = CopyExtent(
          stackBytes: Int(missing - bottom) * 2 + request.extent.stackBytes * 4,
          extraRegionAt: request.extent.extraRegionAt)
      } else if request.extent.extraRegionAt == nil {
        next.extent.extraRegionAt = missing
      } else {
        return nil
      }
    case nil, .unknownRegister, .noUnwindInfo, .frameLimit, .noProgress: return nil
    }
    return next
  }

  // MARK: What it waits for

  private func describeWait(_ entry: inout CapturedThread) {
    guard case .inside(let call)? = entry.line else {
      entry.wait = nil
      return
    }
    entry.wait = BlockedCall.describe(call, questions)
    if entry.listed.letter == UInt8(ascii: "D") {
      entry.wait?.kernelFunction = KernelPlace.function(pid, entry.listed.tid)
    }
  }

  private static func questions(
    _ pid: ProcessID, _ threads: [ListedThread]
  ) -> ProcessQuestions {
    // Of the main thread these fail if it has ended; any other has the same memory and files.
    let living = threads.first { !$0.isEnded }?.tid.rawValue ?? pid.rawValue
    let known = Set(threads.map(\.tid))
    return ProcessQuestions(
      memory: { ProcessMemory.copy(ProcessID(living), at: $0, count: $1) },
      link: { descriptor in
        (try? Syscalls.readLink("/proc/\(living)/fd/\(descriptor)")).map(SafeText.decode)
      },
      isThread: { known.contains($0) },
      now: { Clock.time(of: Int32(truncatingIfNeeded: $0)) })
  }
}
