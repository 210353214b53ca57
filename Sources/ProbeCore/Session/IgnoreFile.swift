// The allow-list of a project: stalls that are known and accepted, in a file beside its code.

extension IgnoredStalls {
  /// What was given on the command line, and the lines of the files.
  ///
  /// - Parameter files: one signature a line, `#` begins a comment; at most 1 MiB each.
  /// - Throws: `WatchError` where a file cannot be read: stalls that were to be ignored would count.
  public init(_ patterns: [String], files: [String]) throws(WatchError) {
    self.init(patterns)
    for file in files {
      do throws(SystemError) {
        let bytes = try InputFile.read(file, limit: 1 << 20)
        self.patterns += Self.lines(of: SafeText.decode(bytes))
      } catch {
        throw WatchError(
          "cannot read the stalls to ignore from \(SafeText.terminal(file)): \(error.reason)")
      }
    }
  }
}
