// The head of an ELF file: segments, entry, build id, and the sections that unwinding wants.
// Everything is checked against the file; what does not fit is as if it were not there.

/// What is needed of a 64-bit little-endian ELF file to map addresses and find its unwind tables.
struct ELFLayout: Sendable, Equatable {
  struct Segment: Sendable, Equatable {
    var offset: UInt64
    var address: UInt64
    var fileSize: UInt64
    var isExecutable: Bool
  }

  /// Where records of call frames lie.
  struct Table: Sendable, Equatable {
    /// In the file.
    var offset: UInt64
    /// The module-relative address of the first byte; 0 for .debug_frame, which is not loaded.
    var address: UInt64
    var size: UInt64
  }

  var entry: UInt64 = 0
  var loads: [Segment] = []
  /// PT_GNU_EH_FRAME: the .eh_frame_hdr.
  var frameHeader: Table?
  /// By the section headers, which a program need not have.
  var frames: Table?
  var debugFrames: Table?
  /// `debugFrames` is compressed (SHF_COMPRESSED): a header of 24 bytes, and a stream.
  var isDebugPacked = false
  /// The note of the linker; nil if there is none.
  var buildID: [UInt8]?

  /// A real program has some 15; the limits bound our work (chosen).
  private static let segmentLimit: UInt64 = 512
  private static let sectionLimit: UInt64 = 65_536
  /// What no table may be larger than; that of a 3 GB browser is 40 MB (chosen).
  static let tableLimit: UInt64 = 256 << 20

  /// - Returns: nil if the file is no such ELF file: another format, class or byte order.
  init?(_ file: ModuleFile) {
    guard let head = file.read(at: 0, count: 64), head.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1])
    else { return nil }
    var cursor = ByteCursor(head)
    guard cursor.skip(24), let entry = cursor.number(8), let segments = cursor.number(8),
      let sections = cursor.number(8), cursor.skip(6), let segmentSize = cursor.number(2),
      let segmentCount = cursor.number(2), let sectionSize = cursor.number(2),
      let sectionCount = cursor.number(2), let namesIndex = cursor.number(2),
      segmentSize == 56, segmentCount <= Self.segmentLimit
    else { return nil }
    self.entry = entry
    for index in 0..<segmentCount {
      guard let bytes = file.read(at: segments &+ index * 56, count: 56) else { break }
      addSegment(ByteCursor(bytes), file)
    }
    if sectionSize == 64, sectionCount <= Self.sectionLimit, namesIndex < sectionCount {
      findSections(file, at: sections, count: sectionCount, names: namesIndex)
    }
  }

  private mutating func addSegment(_ header: ByteCursor, _ file: ModuleFile) {
    var header = header
    guard let type = header.number(4), let flags = header.number(4), let offset = header.number(8),
      let address = header.number(8), header.skip(8), let fileSize = header.number(8)
    else { return }
    switch type {
    case 1:  // PT_LOAD
      loads.append(
        Segment(offset: offset, address: address, fileSize: fileSize, isExecutable: flags & 1 != 0))
    case 4:  // PT_NOTE
      if buildID == nil { buildID = Self.buildID(file, offset, fileSize) }
    case 0x6474_e550:  // PT_GNU_EH_FRAME
      frameHeader = Self.table(file, offset: offset, address: address, size: fileSize)
    default: break
    }
  }

  /// A table, if the file holds all of it.
  private static func table(
    _ file: ModuleFile, offset: UInt64, address: UInt64, size: UInt64
  ) -> Table? {
    let (end, overflow) = offset.addingReportingOverflow(size)
    guard !overflow, size <= tableLimit, end <= UInt64(file.identity.size) else { return nil }
    return Table(offset: offset, address: address, size: size)
  }

  private static func buildID(
    _ file: ModuleFile, _ offset: UInt64, _ size: UInt64
  ) -> [UInt8]? {
    guard size <= 4096, let bytes = file.read(at: offset, count: Int(size)) else { return nil }
    var notes = ByteCursor(bytes)
    while let nameSize = notes.number(4), let size = notes.number(4), let type = notes.number(4) {
      guard nameSize <= 4096, size <= 4096, let name = notes.take(Int(nameSize)),
        notes.skip(-Int(nameSize) & 3), let content = notes.take(Int(size))
      else { return nil }
      // NT_GNU_BUILD_ID; a build id is 8 to 64 bytes long.
      if type == 3, name == Array("GNU\0".utf8), 8...64 ~= size { return content }
      guard notes.skip(-Int(size) & 3) else { return nil }
    }
    return nil
  }

  private mutating func findSections(
    _ file: ModuleFile, at sections: UInt64, count: UInt64, names: UInt64
  ) {
    guard let nameTable = file.number(at: sections &+ names * 64 &+ 24, size: 8) else { return }
    for index in 0..<count {
      let header = sections &+ index * 64
      guard let name = file.number(at: header, size: 4) else { return }
      let place = nameTable &+ name
      // ".eh_frame" or ".debug_frame" with the zero byte; most names differ in the first two.
      guard let start = file.number(at: place, size: 3), start == 0x68_652e || start == 0x65_642e
      else { continue }
      let isFrames = file.read(at: place, count: 10) == Array(".eh_frame\0".utf8)
      let isDebugFrames =
        !isFrames && file.read(at: place, count: 13) == Array(".debug_frame\0".utf8)
      guard isFrames || isDebugFrames, let type = file.number(at: header &+ 4, size: 4),
        let flags = file.number(at: header &+ 8, size: 8),
        let address = file.number(at: header &+ 16, size: 8),
        let offset = file.number(at: header &+ 24, size: 8),
        let size = file.number(at: header &+ 32, size: 8)
      else { continue }
      // SHT_NOBITS holds no bytes, as in a debug file. What is loaded is never SHF_COMPRESSED.
      let isPacked = flags & 0x800 != 0
      guard type != 8, !(isFrames && isPacked) else { continue }
      let table = Self.table(file, offset: offset, address: address, size: size)
      if isFrames {
        frames = table
      } else {
        debugFrames = table
        isDebugPacked = isPacked
      }
    }
  }

  /// What to take off an address in the process to get the module-relative one that the file speaks
  /// of. By the segment that holds the mapping's offset: "start - offset" is wrong where address and
  /// offset of a segment differ, as lld lays files out.
  ///
  /// - Returns: nil where no segment holds the offset.
  func bias(start: UInt64, offset: UInt64, isExecutable: Bool, pageSize: UInt64) -> UInt64? {
    let mask = ~(pageSize - 1)
    var found: UInt64?
    for load in loads {
      let first = load.offset & mask
      let (end, overflow) = load.offset.addingReportingOverflow(load.fileSize)
      guard !overflow, offset >= first, offset < end else { continue }
      found = start &- ((load.address & mask) &+ (offset - first))
      // Two segments may share a page of the file; the one with the right permission it is.
      if load.isExecutable == isExecutable { return found }
    }
    return found
  }

  /// Where a module-relative address is in the file; nil if no segment brings it from there.
  func fileOffset(of address: UInt64) -> (offset: UInt64, available: UInt64)? {
    for load in loads where address &- load.address < load.fileSize {
      let into = address - load.address
      let (offset, overflow) = load.offset.addingReportingOverflow(into)
      if !overflow { return (offset, load.fileSize - into) }
    }
    return nil
  }
}
