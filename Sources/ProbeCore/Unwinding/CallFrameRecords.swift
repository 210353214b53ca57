// The records of .eh_frame and .debug_frame: what is common to many functions (CIE) and what is one
// function's own (FDE). DWARF 5, part 6.4, and the Linux Standard Base on .eh_frame.

/// A table of records in a file.
struct CallFrameTable {
  var file: ModuleFile
  var extent: ELFLayout.Table
  var isDebugFrame: Bool
  /// No function's record is longer; what is, was not written by a compiler (chosen).
  private static let recordLimit: UInt64 = 1 << 20

  /// What many records have in common.
  struct Common {
    var codeAlignment: UInt64
    var dataAlignment: Int64
    var returnRegister: UInt8
    var pointerEncoding: UInt8
    var hasAugmentationData: Bool
    var isSignalFrame: Bool
    var instructions: [UInt8]
  }

  /// One function's record, or a part of one.
  struct Function {
    var common: Common
    /// Module-relative addresses of its code.
    var start: UInt64
    var size: UInt64
    var instructions: ByteCursor
  }

  /// A record without what is in it.
  struct Raw {
    var content: ByteCursor
    /// The table-relative place of the record that this one refers to; nil for a CIE.
    var common: UInt64?
    var next: UInt64
  }

  /// The record at a place in the table.
  ///
  /// - Returns: nil at the end, or if there is no valid one.
  func raw(at place: UInt64) -> Raw? {
    guard place <= extent.size, extent.size - place >= 8,
      var length = file.number(at: extent.offset + place, size: 4), length != 0
    else { return nil }
    var header: UInt64 = 4
    var identifierSize = 4
    if length == 0xffff_ffff {
      guard let long = file.number(at: extent.offset + place + 4, size: 8) else { return nil }
      length = long
      header = 12
      // In .eh_frame the number before the content stays a short one.
      identifierSize = isDebugFrame ? 8 : 4
    }
    guard length >= UInt64(identifierSize), length <= Self.recordLimit,
      place + header <= extent.size, length <= extent.size - place - header,
      let bytes = file.read(at: extent.offset + place + header, count: Int(length))
    else { return nil }
    var content = ByteCursor(bytes, base: extent.address &+ place &+ header)
    guard let identifier = content.number(identifierSize) else { return nil }
    let common: UInt64?
    if isDebugFrame {
      let mark: UInt64 = identifierSize == 8 ? ~0 : 0xffff_ffff
      common = identifier == mark ? nil : identifier
    } else {
      common = identifier == 0 ? nil : place &+ header &- identifier
    }
    return Raw(content: content, common: common, next: place + header + length)
  }

  /// What the record at a place says in common; nil if there is no valid one.
  func common(at place: UInt64) -> Common? {
    guard let raw = raw(at: place), raw.common == nil else { return nil }
    var content = raw.content
    guard let version = content.byte(), [1, 3, 4].contains(version),
      let augmentation = content.cString()
    else { return nil }
    if version == 4 {
      // Address size and segment selector size.
      guard content.byte() == 8, content.byte() == 0 else { return nil }
    }
    guard let codeAlignment = content.unsignedLEB(), let dataAlignment = content.signedLEB(),
      let register = version == 1 ? content.byte().map(UInt64.init) : content.unsignedLEB(),
      register < UInt64(RowBuilder.registerLimit)
    else { return nil }
    var common = Common(
      codeAlignment: codeAlignment, dataAlignment: dataAlignment,
      returnRegister: UInt8(register), pointerEncoding: 0,
      hasAugmentationData: augmentation.first == UInt8(ascii: "z"), isSignalFrame: false,
      instructions: [])
    if common.hasAugmentationData {
      guard let data = content.block(), Self.apply(augmentation.dropFirst(), data, to: &common)
      else { return nil }
    } else if !augmentation.isEmpty {
      return nil
    }
    common.instructions = content.take(content.remaining) ?? []
    return common
  }

  private static func apply(
    _ letters: ArraySlice<UInt8>, _ data: [UInt8], to common: inout Common
  ) -> Bool {
    var data = ByteCursor(data)
    for letter in letters {
      switch letter {
      case UInt8(ascii: "R"):
        guard let encoding = data.byte() else { return false }
        common.pointerEncoding = encoding
      case UInt8(ascii: "L"):
        guard data.byte() != nil else { return false }
      case UInt8(ascii: "P"):
        // The personality routine: its size is all that we want. Bit 7 says "pointer to it".
        guard let encoding = data.byte(), data.pointer(encoding: encoding & 0x0f) != nil else {
          return false
        }
      case UInt8(ascii: "S"): common.isSignalFrame = true
      case UInt8(ascii: "B"): break
      // The rest is unknown, but it cannot change what we have read.
      default: return true
      }
    }
    return true
  }

  /// The function's record at a place; nil if there is no valid one.
  func function(
    at place: UInt64, commons: inout [UInt64: Common]
  ) -> Function? {
    guard let raw = raw(at: place) else { return nil }
    return function(raw, commons: &commons)
  }

  func function(_ raw: Raw, commons: inout [UInt64: Common]) -> Function? {
    guard let place = raw.common else { return nil }
    let common: Common
    if let known = commons[place] {
      common = known
    } else {
      guard let read = self.common(at: place) else { return nil }
      if commons.count >= 1024 { commons.removeAll() }
      commons[place] = read
      common = read
    }
    var content = raw.content
    guard let start = content.pointer(encoding: common.pointerEncoding),
      let size = content.pointer(encoding: common.pointerEncoding & 0x0f)
    else { return nil }
    if common.hasAugmentationData, content.block() == nil { return nil }
    return Function(common: common, start: start, size: size, instructions: content)
  }
}
