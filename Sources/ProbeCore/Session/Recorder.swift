// pw-recorder: takes events off the queue, folds them, records them and lets the display look.

internal import Synchronization

/// The body of pw-recorder and the place where its results are picked up.
final class Recorder: Sendable {
  private struct Result: Sendable {
    var state: SessionState?
    var recordingFailure: SystemError?
    var isDone = false
  }

  private let queue: EventQueue
  private let display: (any LiveDisplay)?
  private let stacks: StackSource?
  /// Lines that are looked up when the target has ended.
  private let lineBudget = TimeBudget()
  private let ending = Mutex<SessionEnd?>(nil)
  private let result = Mutex(Result())

  /// What stacks are made from, and what they cost.
  struct StackSource: Sendable {
    let desk: CaptureDesk
    let ownCPUBefore: Nanoseconds
    /// Rung when all is done.
    let control: WatchControl
  }

  init(queue: EventQueue, display: (any LiveDisplay)?, stacks: StackSource? = nil) {
    self.queue = queue
    self.display = display
    self.stacks = stacks
  }

  /// The last event, written when everything else is; to be set before the queue is closed.
  func end(_ end: SessionEnd) { ending.withLock { $0 = end } }

  /// Nobody wants to wait any longer for what makes the result only nicer.
  func hurry() { lineBudget.cancel() }

  var isDone: Bool { result.withLock { $0.isDone } }

  /// The state after the last event; call it when the thread has been joined.
  var finalState: SessionState? { result.withLock { $0.state } }
  var recordingFailure: SystemError? { result.withLock { $0.recordingFailure } }

  /// Runs until the queue is closed and empty.
  ///
  /// - Parameter file: where the event stream is kept; nil for nowhere.
  func run(_ file: consuming OutputFile?) {
    var sink = EventSink(file)
    var keeper: StackKeeper?
    var batch: [UInt8] = []
    // Without a display there is no hurry: the queue holds minutes of events.
    var pause = Nanoseconds.seconds(display == nil && stacks == nil ? 10 : 2)
    var nextDisplay = Clock.now()
    while queue.take(
      into: &batch, waitingAtMost: keeper?.isHurried == true ? StackKeeper.lookAgain : pause)
    {
      sink.write(batch)
      takeStacks(&keeper, &sink)
      guard let display else { continue }
      let now = Clock.now()
      if now >= nextDisplay, let state = sink.fold.state {
        guard let next = display.update(state, at: now) else {
          pause = .seconds(2)
          nextDisplay = now + .seconds(1 << 30)
          continue
        }
        nextDisplay = now + next
      }
      pause = max(.milliseconds(1), min(nextDisplay - now, .seconds(2)))
    }
    display?.finish()
    finish(keeper, &sink)
    let state = sink.fold.state
    let failure = sink.commit()
    result.withLock {
      $0.state = state
      $0.recordingFailure = failure
      $0.isDone = true
    }
    stacks?.control.mainBell.signal()
  }

  private func takeStacks(_ keeper: inout StackKeeper?, _ sink: inout EventSink) {
    guard let desk = stacks?.desk, let state = sink.fold.state else { return }
    let (copies, parked) = (desk.takeCopies(), desk.takeParked())
    let waits = desk.takeWaitStacks()
    if keeper == nil {
      guard !copies.isEmpty || !parked.isEmpty || !waits.isEmpty else { return }
      keeper = StackKeeper(ProcessID(state.start.target.pid), desk: desk)
    }
    let begin = Clock.threadCPU()
    var out = ByteWriter()
    keeper?.tell(waits, into: &out)
    for threads in parked { keeper?.tell(threads, into: &out) }
    keeper?.take(copies)
    keeper?.tell(state, wantsLines: display != nil, into: &out)
    sink.write(out.bytes)
    desk.spent(Clock.threadCPU() - begin)
  }

