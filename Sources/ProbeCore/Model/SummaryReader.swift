// Our own summary files read back, with one clear line when it is none of ours.

/// A file that is no summary, and why; one line.
public struct SummaryReadError: Error, Sendable, Equatable {
  public var message: String
}

/// Reads `perfwatch.summary/1`.
public enum SummaryReader {
  /// Chosen: a summary is bounded, and so are 100 stalls with 40 stacks of 1024 long names.
  public static let largestFile = 256 << 20

  /// The summary in the bytes of a file.
  public static func read(_ bytes: [UInt8]) throws(SummaryReadError) -> Summary {
    let node: JSONNode
    do throws(JSONError) {
      node = try JSONReader.read(bytes)
    } catch {
      throw SummaryReadError(message: "it is no JSON: \(error.message)")
    }
    guard let schema = node["schema"]?.text else {
      throw SummaryReadError(message: "it is no summary of perfwatch: it has no schema")
    }
    guard schema == Summary.schemaName else {
      throw SummaryReadError(
        message: "it has the schema \(SafeText.terminal(String(schema.prefix(60)))), and this "
          + "perfwatch reads \(Summary.schemaName)")
    }
    do {
      return try node.decode(Summary.self)
    } catch let error as JSONMismatch {
      throw SummaryReadError(message: "it is damaged: \(error.message)")
    } catch {
      throw SummaryReadError(message: "it is damaged: \(SafeText.terminal("\(error)"))")
    }
  }
}
