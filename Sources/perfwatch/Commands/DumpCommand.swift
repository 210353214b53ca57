// `perfwatch dump`: the stacks of a running process, once or every so often.

internal import ProbeCore

enum DumpCommand {
  static func run(_ request: ParsedDump) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      ResourceLimit.useOneHeap()
      _ = ResourceLimit.raiseFileLimit()
      let pid = try AttachCommand.pid(of: request.target, trying: "dump")
      let options = request.options
      var output = try DumpOutput(options)
      var core = DumpRequest(pid, build: BuildInfo.current)
      core.threads = options.isMainOnly ? ["\(pid)"] : options.threads
      core.lines = options.lines
      core.inApp = options.inApp
      core.frameLimit = options.maxFrames
      let series = try DumpSeries(core, period: options.period, count: options.count)
      try series.run { dump throws(WatchError) in try output.add(dump) }
      try output.finish()
      return ExitCode.success
    } catch {
      Console.fail(error.message)
      return ExitCode.failure
    }
  }
}

/// Where dumps go, in the form that was asked for.
private struct DumpOutput: ~Copyable {
  private let options: DumpOptions
  private let style: TextStyle
  private let isTerminal: Bool
  private var file: OutputFile?
  private var folded = DumpFolded()
  private var isFirst = true
  private var isClosed = false

  init(_ options: DumpOptions) throws(WatchError) {
    self.options = options
    if let path = options.path, path != "-" {
      file = try Outputs.open(path)
      isTerminal = false
      style = .file
    } else {
      file = nil
      isTerminal = Terminal.isTerminal(1)
      style = Console.style(1, options.color)
    }
  }

  /// - Returns: false if nobody reads it any more.
  mutating func add(_ dump: ThreadDump) throws(WatchError) -> Bool {
    defer { isFirst = false }
    switch options.format {
    case .text:
      let text = DumpText.render(dump, style: style, isCut: isTerminal)
      try write(Array(((isFirst ? "" : "\n") + text).utf8))
    case .json:
      // Of several each is one line.
      let isIndented = options.period == nil && options.count == nil
      guard var bytes = try? OrderedJSONEncoder(isIndented: isIndented).encode(dump) else {
        throw WatchError("cannot write the dump as JSON")
      }
      if !isIndented { bytes.append(UInt8(ascii: "\n")) }
      try write(bytes)
    case .folded: folded.add(dump)
    }
    return !isClosed
  }

  mutating func finish() throws(WatchError) {
    if options.format == .folded { try write(Array(folded.render().utf8)) }
    guard let file = file.take() else { return }
    do {
      try file.commit()
    } catch {
      throw failure(error)
    }
  }

  private mutating func write(_ bytes: [UInt8]) throws(WatchError) {
    do {
      if file == nil {
        isClosed = try !Terminal.send(1, bytes)
      } else {
        try file?.append(bytes)
      }
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: SystemError) -> WatchError {
    WatchError("cannot write \(SafeText.terminal(options.path ?? "stdout")): \(error.reason)")
  }
}
