// Where a file system is mounted, from /proc/self/mounts. Nothing is mounted here.

enum MountTable {
  /// The first mount point of that type, and with that mount option if one is given; nil if there is
  /// none.
  static func place(type: String, option: String? = nil) -> String? {
    guard let bytes = try? InputFile.read("/proc/self/mounts") else { return nil }
    return place(type: type, option: option, in: bytes)
  }

  /// The same in the bytes of a mounts file: device, place, type, options.
  static func place(type: String, option: String?, in bytes: [UInt8]) -> String? {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count >= 4, fields[2].elementsEqual(type.utf8) else { continue }
      if let option {
        let options = fields[3].split(separator: UInt8(ascii: ","))
        guard options.contains(where: { $0.elementsEqual(option.utf8) }) else { continue }
      }
      return String(decoding: unescaped(fields[1]), as: UTF8.self)
    }
    return nil
  }

  /// The kernel writes blanks, tabs, newlines and backslashes in a path as three octal digits.
  private static func unescaped(_ path: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = path
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      guard byte == UInt8(ascii: "\\"), digits.count == 3,
        digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
      else {
        result.append(byte)
        continue
      }
      result.append(digits.reduce(0) { $0 &* 8 &+ ($1 - UInt8(ascii: "0")) })
      rest = rest.dropFirst(3)
    }
    return result
  }
}
