// The one error of the /proc parsers: which file, which field, and what stood there.

/// Text of a /proc file that is not what the kernel writes, or that was cut.
///
/// It means "this reading failed": count it and go on. A target that is gone shows as a failed read
/// and never comes here.
public struct ProcParseError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file's last path component, such as `schedstat`.
  public var file: String
  /// The field as proc(5) or the file itself names it.
  public var field: String
  /// What stood there: at most 40 bytes up to the next blank, other bytes than UTF-8 as `\xHH`.
  public var value: String

  public init(file: String, field: String, value: String) {
    self.file = file
    self.field = field
    self.value = value
  }

  public var description: String { "no valid \(field) in \(file): \"\(value)\"" }
}
