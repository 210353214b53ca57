// Text measured and cut in terminal columns. A CJK character takes two, a combining mark none.
// Nothing here is exact for every terminal; where they differ, the larger width is taken.

/// Measures, cuts and pads text for a terminal.
enum DisplayText {
  /// Text from the target, safe to print; without Unicode, every other character as `\u{H}`.
  static func safe(_ text: String, isUnicode: Bool) -> String {
    let safe = SafeText.terminal(text)
    if isUnicode || safe.utf8.allSatisfy({ $0 < 0x80 }) { return safe }
    var result = ""
    for scalar in safe.unicodeScalars {
      if scalar.isASCII {
        result.unicodeScalars.append(scalar)
      } else if scalar == "\u{2026}" {
        result += "..."  // the mark of redaction, not a letter of the target's
      } else {
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      }
    }
    return result
  }

  /// Columns the text takes.
  static func width(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + width($1) }
  }

  /// The text, or its beginning and a mark of omission, in at most `width` columns.
  static func cut(_ text: String, to width: Int, isUnicode: Bool) -> String {
    if self.width(text) <= width { return text }
    let mark = isUnicode ? "\u{2026}" : width >= 8 ? "..." : "~"
    let room = width - self.width(mark)
    guard room >= 0 else { return "" }
    var result = ""
    var used = 0
    for character in text {
      let columns = self.width(String(character))
      if used + columns > room { break }
      used += columns
      result.append(character)
    }
    return result + mark
  }

  /// The text with blanks after it, or before it, up to `width` columns.
  static func pad(_ text: String, to width: Int, isRight: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - self.width(text)))
    return isRight ? blanks + text : text + blanks
  }

  /// The words in lines of at most `width` columns; a longer word stands alone and is cut.
  static func wrap(_ text: String, to width: Int, isUnicode: Bool) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words(text) {
      let word = cut(word, to: width, isUnicode: isUnicode)
      if line.isEmpty {
        line = word
      } else if self.width(line) + 1 + self.width(word) <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = word
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }

  /// The words, a number together with its unit.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    for word in text.split(separator: " ") {
      let unit = word.prefix { $0 != "," && $0 != ";" && $0 != ")" }
      if let last = words.last, last.last?.isNumber == true, units.contains(String(unit)) {
        words[words.count - 1] = last + " " + word
      } else {
        words.append(String(word))
      }
    }
    return words
  }

  private static let units: Set<String> = [
    "%", "ns", "us", "\u{b5}s", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "KiB/s", "MiB/s",
    "GiB/s", "TiB/s",
  ]

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format:
      // Emoji presentation: makes a narrow sign wide where it is understood.
      return scalar == "\u{fe0f}" ? 1 : 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return isWide(scalar.value) ? 2 : 1
  }

  /// East Asian Wide and Fullwidth, by block (Unicode 15, EastAsianWidth.txt).
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
      0xa000...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
      0xff00...0xff60, 0xffe0...0xffe6, 0x17000...0x18cff, 0x1b000...0x1b2ff, 0x1f000...0x1faff,
      0x20000...0x3fffd:
      true
    default: false
    }
  }
}
