// The files that results go to: opened before the target starts, filled in at the end.

internal import ProbeCore

/// What the user wants written, with every file open already.
struct Outputs: ~Copyable {
  private struct Destination: Sendable {
    let path: String
    let reporter: Reporter
    let file: SendableFile
    /// Kept as it was unless all is well.
    var isBaseline = false
  }

  private var destinations: [Destination] = []
  private let formats: [String]
  /// Where the final text goes: a file (in `destinations`), stdout, or stderr.
  private let textDescriptor: Int32?
  private let style: TextStyle
  private let text: TextReport.Extent
  private let showsAllWaits: Bool
  private let history: HistoryStore?
  private let labels: [RunLabel]

  /// - Parameters:
  ///   - defaultDescriptor: where the text goes unless the user says otherwise.
  ///   - text: what of the report is wanted there.
  /// - Throws: one line about the first file that cannot be written.
  init(
    _ options: OutputOptions, defaultDescriptor: Int32, text: TextReport.Extent = .whole
  ) throws(WatchError) {
    self.text = text
    showsAllWaits = options.showsAllWaits
    formats = options.exports.map(\.format)
    history = options.historyPath.map { HistoryStore($0) }
    labels = options.labels
    var wanted = options.exports.map { ($0.path, $0.format) }
    if let path = options.summaryPath { wanted.append((path, "json")) }
    switch options.reportPath {
    case nil: textDescriptor = options.isQuiet ? nil : defaultDescriptor
    case "-": textDescriptor = 1
    case .some(let path):
      textDescriptor = nil
      wanted.append((path, "text"))
    }
    style = Console.style(textDescriptor ?? 2, options.color)
    for (path, format) in wanted {
      // The parser only lets names through that are in the catalogue.
      guard let reporter = ReporterCatalog.named(format) else { continue }
      guard path != "-" else {
        destinations.append(Destination(path: path, reporter: reporter, file: SendableFile(nil)))
        continue
      }
      destinations.append(
        Destination(path: path, reporter: reporter, file: SendableFile(try Self.open(path))))
    }
    if let path = options.baselinePath, let reporter = ReporterCatalog.named("json") {
      destinations.append(
        Destination(
          path: path, reporter: reporter, file: SendableFile(try Self.open(path)), isBaseline: true)
      )
    }
    try history?.prepare()
  }

  /// Opens one output file.
  static func open(_ path: String) throws(WatchError) -> OutputFile {
    do {
      return try OutputFile(path)
    } catch {
      throw WatchError(
        "cannot write \(SafeText.terminal(path)): \(error.reason); name another file")
    }
  }

  /// Writes everything.
  ///
  /// - Returns: what could not be written, one line each.
  func write(_ summary: Summary) -> [String] {
    var failures: [String] = []
    let context = destinations.isEmpty ? ReportContext() : CIService.context
    for destination in destinations {
      if destination.isBaseline,
        summary.verdict.result == .fail || (summary.exit.perfwatch ?? 0) != 0
      {
        continue
      }
      do {
        let isWhole = showsAllWaits && destination.reporter.name == "text"
        let bytes =
          isWhole
          ? Array(TextReport.render(summary, style: .file, allWaits: true).utf8)
          : try destination.reporter.render(summary, context)
        guard let file = destination.file.take() else {
          _ = try Terminal.send(1, bytes)
          continue
        }
        try file.append(bytes)
        try file.commit()
      } catch let error as SystemError {
        failures.append("cannot write \(SafeText.terminal(destination.path)): \(error.reason)")
      } catch let error as ReportError {
        failures.append("cannot write \(SafeText.terminal(destination.path)): \(error.reason)")
      } catch {
        failures.append("cannot write \(SafeText.terminal(destination.path)): \(error)")
      }
    }
    if let textDescriptor {
      let report = TextReport.render(summary, style: style, text, allWaits: showsAllWaits)
      do throws(SystemError) {
        _ = try Terminal.send(textDescriptor, Array(report.utf8))
      } catch {
        // What cannot be said on stderr cannot be complained of there.
        if textDescriptor == 1 { failures.append("cannot write to stdout: \(error.reason)") }
      }
    }
    CIService.tell(summary, but: formats)
    // Last, as it may have to wait for others.
    do throws(WatchError) {
      try history?.append(summary, origin: CIService.origin(labels))
    } catch {
      failures.append(error.message)
    }
    return failures
  }
}
