// Swift's demangler says everything; people read and compare the function's name.

/// Shortens demangled Swift names without making two functions of one module look the same.
enum SwiftNames {
  /// - `(1) await resume partial function for f` is a part of `f`: shown as `f`.
  /// - `(name in _0123...)`, a private name with its file's hash, is shown as `name`.
  /// - `generic specialization <...> of f` and other copies that the optimizer made: shown as `f`.
  /// - ` with unmangled suffix ".resume.0"` (a part that the code generator split off) is left out.
  /// - The prefix `Swift.` of the standard library's types is left out.
  static func simplified(_ text: String) -> String {
    var bytes = Array(text.utf8)
    bytes = withoutCopies(withoutSuffix(withoutResume(bytes)))
    bytes = withoutDiscriminators(bytes)
    bytes = withoutStandardModule(bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func withoutResume(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.first == UInt8(ascii: "("), let end = bytes.firstIndex(of: UInt8(ascii: ")")),
      bytes[1..<end].allSatisfy({ (0x30...0x39).contains($0) })
    else { return bytes }
    for words in [" await resume partial function for ", " suspend resume partial function for "]
    where bytes[(end + 1)...].starts(with: words.utf8) {
      return Array(bytes[(end + 1 + words.utf8.count)...])
    }
    return bytes
  }

  private static func withoutSuffix(_ bytes: [UInt8]) -> [UInt8] {
    let words = Array(" with unmangled suffix \"".utf8)
    guard bytes.last == UInt8(ascii: "\""),
      let start = bytes.indices.dropLast(words.count).last(where: {
        bytes[$0] == words[0] && bytes[$0...].starts(with: words)
      })
    else { return bytes }
    return Array(bytes[..<start])
  }

  /// What stands in front of the name of a copy, or of what belongs to one (`partial apply forwarder
  /// for generic specialization <...> of f`): these words, `<...>`, and ` of `.
  private static let copies = [
    "function signature specialization <", "generic specialization <",
    "generic partial specialization <", "generic not-reabstracted specialization <",
    "generic not re-abstracted specialization <",
    "generic not-reabstracted partial specialization <", "generic pre-specialization <",
    "inlined generic function <",
  ].map { Array($0.utf8) }
  private static let merged = Array("merged ".utf8)

  private static func withoutCopies(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var at = 0
    var isWordStart = true
    while at < bytes.count {
      if isWordStart {
        if let end = endOfCopy(bytes, at) {
          at = end
          continue
        }
        // Of functions with the same code; only in front of a name, so that a label stays.
        if result.isEmpty, bytes[at...].starts(with: merged) {
          at += merged.count
          continue
        }
      }
      isWordStart = bytes[at] == UInt8(ascii: " ")
      result.append(bytes[at])
      at += 1
    }
    return result
  }

  /// Behind the words for a copy that begin there and their ` of `; nil if none do.
  private static func endOfCopy(_ bytes: [UInt8], _ start: Int) -> Int? {
    guard
      bytes[start] == UInt8(ascii: "f") || bytes[start] == UInt8(ascii: "g")
        || bytes[start] == UInt8(ascii: "i"),
      let words = copies.first(where: { bytes[start...].starts(with: $0) })
    else { return nil }
    let of = Array(" of ".utf8)
    var at = start + words.count
    var depth = 1
    while at < bytes.count, depth > 0 {
      if isOperatorSign(bytes[at]), let end = endOfOperator(bytes, at) {
        at = end
        continue
      }
      if bytes[at] == UInt8(ascii: "<") { depth += 1 }
      // Not the end of an arrow.
      if bytes[at] == UInt8(ascii: ">"), bytes[at - 1] != UInt8(ascii: "-") { depth -= 1 }
      at += 1
    }
    guard depth == 0, bytes[at...].starts(with: of) else { return nil }
    return at + of.count
  }

  private static func isOperatorSign(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "&"),
      UInt8(ascii: "|"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"),
      UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "^"), UInt8(ascii: "!"),
      UInt8(ascii: "~"), UInt8(ascii: "."), UInt8(ascii: "?"):
      true
    default: false
    }
  }

  /// Behind an operator's name, such as `<< infix`; nil if the signs are none.
  private static func endOfOperator(_ bytes: [UInt8], _ start: Int) -> Int? {
    let end = bytes[start...].firstIndex { !isOperatorSign($0) } ?? bytes.endIndex
    let isName = [" infix", " prefix", " postfix"].contains { bytes[end...].starts(with: $0.utf8) }
    return isName ? end : nil
  }

  private static func withoutDiscriminators(_ bytes: [UInt8]) -> [UInt8] {
    let middle = Array(" in _".utf8)
    var result: [UInt8] = []
    var at = 0
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "("), let found = discriminated(bytes, after: at + 1, middle) {
        result.append(contentsOf: bytes[(at + 1)..<found.nameEnd])
        at = found.end
      } else {
        result.append(bytes[at])
        at += 1
      }
    }
    return result
  }

  /// `NAME in _HEX)` from `start` on: a name without blanks or brackets, and 32 digits.
  private static func discriminated(
    _ bytes: [UInt8], after start: Int, _ middle: [UInt8]
  ) -> (nameEnd: Int, end: Int)? {
    let nameEnd = bytes[start...].firstIndex { $0 == 0x20 || $0 == 0x28 || $0 == 0x29 }
    guard let nameEnd, nameEnd > start, bytes[nameEnd...].starts(with: middle) else { return nil }
    let digits = bytes[(nameEnd + middle.count)...].prefix {
      (0x30...0x39).contains($0) || (0x41...0x46).contains($0)
    }
    guard digits.count == 32, digits.endIndex < bytes.count, bytes[digits.endIndex] == 0x29 else {
      return nil
    }
    return (nameEnd, digits.endIndex + 1)
  }

  private static func withoutStandardModule(_ bytes: [UInt8]) -> [UInt8] {
    let prefix = Array("Swift.".utf8)
    var result: [UInt8] = []
    var at = 0
    while at < bytes.count {
      let isStart = at == 0 || !isPartOfName(bytes[at - 1])
      if isStart, bytes[at] == prefix[0], bytes[at...].starts(with: prefix) {
        at += prefix.count
      } else {
        result.append(bytes[at])
        at += 1
      }
    }
    return result
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2e, 0x80...0xff: true
    default: false
    }
  }
}
