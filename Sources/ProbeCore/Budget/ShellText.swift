// What a command for `sh -c` is, as far as it matters who runs it: the shell, or a program in its place.

/// A look at the text of a shell command.
public enum ShellText {
  /// Words that a shell does itself or that begin a construct: `exec` cannot stand before them.
  private static let own: Set<String> = [
    ".", ":", "!", "[", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue",
    "do", "echo", "eval", "exit", "export", "fg", "for", "function", "getopts",
    "hash", "if", "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return",
    "select", "set", "shift", "source", "test", "time", "times", "trap", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{",
  ]

  /// The text to give to `sh -c` so that the one program that it names takes the shell's place, and is
  /// what is watched; nil where there may be several programs, or none.
  ///
  /// `X=1 ./app < in` becomes `X=1 exec ./app < in`.
  public static func replacingShell(_ text: String) -> String? {
    guard !hasOperators(text) else { return nil }
    var rest = text[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      let word = rest.prefix { $0 != " " && $0 != "\t" }
      guard let first = word.first else { return nil }
      guard isAssignment(word) else {
        // A redirection first, or a keyword of another shell: left as it is.
        guard !"<>#~".contains(first), !own.contains(String(word)) else { return nil }
        let exec = word == "exec" ? "" : "exec "
        return String(text[..<rest.startIndex]) + exec + String(rest)
      }
      // A value with blanks in quotes is more than this word.
      guard !word.contains(where: { "\"'\\$".contains($0) }) else { return nil }
      rest = rest.dropFirst(word.count)
    }
  }

  private static func isAssignment(_ word: Substring) -> Bool {
    guard let equals = word.firstIndex(of: "="), equals != word.startIndex else { return false }
    let name = word[..<equals]
    return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      && name.first?.isNumber == false
  }

  /// Whether something outside quotes makes more than one command of it.
  private static func hasOperators(_ text: String) -> Bool {
    var quote: Character?
    var isEscaped = false
    var previous: Character?
    for character in text {
      defer { previous = character }
      if isEscaped {
        isEscaped = false
      } else if character == "\\" && quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil }
        // Inside of double quotes commands are still run.
        if open == "\"", character == "`" || character == "(" && previous == "$" { return true }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if "|;(){}`\n".contains(character) {
        return true
      } else if character == "&", previous != ">", previous != "<" {
        return true
      }
    }
    return quote != nil
  }
}
