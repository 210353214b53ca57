// A JSON writer that keeps the order in which a type encodes its keys and writes absent values as null.
// The summary's keys have a fixed order and "not measured" must be visible; the library's encoder does neither.

/// Encodes a value as UTF-8 JSON, keys in the order of encoding, nil as `null`.
public struct OrderedJSONEncoder {
  /// Two spaces a level when true, else one line.
  public var isIndented: Bool

  public init(isIndented: Bool = true) { self.isIndented = isIndented }

  /// - Throws: whatever the value's own `encode(to:)` throws, or `EncodingError` for a number that
  ///   JSON cannot hold (NaN, infinity).
  public func encode(_ value: some Encodable) throws -> [UInt8] {
    let root = Box()
    try value.encode(to: TreeEncoder(box: root, codingPath: []))
    var out = JSONText(isIndented: isIndented)
    out.write(root.node, depth: 0)
    if isIndented { out.bytes.append(UInt8(ascii: "\n")) }
    return out.bytes
  }
}

private enum Node {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([Box])
  case object([(key: String, box: Box)])
}

/// A place in the tree that a container fills in while its owner goes on.
private final class Box {
  var node: Node = .null

  func append(key: String) -> Box {
    let child = Box()
    if case .object(var members) = node {
      // Readers differ in which of two values they take.
      assert(!members.contains { $0.key == key }, "\(key) twice in one object")
      node = .null
      members.append((key, child))
      node = .object(members)
    } else {
      node = .object([(key, child)])
    }
    return child
  }

  func appendElement() -> Box {
    let child = Box()
    if case .array(var elements) = node {
      node = .null
      elements.append(child)
      node = .array(elements)
    } else {
      node = .array([child])
    }
    return child
  }

  func set<T: Encodable>(_ value: T, codingPath: [any CodingKey]) throws {
    switch value {
    case let value as Bool: node = .bool(value)
    case let value as String: node = .string(value)
    case let value as Double:
      guard value.isFinite else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: codingPath, debugDescription: "JSON has no \(value)"))
      }
      node = .number(value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)")
    case let value as any FixedWidthInteger: node = .number("\(value)")
    default: try value.encode(to: TreeEncoder(box: self, codingPath: codingPath))
    }
  }
}

private struct TreeEncoder: Encoder {
  let box: Box
  var codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = box.node {} else { box.node = .object([]) }
    return KeyedEncodingContainer(Keyed(box: box, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = box.node {} else { box.node = .array([]) }
    return Unkeyed(box: box, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    Single(box: box, codingPath: codingPath)
  }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let box: Box
  var codingPath: [any CodingKey]

  mutating func encodeNil(forKey key: Key) { _ = box.append(key: key.stringValue) }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try box.append(key: key.stringValue).set(value, codingPath: codingPath + [key])
  }

  mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }
  mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    TreeEncoder(box: box.append(key: key.stringValue), codingPath: codingPath + [key])
      .container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    TreeEncoder(box: box.append(key: key.stringValue), codingPath: codingPath + [key])
      .unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder {
    TreeEncoder(box: box.append(key: "super"), codingPath: codingPath)
  }
  mutating func superEncoder(forKey key: Key) -> any Encoder {
    TreeEncoder(box: box.append(key: key.stringValue), codingPath: codingPath + [key])
  }
}

private struct Unkeyed: UnkeyedEncodingContainer {
  let box: Box
  var codingPath: [any CodingKey]
  var count: Int { if case .array(let elements) = box.node { elements.count } else { 0 } }

  mutating func encodeNil() { _ = box.appendElement() }
  mutating func encode<T: Encodable>(_ value: T) throws {
    try box.appendElement().set(value, codingPath: codingPath)
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    TreeEncoder(box: box.appendElement(), codingPath: codingPath).container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    TreeEncoder(box: box.appendElement(), codingPath: codingPath).unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder {
    TreeEncoder(box: box.appendElement(), codingPath: codingPath)
  }
}

private struct Single: SingleValueEncodingContainer {
  let box: Box
  var codingPath: [any CodingKey]

  mutating func encodeNil() { box.node = .null }
  mutating func encode<T: Encodable>(_ value: T) throws {
    try box.set(value, codingPath: codingPath)
  }
}

/// Lays a tree out as text.
private struct JSONText {
  var bytes: [UInt8] = []
  let isIndented: Bool

  init(isIndented: Bool) { self.isIndented = isIndented }

  mutating func write(_ node: Node, depth: Int) {
    switch node {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let text): bytes.append(contentsOf: text.utf8)
    case .string(let text): write(text)
    case .array(let elements):
      // Series are long lists of numbers: one line each keeps the file readable.
      let isFlat = elements.allSatisfy {
        if case .number = $0.node { true } else { $0.node.isNull }
      }
      list(open: "[", close: "]", elements, depth: depth, isFlat: isFlat) { out, box in
        out.write(box.node, depth: depth + 1)
      }
    case .object(let members):
      list(open: "{", close: "}", members, depth: depth, isFlat: false) { out, member in
        out.write(member.key)
        out.bytes.append(contentsOf: (out.isIndented ? ": " : ":").utf8)
        out.write(member.box.node, depth: depth + 1)
      }
    }
  }

  private mutating func list<T>(
    open: String, close: String, _ elements: [T], depth: Int, isFlat: Bool,
    _ body: (inout JSONText, T) -> Void
  ) {
    bytes.append(contentsOf: open.utf8)
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(contentsOf: (isFlat && isIndented ? ", " : ",").utf8) }
      if !isFlat { newline(depth + 1) }
      body(&self, element)
    }
    if !elements.isEmpty && !isFlat { newline(depth) }
    bytes.append(contentsOf: close.utf8)
  }

  private mutating func newline(_ depth: Int) {
    guard isIndented else { return }
    bytes.append(UInt8(ascii: "\n"))
    for _ in 0..<depth { bytes.append(contentsOf: "  ".utf8) }
  }

  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes.append(contentsOf: "\\\"".utf8)
      case "\\": bytes.append(contentsOf: "\\\\".utf8)
      case "\n": bytes.append(contentsOf: "\\n".utf8)
      case "\t": bytes.append(contentsOf: "\\t".utf8)
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        bytes.append(
          contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      // Every Unicode.Scalar has a UTF-8 form.
      default: bytes.append(contentsOf: UTF8.encode(scalar)!)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension Node {
  fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
