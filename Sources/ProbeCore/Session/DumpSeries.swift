// Dumps one after the other: pw-tracer makes them, the main thread serves signals and hands them on.

internal import Synchronization

/// One dump, or one every so often. Make and run it on the main thread, with all signals blocked there.
public struct DumpSeries: ~Copyable {
  private let control: DumpControl
  private let signals: SignalChannel
  private let period: Nanoseconds
  /// nil for no limit.
  private let count: Int?

  /// Between two dumps if only their number is given. Chosen.
  private static let defaultPeriod = Nanoseconds.seconds(1)

  /// - Parameters:
  ///   - period: from one dump to the next; nil for one dump, or each second if a number is given.
  ///   - count: how many dumps; nil for as many as there is time for.
  /// - Throws: when the system has no room for what is needed.
  public init(
    _ request: DumpRequest, period: Nanoseconds?, count: Int?
  ) throws(WatchError) {
    let channel = try Self.channel()
    control = try Self.control(request)
    signals = channel
    self.period = period ?? Self.defaultPeriod
    self.count = count ?? (period == nil ? 1 : nil)
  }

  private static func control(_ request: DumpRequest) throws(WatchError) -> DumpControl {
    do {
      return try DumpControl(request)
    } catch {
      throw failure(error)
    }
  }

  private static func channel() throws(WatchError) -> SignalChannel {
    do {
      return try SignalChannel()
    } catch {
      throw failure(error)
    }
  }

  private static func failure(_ error: SystemError) -> WatchError {
    WatchError("cannot prepare a dump: \(error.call): \(error.reason)")
  }

  /// Makes the dumps. Ends after the last one, when the process has ended, at a signal (Ctrl-C), or
  /// when `body` wants no more.
  ///
  /// - Parameter body: gets each dump on the calling thread; false for no more.
  /// - Throws: why there is not one dump, or what `body` throws.
  @available(*, noasync)
  public consuming func run(
    _ body: (ThreadDump) throws(WatchError) -> Bool
  ) throws(WatchError) {
    let control = control
    let tracer: OSThread
    do {
      tracer = try OSThread(name: "pw-tracer") { control.serve() }
    } catch {
      throw WatchError(
        "cannot start a thread: \(error.reason); raise `ulimit -u` or `ulimit -v`, or free memory")
    }
    do throws(WatchError) {
      try serve(body)
    } catch {
      control.end()
      tracer.join()
      throw error
    }
    control.end()
    tracer.join()
  }

  private func serve(
    _ body: (ThreadDump) throws(WatchError) -> Bool
  ) throws(WatchError) {
    var set = PollSet([signals.descriptor.raw, control.mainBell.descriptor.raw])
    var next = Clock.now()
    var made = 0
    var isBusy = false
    while true {
      let now = Clock.now()
      if !isBusy, now >= next {
        isBusy = true
        control.ask()
        // Absolute, and what is late is left out.
        while next <= now { next = next + period }
      }
      set.wait(isBusy ? nil : next - now)
      control.mainBell.drain()
      if let result = control.takeResult() {
        isBusy = false
        let dump: ThreadDump
        switch result {
        case .success(let value): dump = value
        case .failure(let error):
          // The process has ended between two dumps: that is the end, not a failure.
          if made == 0 { throw error }
          return
        }
        made += 1
        guard try body(dump), count.map({ made < $0 }) ?? true, !control.isCancelled else { return }
      }
      for signal in signals.take() {
        switch signal.number {
        case SignalNumber.interrupt, SignalNumber.terminate, SignalNumber.hangUp,
          SignalNumber.quit:
          if control.isCancelled || !isBusy { return }
          control.cancel()
        case SignalNumber.terminalStop: SignalChannel.stopSelf(by: signal.number)
        default: break
        }
      }
    }
  }
}

/// What the two threads of a series tell each other.
private final class DumpControl: Sendable {
  private struct State {
    var isAsked = false
    var isOver = false
    var result: Result<ThreadDump, WatchError>?
    /// Of the dump that is being made.
    var lines: TimeBudget?
  }

  private let request: DumpRequest
  private let state = Mutex(State())
  private let cancelled = Atomic(false)
  private let tracerBell: WakeUp
  let mainBell: WakeUp

  init(_ request: DumpRequest) throws(SystemError) {
    self.request = request
    tracerBell = try WakeUp()
    mainBell = try WakeUp()
  }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  // MARK: On the main thread

  func ask() {
    state.withLock { $0.isAsked = true }
    tracerBell.signal()
  }

  /// Ends the dump that is being made with what it has.
  func cancel() {
    cancelled.store(true, ordering: .relaxed)
    state.withLock { $0.lines?.cancel() }
  }

  func end() {
    cancel()
    state.withLock { $0.isOver = true }
    tracerBell.signal()
  }

  func takeResult() -> Result<ThreadDump, WatchError>? {
    state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
  }

  // MARK: On pw-tracer

  func serve() {
    var dumper: ThreadDumper?
    var set = PollSet([tracerBell.descriptor.raw])
    while true {
      set.wait(nil)
      tracerBell.drain()
      let lines = request.lines.budget
      let isWanted = state.withLock { state -> Bool? in
        if state.isOver { return nil }
        defer { state.isAsked = false }
        state.lines = lines
        return state.isAsked
      }
      guard let isWanted else { return }
      guard isWanted else { continue }
      let result: Result<ThreadDump, WatchError>
      do throws(WatchError) {
        let tool: ThreadDumper
        if let dumper { tool = dumper } else { tool = try ThreadDumper(request) }
        dumper = tool
        result = .success(try tool.dump(lines: lines) { self.isCancelled })
      } catch {
        result = .failure(error)
      }
      state.withLock { $0.result = result }
      mainBell.signal()
    }
  }
}
