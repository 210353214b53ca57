// A function's name without what differs from build to build or from run to run: template arguments,
// numbers of closures, hashes, clone and specialization suffixes.

/// The stable part of a demangled function name.
enum FunctionKey {
  /// Longer names are cut first; what is cut decides nothing. Chosen.
  static let limit = 2000

  /// The name by which the same function is known in another build.
  static func of(_ function: String) -> String {
    var text = String(function.prefix(limit))
    if text.hasPrefix("-[") || text.hasPrefix("+[") { return text }
    text = withoutGroups(withoutTypeBrackets(text))
    text = withoutSwiftWrapping(text)
    text = withoutReturnType(text)
    text = withoutCloneSuffix(text)
    text = withoutClosures(text)
    let spare: Set<Character> = [" ", ":", "."]
    while let last = text.last, spare.contains(last) { text.removeLast() }
    return text.isEmpty ? function : text
  }

  /// Code that compilers and standard libraries put between the program's own functions; whether it is
  /// there depends on what was inlined.
  static func isGlue(_ key: String) -> Bool {
    prologue.contains(key) || gluePrefixes.contains { key.hasPrefix($0) }
      || key.contains("__rust_begin_short_backtrace")
  }

  /// What runs before `main` has no interest, also where it is linked into the program.
  static let prologue: Set<String> = [
    "_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl",
    "__libc_start_main@plt", "_dl_start_user", "libc_start_main_stage2",
  ]

  private static let gluePrefixes = [
    "std::", "__gnu_cxx::", "core::", "alloc::", "<core::", "<alloc::", "<std::", "<&", "<F as",
    "<T as", "<I as", "Swift.", "thunk for", "reabstraction thunk", "outlined ", "_$",
  ]

  // MARK: Brackets

  /// Rust's own methods: `<app::Cache<T>>::update` by its newer names is `app::Cache<T>::update` by the older.
  private static func withoutTypeBrackets(_ text: String) -> String {
    guard text.first == "<" else { return text }
    let characters = Array(text)
    let end = groupEnd(characters, 0)
    let inner = characters[1..<max(1, end - 1)]
    guard characters[end...].starts(with: "::"), let first = inner.first,
      first.isLetter || first == "_", !String(inner).contains(" ")
    else { return text }
    return String(inner + characters[end...])
  }

  /// Without parameter lists, template arguments, attributes in brackets.
  private static func withoutGroups(_ text: String) -> String {
    let characters = Array(text)
    var result: [Character] = []
    var index = 0
    while index < characters.count {
      let character = characters[index]
      switch character {
      case "<", "(", "[":
        // `operator<<`, `operator()`, `operator[]` are names.
        if let name = operatorName(characters, index, after: result) {
          result += name
          index += name.count
          continue
        }
        fallthrough
      case "{":
        let end = groupEnd(characters, index)
        result += kept(characters[index..<end])
        index = end
      default:
        result.append(character)
        index += 1
      }
    }
    return String(result)
  }

  /// What stays of a group in brackets.
  private static func kept(
    _ group: ArraySlice<Character>
  ) -> [Character] {
    guard let first = group.first else { return [] }
    let text = String(group)
    switch first {
    case "(":
      if text == "(anonymous namespace)" || text.hasPrefix("(*") { return Array(text) }
      // A private declaration of Swift: `(work in _6F3A...)`.
      if let range = text.firstRange(of: " in _") {
        return Array(text[..<range.lowerBound].dropFirst())
      }
      return []
    case "<":
      // Rust's `<Type as Trait>` and `<impl Trait for Type>` are names, not arguments.
      guard text.contains(" as ") || text.hasPrefix("<impl ") else { return [] }
      let inner = withoutGroups(String(text.dropFirst().dropLast()))
      return ["<"] + Array(inner) + [">"]
    // Closures: the function in which they are written stands for them.
    case "{": return ["{", "}"]
    default: return []
    }
  }

  private static func operatorName(
    _ text: [Character], _ start: Int, after before: [Character]
  ) -> [Character]? {
    guard before.count >= 8, String(before.suffix(8)) == "operator" else { return nil }
    let rest = text[start...]
    for name in ["<<=", "<=>", "<<", "<=", "<", "()", "[]"] where rest.starts(with: name) {
      return Array(name)
    }
    return nil
  }

