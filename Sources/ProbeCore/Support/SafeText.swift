// Untrusted text (thread names, argv, paths, symbols) made safe to store and to show.
// A target chooses its own comm, and comm can hold a terminal command or half a UTF-8 sequence.

/// Turns bytes that the target controls into text.
public enum SafeText {
  /// The bytes as text: valid UTF-8 stays, every other byte becomes `\xHH`, so nothing is lost.
  public static func decode(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var result = ""
    var rest = bytes[...]
    while let first = rest.first {
      let length = sequenceLength(first)
      let head = rest.prefix(length)
      if head.count == length, let text = String(validating: head, as: UTF8.self) {
        result += text
        rest = rest.dropFirst(length)
      } else {
        result += "\\x" + hex(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  /// The text without anything a terminal would act on: control characters, escape sequences, line
  /// and paragraph separators and the marks that turn the direction of writing become `\xHH` or `\u{H}`.
  public static func terminal(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafeOnTerminal) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where !isUnsafeOnTerminal(scalar): result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x100: result += "\\x" + hex(UInt8(scalar.value))
      default: result += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
    return result
  }

  /// The text as a shell would need it typed, when it holds more than plain characters.
  public static func shellWord(_ text: String) -> String {
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-_./=:,+@%".utf8.contains(byte)
      }
    }
    if plain && !text.isEmpty { return text }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  private static func isUnsafeOnTerminal(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f: true
    case 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x2069, 0xfeff: true
    default: false
    }
  }

  private static func sequenceLength(_ first: UInt8) -> Int {
    switch first {
    case 0xc2...0xdf: 2
    case 0xe0...0xef: 3
    case 0xf0...0xf4: 4
    default: 1
    }
  }

  private static func hex(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return text.count == 1 ? "0" + text : text
  }
}
