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
  private let body: @Sendable (Summary) throws(ReportError) -> [UInt8]

  init(
    _ name: String, fileExtension: String, title: String,
    body: @escaping @Sendable (Summary) throws(ReportError) -> [UInt8]
  ) {
    self.name = name
    self.fileExtension = fileExtension
    self.title = title
    self.body = body
  }

  /// The summary as the bytes of a file.
  /// - Throws: `ReportError` when the summary holds what the format cannot say (NaN in JSON).
  public func render(_ summary: Summary) throws(ReportError) -> [UInt8] { try body(summary) }
}

/// All formats, in the order of help.
public enum ReporterCatalog {
  public static let all: [Reporter] = [
    Reporter("text", fileExtension: "txt", title: "the report that is printed at the end") {
      summary throws(ReportError) in
      Array(TextReport.render(summary, style: .file).utf8)
    },
    Reporter("json", fileExtension: "json", title: "the summary, as by --summary") {
      summary throws(ReportError) in
      do {
        return try OrderedJSONEncoder().encode(summary)
      } catch {
        throw ReportError(format: "json", reason: SafeText.terminal("\(error)"))
      }
    },
  ]

  /// The format of that name, or nil.
  public static func named(_ name: String) -> Reporter? { all.first { $0.name == name } }
}