  /// What comes last: lines, the final cost, the end.
  private func finish(_ keeper: StackKeeper?, _ sink: inout EventSink) {
    var out = ByteWriter()
    if let stacks, let keeper {
      keeper.addLines(lineBudget, isLast: true, into: &out)
      let desk = stacks.desk
      EventCodec.encode(
        .observer(
          ObserverReading(
            cpu: Clock.ownCPU() - stacks.ownCPUBefore + desk.helperCPU,
            residentPeak: OwnMemory.residentPeak(),
            droppedEvents: queue.droppedCount + desk.dropped, captures: desk.costs)), into: &out)
    }
    if let end = ending.withLock({ $0 }) { EventCodec.encode(.ended(end), into: &out) }
    sink.write(out.bytes)
  }
}

/// Where events go in the end: the recording and the fold.
private struct EventSink: ~Copyable {
  private(set) var fold = EventFold()
  private var file: OutputFile?
  private var failure: SystemError?

  init(_ file: consuming OutputFile?) {
    self.file = file
    if self.file != nil {
      do { try self.file?.append(RecordingFormat.magic) } catch { failure = error }
    }
  }

  mutating func write(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    if failure == nil, file != nil {
      do { try file?.append(bytes) } catch { failure = error }
    }
    fold.apply(bytes)
  }

  /// - Returns: why the recording is not there or not whole.
  consuming func commit() -> SystemError? {
    if failure == nil, let done = file.take() {
      do { try done.commit() } catch { failure = error }
    }
    return failure
  }
}

/// pw-recorder, started only when a run has turned out to be longer than a moment: most of a very
/// short run's cost would be threads. Until then the queue keeps the events.
struct RecorderThread: ~Copyable {
  /// Chosen: far below what the queue holds and what a person can see.
  static let grace = Nanoseconds.milliseconds(30)

  private let recorder: Recorder
  private let file: SendableFile
  private var thread: OSThread?
  /// When it starts; nil once it has.
  private(set) var startsAt: Instant?

  init(
    queue: EventQueue, file: SendableFile, display: (any LiveDisplay)?,
    stacks: Recorder.StackSource?, startsAt: Instant
  ) {
    recorder = Recorder(queue: queue, display: display, stacks: stacks)
    self.file = file
    self.startsAt = startsAt
  }

  mutating func startIfDue(at time: Instant) {
    guard let due = startsAt, time >= due else { return }
    startsAt = nil
    let (recorder, file) = (recorder, file)
    // Without another thread there is no live view; the events are folded at the end.
    thread = try? OSThread(name: "pw-recorder", stackSize: OSThread.deepStack) {
      recorder.run(file.take())
    }
  }

  /// Folds what is left.
  ///
  /// - Parameters:
  ///   - queue: is closed.
  ///   - wait: called while that takes its time, until the recorder is done.
  mutating func finish(_ end: SessionEnd, _ queue: EventQueue, wait: (Recorder) -> Void) -> Recorder
  {
    recorder.end(end)
    queue.close()
    if let thread = thread.take() {
      wait(recorder)
      thread.join()
    } else {
      recorder.run(file.take())
    }
    return recorder
  }
}

/// Bytes of the event stream in, state out. Live watching and replay share it.
public struct EventFold: Sendable {
  public private(set) var state: SessionState?
  /// Why decoding stopped; nil while everything was whole.
  public private(set) var failure: WireError?

  public init() {}

  /// Takes whole frames in. What comes after a frame that cannot be read is left out.
  public mutating func apply(_ bytes: [UInt8]) { apply(ByteReader(bytes)) }

  mutating func apply(_ start: ByteReader) {
    guard failure == nil else { return }
    var reader = start
    do throws(WireError) {
      while let event = try EventCodec.decode(&reader) {
        if case .started(let start) = event {
          if state == nil { state = SessionState(start) }
        } else {
          state?.apply(event)
        }
      }
    } catch {
      failure = error
    }
  }
}
