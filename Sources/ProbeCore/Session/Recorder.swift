// pw-recorder: takes events off the queue, folds them, records them and lets the display look.

internal import Synchronization

/// The body of pw-recorder and the place where its results are picked up.
final class Recorder: Sendable {
  private struct Result: Sendable {
    var state: SessionState?
    var recordingFailure: SystemError?
  }

  private let queue: EventQueue
  private let display: (any LiveDisplay)?
  private let result = Mutex(Result())

  init(queue: EventQueue, display: (any LiveDisplay)?) {
    self.queue = queue
    self.display = display
  }

  /// The state after the last event; call it when the thread has been joined.
  var finalState: SessionState? { result.withLock { $0.state } }
  var recordingFailure: SystemError? { result.withLock { $0.recordingFailure } }

  /// Runs until the queue is closed and empty.
  ///
  /// - Parameter file: where the event stream is kept; nil for nowhere.
  func run(_ file: consuming OutputFile?) {
    var file = file
    var failure: SystemError?
    if file != nil {
      do { try file?.append(RecordingFormat.magic) } catch { failure = error }
    }
    var fold = EventFold()
    var batch: [UInt8] = []
    // Without a display there is no hurry: the queue holds minutes of events.
    var pause = Nanoseconds.seconds(2)
    var nextDisplay = Clock.now()
    while queue.take(into: &batch, waitingAtMost: pause) {
      if failure == nil, file != nil, !batch.isEmpty {
        do { try file?.append(batch) } catch { failure = error }
      }
      fold.apply(batch)
      guard let display else { continue }
      let now = Clock.now()
      if now >= nextDisplay, let state = fold.state {
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
    if failure == nil, let done = file.take() {
      do { try done.commit() } catch { failure = error }
    }
    let state = fold.state
    let recordingFailure = failure
    result.withLock {
      $0.state = state
      $0.recordingFailure = recordingFailure
    }
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
    queue: EventQueue, file: SendableFile, display: (any LiveDisplay)?, startsAt: Instant
  ) {
    recorder = Recorder(queue: queue, display: display)
    self.file = file
    self.startsAt = startsAt
  }

  mutating func startIfDue(at time: Instant) {
    guard let due = startsAt, time >= due else { return }
    startsAt = nil
    let (recorder, file) = (recorder, file)
    // Without another thread there is no live view; the events are folded at the end.
    thread = try? OSThread(name: "pw-recorder") { recorder.run(file.take()) }
  }

  /// Folds what is left; the queue must be closed.
  mutating func finish() -> Recorder {
    if let thread = thread.take() {
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
