// A recording read back through the same fold as the live run.

/// Turns recordings into summaries.
public enum Replay {
  /// The summary of a recording.
  ///
  /// - Parameters:
  ///   - path: a file written by `--record`.
  ///   - ignored: stalls that do not count; nil for what was asked for when it was recorded.
  /// - Throws: `WatchError` when the file cannot be read or is no recording. A cut or damaged one is no
  ///   error: its summary covers what is there and says `complete: false`.
  public static func summary(
    of path: String, ignoring ignored: IgnoredStalls? = nil
  ) throws(WatchError) -> Summary {
    let bytes: [UInt8]
    do {
      bytes = try InputFile.read(path)
    } catch {
      throw WatchError("cannot read \(SafeText.terminal(path)): \(error.reason)")
    }
    return try summary(bytes, name: path, ignoring: ignored)
  }

  static func summary(
    _ bytes: [UInt8], name: String, ignoring ignored: IgnoredStalls? = nil
  ) throws(WatchError) -> Summary {
    guard bytes.starts(with: RecordingFormat.magic) else {
      throw WatchError(
        "\(SafeText.terminal(name)) is no recording of this perfwatch: "
          + "make one with `perfwatch run --record FILE`")
    }
    var fold = EventFold()
    fold.apply(ByteReader(bytes, from: RecordingFormat.magic.count, to: bytes.count))
    guard var state = fold.state else {
      throw WatchError("\(SafeText.terminal(name)) ends before its first event: nothing to report")
    }
    if let ignored { state.apply(.stallsIgnored(ignored.patterns)) }
    var summary = state.summary()
    summary.exit.perfwatch = ExitCode.of(summary)
    return summary
  }
}
