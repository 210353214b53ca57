// Every format a summary can be written in, declared once.
// A new format is one file in Report/ and one line here; options and help follow.

/// A summary that could not be written in a format.
public struct ReportError: Error, Sendable, Equatable {
  /// The format's name.
  public var format: String
  public var reason: String
}

/// One format.
public struct Reporter: Sendable {
  /// What the user types: `--export NAME=FILE`.
  public let name: String
  /// The usual file name extension, without the dot.
  public let fileExtension: String
  /// One line for help.
  public let title: String
  private let body: @Sendable (Summary, ReportContext) throws(ReportError) -> [UInt8]

  init(
    _ name: String, fileExtension: String, title: String,
    body: @escaping @Sendable (Summary, ReportContext) throws(ReportError) -> [UInt8]
  ) {
    self.name = name
    self.fileExtension = fileExtension
    self.title = title
    self.body = body
  }

  /// The summary as the bytes of a file.
  /// - Throws: `ReportError` when the summary holds what the format cannot say (NaN in JSON).
  public func render(
    _ summary: Summary, _ context: ReportContext = ReportContext()
  ) throws(ReportError) -> [UInt8] { try body(summary, context) }
}

/// All formats, in the order of help.
public enum ReporterCatalog {
  public static let all: [Reporter] = [
    text("text", "txt", "the report that is printed at the end") { summary, _ in
      TextReport.render(summary, style: .file)
    },
    json("json", "the summary, as by --summary") { summary, _ throws in
      try OrderedJSONEncoder().encode(summary)
    },
    text("junit", "xml", "the verdict as JUnit XML, a test case for each budget") { summary, _ in
      JUnitReport.render(summary)
    },
    text("github", "txt", "the verdict as annotations of GitHub Actions") {
      GitHubReport.render($0, $1)
    },
    text("markdown", "md", "the verdict as Markdown, for a step's summary or a comment") {
      MarkdownReport.render($0, $1)
    },
    json("gitlab", "the verdict as GitLab's code quality report") { summary, context throws in
      try GitLabReport.render(summary, context)
    },
    text("tap", "tap", "the verdict for test harnesses (TAP 13)") { summary, _ in
      TAPReport.render(summary)
    },
    text("plain", "txt", "the verdict, one line a budget") { summary, _ in
      PlainReport.render(summary)
    },
    text("folded-waits", "folded", "off-CPU time of watched threads, for flame graphs") {
      summary, _ in WaitFolded.render(summary)
    },
    text("folded-threads", "folded", "stacks of parked threads at thread alarms, the same") {
      summary, _ in WaitFolded.renderThreads(summary)
    },
  ]

  private static func text(
    _ name: String, _ fileExtension: String, _ title: String,
    body: @escaping @Sendable (Summary, ReportContext) -> String
  ) -> Reporter {
    Reporter(name, fileExtension: fileExtension, title: title) {
      summary, context throws(ReportError) in Array(body(summary, context).utf8)
    }
  }

  private static func json(
    _ name: String, _ title: String,
    body: @escaping @Sendable (Summary, ReportContext) throws -> [UInt8]
  ) -> Reporter {
    Reporter(name, fileExtension: "json", title: title) { summary, context throws(ReportError) in
      do {
        return try body(summary, context)
      } catch {
        throw ReportError(format: name, reason: SafeText.terminal("\(error)"))
      }
    }
  }

  /// The format of that name, or nil.
  public static func named(_ name: String) -> Reporter? { all.first { $0.name == name } }
}