  /// Behind the bracket that closes the one at `start`; the end where none does.
  private static func groupEnd(_ text: [Character], _ start: Int) -> Int {
    let open = text[start]
    let close: Character =
      switch open {
      case "(": ")"
      case "[": "]"
      case "<": ">"
      default: "}"
      }
    var depth = 0
    var index = start
    while index < text.count {
      // The arrow of a function type closes nothing.
      let isArrow = close == ">" && index > 0 && text[index - 1] == "-"
      if text[index] == open { depth += 1 }
      if text[index] == close, !isArrow { depth -= 1 }
      index += 1
      if depth == 0 { return index }
      // A lone one opens nothing.
      if open == "<", depth > 0, index == text.count { return start + 1 }
    }
    return text.count
  }

  // MARK: Words

  private static func withoutSwiftWrapping(_ text: String) -> String {
    var text = text
    // `closure #1 in closure #2 in Parser.parse`, `defer #1 in work`
    if text.contains("closure #") || text.contains("defer #"),
      let range = text.ranges(of: " in ").last
    {
      text = String(text[range.upperBound...])
    }
    if text.contains("specialization"), let range = text.ranges(of: " of ").last {
      text = String(text[range.upperBound...])
    }
    if text.hasPrefix("partial apply") || text.contains("partial function for "),
      let range = text.ranges(of: " for ").last
    {
      text = String(text[range.upperBound...])
    }
    for prefix in ["specialized ", "merged ", "@objc ", "@nonobjc ", "static "]
    where text.hasPrefix(prefix) {
      text.removeFirst(prefix.count)
    }
    for mark in [" ->", " async", " throws"] {
      if let range = text.firstRange(of: mark) { text = String(text[..<range.lowerBound]) }
    }
    return text
  }

  /// C++ names of templates begin with the type that they return.
  private static func withoutReturnType(_ text: String) -> String {
    var text = text
    for suffix in [" const", " volatile", " &", " &&"] where text.hasSuffix(suffix) {
      text.removeLast(suffix.count)
    }
    while text.last == " " { text.removeLast() }
    guard !text.contains("operator"), !text.hasPrefix("<"), !text.contains("(anonymous namespace)"),
      !text.contains(" for "), let space = text.lastIndex(of: " ")
    else { return text }
    return String(text[text.index(after: space)...])
  }

  private static let cloneWords: Set<Substring> = [
    "isra", "constprop", "part", "cold", "lto_priv", "llvm", "localalias", "warm", "hot",
    "unlikely",
    "clone",
  ]

  private static func withoutCloneSuffix(_ text: String) -> String {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let clone = parts.dropFirst().firstIndex(where: cloneWords.contains) else { return text }
    return parts[..<clone].joined(separator: ".")
  }

  /// Rust's and C++'s closures are components of the path, Go's are `func` and a number.
  private static func withoutClosures(_ text: String) -> String {
    var parts = text.components(separatedBy: "::")
    parts.removeAll { part in
      part == "{}" || part.hasPrefix("$_") || part.hasPrefix("'lambda") || isRustHash(part)
        || part.isEmpty
    }
    if parts.count > 1, parts.last == "operator()", text.contains("{}") || text.contains("$_") {
      parts.removeLast()
    }
    let joined = parts.joined(separator: "::")
    let words = joined.split(separator: ".", omittingEmptySubsequences: false)
    guard words.count > 1 else { return joined }
    let kept = words.enumerated().filter { index, word in
      index == 0
        || !(isNumbered(word, "func") || isNumbered(word, "gowrap") || isNumbered(word, ""))
    }
    return kept.map { String($0.element) }.joined(separator: ".")
  }

  private static func isNumbered(_ word: Substring, _ prefix: String) -> Bool {
    word.hasPrefix(prefix) && word.count > prefix.count
      && word.dropFirst(prefix.count).allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// `h` and sixteen hexadecimal digits.
  private static func isRustHash(_ part: String) -> Bool {
    part.count == 17 && part.hasPrefix("h") && part.dropFirst().allSatisfy(\.isHexDigit)
  }
}

extension String {
  /// The pieces between a separator, empty ones included.
  fileprivate func components(separatedBy separator: String) -> [String] {
    var result: [String] = []
    var start = startIndex
    for range in ranges(of: separator) {
      result.append(String(self[start..<range.lowerBound]))
      start = range.upperBound
    }
    result.append(String(self[start...]))
    return result
  }
}
