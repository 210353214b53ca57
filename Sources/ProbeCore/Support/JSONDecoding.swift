// Decodable values from a JSON tree; errors say key and line.

/// Why a JSON tree is not the value that was asked for.
public struct JSONMismatch: Error, Sendable, Equatable {
  /// Keys from the outside in, such as `cpu.byThread[3].name`.
  public var path: String
  public var line: Int
  public var why: String

  public var message: String {
    "line \(line): \(path.isEmpty ? "the file" : SafeText.terminal(path)): \(why)"
  }
}

extension JSONNode {
  /// The node as a value of that type.
  ///
  /// - Throws: `JSONMismatch`, or what the type's own `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, at: "") }

  fileprivate func decode<T: Decodable>(_ type: T.Type, at path: String) throws -> T {
    try T(from: TreeDecoder(node: self, path: path))
  }

  fileprivate func mismatch(_ path: String, _ wanted: String) -> JSONMismatch {
    JSONMismatch(path: path, line: line, why: "\(wanted) is expected, and it is \(kind)")
  }

  fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type, at path: String) throws -> T {
    guard case .number(let text) = value else { throw mismatch(path, "a whole number") }
    if let number = T(text) { return number }
    guard let double = Double(text), let number = T(exactly: double) else {
      throw JSONMismatch(path: path, line: line, why: "the number is not whole or does not fit")
    }
    return number
  }
}

private struct TreeDecoder: Decoder {
  let node: JSONNode
  let path: String
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let members = node.members else { throw node.mismatch(path, "an object") }
    return KeyedDecodingContainer(KeyedTree(node: node, members: members, path: path))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let list = node.elements else { throw node.mismatch(path, "a list") }
    return ListTree(list: list, node: node, path: path)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleTree(node: node, path: path)
  }
}

private struct SingleTree: SingleValueDecodingContainer {
  let node: JSONNode
  let path: String
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { node.value == .null }
  func decode(_ type: Bool.Type) throws -> Bool {
    guard let value = node.bool else { throw node.mismatch(path, "true or false") }
    return value
  }
  func decode(_ type: String.Type) throws -> String {
    guard let value = node.text else { throw node.mismatch(path, "text") }
    return value
  }
  func decode(_ type: Double.Type) throws -> Double {
    guard let value = node.double else { throw node.mismatch(path, "a number") }
    return value
  }
  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try node.integer(type, at: path) }
  func decode(_ type: Int8.Type) throws -> Int8 { try node.integer(type, at: path) }
  func decode(_ type: Int16.Type) throws -> Int16 { try node.integer(type, at: path) }
  func decode(_ type: Int32.Type) throws -> Int32 { try node.integer(type, at: path) }
  func decode(_ type: Int64.Type) throws -> Int64 { try node.integer(type, at: path) }
  func decode(_ type: UInt.Type) throws -> UInt { try node.integer(type, at: path) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try node.integer(type, at: path) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try node.integer(type, at: path) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try node.integer(type, at: path) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try node.integer(type, at: path) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    do {
      return try node.decode(type, at: path)
    } catch let error as DecodingError {
      // What a type says of its own, as an enum of a word that it does not know.
      throw JSONMismatch(path: path, line: node.line, why: Self.reason(error))
    }
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted(let context): context.debugDescription
    case .typeMismatch(_, let context), .valueNotFound(_, let context): context.debugDescription
    case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
    @unknown default: "it cannot be read"
    }
  }
}

private struct KeyedTree<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let node: JSONNode
  let members: [JSONNode.Member]
  let path: String
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { node[key.stringValue] != nil }

  private func child(_ key: Key) throws -> SingleTree {
    let name = path.isEmpty ? key.stringValue : path + "." + key.stringValue
    guard let child = node[key.stringValue] else {
      throw JSONMismatch(path: name, line: node.line, why: "it is missing")
    }
    return SingleTree(node: child, path: name)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).decode(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).decode(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).decode(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).decode(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).decode(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).decode(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).decode(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).decode(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).decode(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).decode(type) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try child(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    let child = try child(key)
    return try TreeDecoder(node: child.node, path: child.path).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    let child = try child(key)
    return try TreeDecoder(node: child.node, path: child.path).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { TreeDecoder(node: node, path: path) }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    let child = try child(key)
    return TreeDecoder(node: child.node, path: child.path)
  }
}

private struct ListTree: UnkeyedDecodingContainer {
  let list: [JSONNode]
  let node: JSONNode
  let path: String
  var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { list.count }
  var isAtEnd: Bool { currentIndex >= list.count }

  private mutating func next() throws -> SingleTree {
    let name = "\(path)[\(currentIndex)]"
    guard currentIndex < list.count else {
      throw JSONMismatch(path: name, line: node.line, why: "the list ends before it")
    }
    defer { currentIndex += 1 }
    return SingleTree(node: list[currentIndex], path: name)
  }

  mutating func decodeNil() throws -> Bool {
    guard currentIndex < list.count, list[currentIndex].value == .null else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let child = try next()
    return try TreeDecoder(node: child.node, path: child.path).container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let child = try next()
    return try TreeDecoder(node: child.node, path: child.path).unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder {
    let child = try next()
    return TreeDecoder(node: child.node, path: child.path)
  }
}
