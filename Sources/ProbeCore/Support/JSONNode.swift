// JSON as it stands in a file: values with the lines they begin in, for errors that say where.
// The library's decoder knows no lines, and linking it made every start of perfwatch dearer.

/// One value of a JSON text.
public struct JSONNode: Sendable, Equatable {
  public indirect enum Value: Sendable, Equatable {
    case null
    case bool(Bool)
    /// As it is written: not every number fits a type.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  public struct Member: Sendable, Equatable {
    public let key: String
    /// Where the key stands.
    public let line: Int
    public let node: JSONNode
  }

  public let value: Value
  /// Counted from 1.
  public let line: Int

  /// The member of an object with that key; the last one if there are several.
  public subscript(key: String) -> JSONNode? {
    guard case .object(let members) = value else { return nil }
    return members.last { $0.key == key }?.node
  }

  public var members: [Member]? { if case .object(let members) = value { members } else { nil } }
  public var elements: [JSONNode]? { if case .array(let list) = value { list } else { nil } }
  public var text: String? { if case .string(let text) = value { text } else { nil } }
  public var bool: Bool? { if case .bool(let value) = value { value } else { nil } }
  public var double: Double? {
    guard case .number(let text) = value, let number = Double(text), number.isFinite else {
      return nil
    }
    return number
  }

