// The section table of an ELF file, checked: everything that it says may be a lie.

/// The sections of a 64-bit little-endian ELF file.
public struct ELFImage: Sendable {
  /// One section; offsets and sizes are as the file has them and only ever used for bounded reads.
  struct Section: Sendable {
    var name: [UInt8]
    var type: UInt32
    var flags: UInt64
    var address: UInt64
    var offset: UInt64
    var size: UInt64
    var link: Int
    var entrySize: UInt64

    var isExecutable: Bool { flags & 4 != 0 }
    /// Its bytes are in this file and are not compressed.
    var hasPlainBytes: Bool { type != 8 && flags & 0x800 == 0 }
    func contains(_ value: UInt64) -> Bool { value >= address && value - address < size }
  }

  let file: SymbolFile
  private(set) var sections: [Section] = []
  /// EM_X86_64 is 62, EM_AARCH64 is 183.
  let machine: UInt16

  /// More sections than linkers make for a program or library (chosen; -ffunction-sections is undone
  /// by the link).
  static let sectionLimit = 4096

  /// - Returns: nil for what is no such ELF file, or has no section table.
  public init?(_ file: SymbolFile) {
    let head = file.read(at: 0, count: 64)
    guard head.count == 64, head.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1]) else { return nil }
    self.file = file
    machine = UInt16(truncatingIfNeeded: Self.number(head, 0x12, 2))
    let start = Self.number(head, 0x28, 8)
    let entry = Int(Self.number(head, 0x3a, 2))
    var count = Int(Self.number(head, 0x3c, 2))
    var names = Int(Self.number(head, 0x3e, 2))
    guard entry == 64, start != 0 else { return nil }
    // More than 0xff00 are told by the first section; that is more than we take.
    if count == 0 {
      let first = file.read(at: start, count: 64)
      guard first.count == 64 else { return nil }
      count = Int(clamping: Self.number(first, 0x20, 8))
      if names == 0xffff { names = Int(Self.number(first, 0x28, 4)) }
    }
    guard count > 0, count <= Self.sectionLimit else { return nil }
    let table = file.read(at: start, count: count * 64)
    guard table.count == count * 64 else { return nil }
    var nameOffsets: [Int] = []
    for at in stride(from: 0, to: table.count, by: 64) {
      nameOffsets.append(Int(Self.number(table, at, 4)))
      sections.append(
        Section(
          name: [], type: UInt32(Self.number(table, at + 4, 4)),
          flags: Self.number(table, at + 8, 8), address: Self.number(table, at + 16, 8),
          offset: Self.number(table, at + 24, 8), size: Self.number(table, at + 32, 8),
          link: Int(Self.number(table, at + 40, 4)), entrySize: Self.number(table, at + 56, 8)))
    }
    guard names < count else { return }
    let text = file.read(
      at: sections[names].offset, count: Int(min(sections[names].size, 1 << 20)))
    for (index, offset) in nameOffsets.enumerated() where offset < text.count {
      sections[index].name = Array(text[offset...].prefix(64).prefix { $0 != 0 })
    }
  }

  func section(_ name: String) -> Section? {
    let bytes = Array(name.utf8)
    return sections.first { $0.name == bytes }
  }

  /// The bytes of a section of at most `limit` bytes; nil if it has none here, or more.
  func bytes(of section: Section, limit: Int) -> [UInt8]? {
    guard section.hasPlainBytes, section.size <= limit else { return nil }
    let bytes = file.read(at: section.offset, count: Int(section.size))
    return bytes.count == Int(section.size) ? bytes : nil
  }

  /// Whether libdw could find lines in it.
  var hasLines: Bool {
    sections.contains {
      $0.type != 8
        && ($0.name == Array(".debug_info".utf8) || $0.name == Array(".zdebug_info".utf8))
    }
  }

  /// The build-id note, wherever it is; nil if there is none of 1...64 bytes.
  var buildID: [UInt8]? {
    for section in sections where section.type == 7 {
      guard let notes = bytes(of: section, limit: 64 << 10) else { continue }
      var at = 0
      while at + 12 <= notes.count {
        let nameSize = Int(Self.number(notes, at, 4))
        let size = Int(Self.number(notes, at + 4, 4))
        let name = at + 12
        let body = name + (nameSize + 3) & ~3
        guard nameSize <= notes.count, size <= notes.count - min(body, notes.count) else { break }
        if Self.number(notes, at + 8, 4) == 3, (1...64).contains(size),
          notes[name...].starts(with: [0x47, 0x4e, 0x55, 0])
        {
          return Array(notes[body..<body + size])
        }
        at = body + (size + 3) & ~3
      }
    }
    return nil
  }

  /// A little-endian number of `size` (1 to 8) bytes; the caller has checked the bounds.
  static func number(_ bytes: [UInt8], _ at: Int, _ size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
  }
}
