// Command lines may hold passwords and tokens, so what is stored and shown leaves values out.
// Option names tell a developer which program mode it was; values rarely do.

/// Takes the values out of a command line.
public enum Redaction {
  /// Stands for what was left out.
  public static let mark = "\u{2026}"

  /// The command line with its program and option names only.
  ///
  /// The program keeps its path. `--name=value` becomes `--name=…`, `-pvalue` becomes `-p…` (it
  /// cannot be told from a bundle of flags such as `-la`, so both are cut), every other word
  /// becomes `…`.
  public static func redact(_ command: [String]) -> [String] {
    command.enumerated().map { index, word in index == 0 ? word : redact(word: word) }
  }

  private static func redact(word: String) -> String {
    guard word.hasPrefix("-") else { return mark }
    if word == "-" || word == "--" { return word }
    guard word.hasPrefix("--") else {
      return word.count == 2 ? word : String(word.prefix(2)) + mark
    }
    // A name is letters, digits and dashes; `-----BEGIN KEY-----` and `--a:secret` end early.
    let name = word.dropFirst(2).prefix { character in
      character.isASCII
        && (character.isLetter || character.isNumber || character == "-" || character == "_")
    }
    if name.count + 2 == word.count { return word }
    let hasEquals = word.dropFirst(2 + name.count).first == "="
    return "--" + name + (hasEquals ? "=" : "") + mark
  }
}