  /// What kind of value it is, for messages.
  public var kind: String {
    switch value {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// A text that is no JSON.
public struct JSONError: Error, Sendable, Equatable {
  public var line: Int
  /// One clause, safe for a terminal.
  public var why: String

  public var message: String { "line \(line): \(why)" }
}

/// Reads JSON (RFC 8259), or JSON5 as people write configurations: comments, trailing commas, single
/// quotes, keys without quotes. No input traps.
public struct JSONReader {
  public enum Dialect: Sendable { case json, json5 }

  /// Chosen: far more than any file of ours nests.
  private static let deepest = 128

  private let bytes: [UInt8]
  private let dialect: Dialect
  private var at = 0
  private var line = 1

  private init(_ bytes: [UInt8], _ dialect: Dialect) {
    self.bytes = bytes
    self.dialect = dialect
  }

  /// The one value that the text is.
  public static func read(
    _ bytes: [UInt8], as dialect: Dialect = .json
  ) throws(JSONError) -> JSONNode {
    var reader = JSONReader(bytes, dialect)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.at = 3 }
    let node = try reader.value(depth: 0)
    try reader.skipBlanks()
    if reader.peek != nil { throw reader.error("something follows the end of the value") }
    return node
  }

  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

  private func error(_ why: String) -> JSONError { JSONError(line: line, why: why) }

  private func unexpected(_ wanted: String) -> JSONError {
    guard let byte = peek else { return error("the file ends where \(wanted) should be") }
    let isPlain = (0x21...0x7e).contains(byte)
    let what = isPlain ? "'\(Character(Unicode.Scalar(byte)))'" : "an odd character"
    return error("\(what) stands where \(wanted) should be")
  }

  private mutating func skipBlanks() throws(JSONError) {
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\n"):
        line += 1
        at += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): at += 1
      case UInt8(ascii: "/") where dialect == .json5: try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(JSONError) {
    let second = at + 1 < bytes.count ? bytes[at + 1] : 0
    if second == UInt8(ascii: "/") {
      while let byte = peek, byte != UInt8(ascii: "\n") { at += 1 }
      return
    }
    guard second == UInt8(ascii: "*") else { throw unexpected("a value") }
    let start = line
    at += 2
    while at + 1 < bytes.count {
      if bytes[at] == UInt8(ascii: "*"), bytes[at + 1] == UInt8(ascii: "/") {
        at += 2
        return
      }
      if bytes[at] == UInt8(ascii: "\n") { line += 1 }
      at += 1
    }
    throw JSONError(line: start, why: "the comment that begins here does not end")
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONNode {
    guard depth < Self.deepest else { throw error("values are nested too deep") }
    try skipBlanks()
    let start = line
    func node(_ value: JSONNode.Value) -> JSONNode { JSONNode(value: value, line: start) }
    switch peek {
    case UInt8(ascii: "{"): return node(.object(try object(depth: depth)))
    case UInt8(ascii: "["): return node(.array(try array(depth: depth)))
    case UInt8(ascii: "\""): return node(.string(try string()))
    case UInt8(ascii: "'") where dialect == .json5: return node(.string(try string()))
    default: break
    }
    let word = word()
    switch word {
    case "null": return node(.null)
    case "true": return node(.bool(true))
    case "false": return node(.bool(false))
    case "": throw unexpected("a value")
    default:
      guard isNumber(word) else {
        throw error(
          "'\(SafeText.terminal(String(word.prefix(40))))' is no value; text needs quotes")
      }
      return node(.number(word))
    }
  }

  /// Letters, digits and what numbers are made of.
  private mutating func word() -> String {
    let start = at
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "$"):
        at += 1
      default: return String(decoding: bytes[start..<at], as: UTF8.self)
      }
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private func isNumber(_ word: String) -> Bool {
    guard let first = word.utf8.first, first == UInt8(ascii: "-") || first < UInt8(ascii: ":"),
      first != UInt8(ascii: "+"), first != UInt8(ascii: ".")
    else { return false }
    return !word.contains("x") && !word.contains("p") && Double(word)?.isFinite == true
  }

  private mutating func array(depth: Int) throws(JSONError) -> [JSONNode] {
    at += 1
    var list: [JSONNode] = []
    while true {
      try skipBlanks()
      if peek == UInt8(ascii: "]"), list.isEmpty || dialect == .json5 { break }
      list.append(try value(depth: depth + 1))
      try skipBlanks()
      if peek == UInt8(ascii: ",") { at += 1 } else { break }
    }
    guard peek == UInt8(ascii: "]") else { throw unexpected("',' or ']'") }
    at += 1
    return list
  }

  private mutating func object(depth: Int) throws(JSONError) -> [JSONNode.Member] {
    at += 1
    var members: [JSONNode.Member] = []
    while true {
      try skipBlanks()
      if peek == UInt8(ascii: "}"), members.isEmpty || dialect == .json5 { break }
      let start = line
      let key = try key()
      try skipBlanks()
      guard peek == UInt8(ascii: ":") else { throw unexpected("':'") }
      at += 1
      members.append(.init(key: key, line: start, node: try value(depth: depth + 1)))
      try skipBlanks()
      if peek == UInt8(ascii: ",") { at += 1 } else { break }
    }
    guard peek == UInt8(ascii: "}") else { throw unexpected("',' or '}'") }
    at += 1
    return members
  }

  private mutating func key() throws(JSONError) -> String {
    switch peek {
    case UInt8(ascii: "\""): return try string()
    case UInt8(ascii: "'") where dialect == .json5: return try string()
    default:
      guard dialect == .json5 else { throw unexpected("a key in quotes") }
      let word = word()
      if word.isEmpty { throw unexpected("a key") }
      return word
    }
  }

  private mutating func string() throws(JSONError) -> String {
    let quote = peek
    let start = line
    at += 1
    var text: [UInt8] = []
    while let byte = peek {
      at += 1
      switch byte {
      case quote:
        guard let result = String(validating: text, as: UTF8.self) else {
          throw JSONError(line: start, why: "the text is no UTF-8")
        }
        return result
      case UInt8(ascii: "\\"): try escape(into: &text)
      case UInt8(ascii: "\n"):
        throw JSONError(line: start, why: "the text does not end in its line")
      case 0..<0x20: throw error("a control character stands in a text")
      default: text.append(byte)
      }
    }
    throw JSONError(line: start, why: "the text that begins here does not end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    guard let byte = peek else { throw error("the file ends inside a text") }
    at += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"):
      text.append(byte)
    case UInt8(ascii: "u"): text += Array(String(Character(try unicode())).utf8)
    default: throw error("'\\' stands before a character that is no escape")
    }
  }

  private mutating func unicode() throws(JSONError) -> Unicode.Scalar {
    let first = try hexUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xd800..<0xdc00).contains(first), at + 1 < bytes.count,
      bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u")
    else { return "\u{fffd}" }
    at += 2
    let second = UInt32(try hexUnit())
    guard (0xdc00..<0xe000).contains(second) else { return "\u{fffd}" }
    return Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + second - 0xdc00) ?? "\u{fffd}"
  }

  private mutating func hexUnit() throws(JSONError) -> UInt16 {
    guard at + 4 <= bytes.count,
      let unit = UInt16(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
    else { throw error("'\\u' needs four hexadecimal digits") }
    at += 4
    return unit
  }
}
