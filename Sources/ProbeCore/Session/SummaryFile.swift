// A summary from a file that the user named: a summary or a recording.

extension Replay {
  /// The summary in a file of `--summary`, or that of a recording.
  public static func summaryOrRecording(_ path: String) throws(WatchError) -> Summary {
    let shown = SafeText.terminal(path)
    let bytes: [UInt8]
    do {
      bytes = try InputFile.read(path, limit: SummaryReader.largestFile)
    } catch {
      throw WatchError("cannot read \(shown): \(error.reason)")
    }
    if bytes.starts(with: RecordingFormat.magic) { return try summary(bytes, name: path) }
    do {
      return try SummaryReader.read(bytes)
    } catch {
      throw WatchError("cannot read \(shown): \(error.message)")
    }
  }
}
