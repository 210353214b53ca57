// All unwind information of one file, found when it is first asked for. It speaks of module-relative
// addresses, so that all processes that map the file share it.

/// The tables of one file.
final class UnwindTables {
  let file: ModuleFile
  let layout: ELFLayout
  private let header: FrameHeader?
  private var frameCommons: [UInt64: CallFrameTable.Common] = [:]
  private var debugCommons: [UInt64: CallFrameTable.Common] = [:]
  /// nil until asked for.
  private var frameIndex: FrameIndex?
  private var debugIndex: FrameIndex?
  /// .debug_frame, where it is compressed; nil until asked for, and then nil if it is damaged.
  private var unpacked: ModuleFile??

  /// - Returns: nil if it is no 64-bit little-endian ELF file.
  init?(_ file: ModuleFile) {
    guard let layout = ELFLayout(file) else { return nil }
    self.file = file
    self.layout = layout
    header = layout.frameHeader.flatMap { FrameHeader(file, $0) }
  }

  /// How to leave the frame whose code is at the module-relative address.
  ///
  /// - Returns: nil if neither .eh_frame nor .debug_frame knows.
  func row(for address: UInt64) -> FrameRow? {
    rowByFrames(address) ?? rowByDebugFrames(address)
  }

  /// Where the function with the module-relative address begins, by .eh_frame_hdr.
  func functionStart(of address: UInt64) -> UInt64? {
    guard let function = functionByHeader(address), address &- function.start < function.size else {
      return nil
    }
    return function.start
  }

  private func functionByHeader(_ address: UInt64) -> CallFrameTable.Function? {
    guard let record = header?.record(for: address, in: file), let table = segmentTable(record)
    else { return nil }
    return table.function(at: record &- table.extent.address, commons: &frameCommons)
  }

  private func rowByFrames(_ address: UInt64) -> FrameRow? {
    if header != nil {
      return functionByHeader(address).flatMap {
        RowBuilder.row(for: address, in: $0, isDebugFrame: false)
      }
    }
    guard let extent = layout.frames else { return nil }
    let table = CallFrameTable(file: file, extent: extent, isDebugFrame: false)
    return Self.row(address, table, &frameIndex, &frameCommons)
  }

  private static func row(
    _ address: UInt64, _ table: CallFrameTable, _ index: inout FrameIndex?,
    _ commons: inout [UInt64: CallFrameTable.Common]
  ) -> FrameRow? {
    let known = index ?? FrameIndex(table, commons: &commons)
    index = known
    guard let place = known.record(for: address),
      let function = table.function(at: place, commons: &commons)
    else { return nil }
    return RowBuilder.row(for: address, in: function, isDebugFrame: table.isDebugFrame)
  }

  /// The segment that holds a record: the header does not say how long .eh_frame is.
  private func segmentTable(_ record: UInt64) -> CallFrameTable? {
    for load in layout.loads where record &- load.address < load.fileSize {
      let (end, overflow) = load.offset.addingReportingOverflow(load.fileSize)
      guard !overflow, load.offset <= UInt64(file.identity.size) else { return nil }
      let extent = ELFLayout.Table(
        offset: load.offset, address: load.address,
        size: min(end, UInt64(file.identity.size)) - load.offset)
      return CallFrameTable(file: file, extent: extent, isDebugFrame: false)
    }
    return nil
  }

  private func rowByDebugFrames(_ address: UInt64) -> FrameRow? {
    guard let extent = layout.debugFrames else { return nil }
    let table: CallFrameTable
    if layout.isDebugPacked {
      if unpacked == nil { unpacked = .some(Self.unpack(extent, of: file)) }
      guard case .some(let memory?) = unpacked else { return nil }
      table = CallFrameTable(
        file: memory,
        extent: ELFLayout.Table(offset: 0, address: 0, size: UInt64(memory.identity.size)),
        isDebugFrame: true)
    } else {
      table = CallFrameTable(file: file, extent: extent, isDebugFrame: true)
    }
    return Self.row(address, table, &debugIndex, &debugCommons)
  }

  /// What a compressed table may be unpacked; that of a Go program of 100 MB is 4 MB (chosen).
  private static let unpackLimit: UInt64 = 64 << 20

  /// Elf64_Chdr: type (1 is zlib) 4 bytes, 4 reserved, the size 8, the alignment 8; then the stream.
  private static func unpack(_ extent: ELFLayout.Table, of file: ModuleFile) -> ModuleFile? {
    guard extent.size > 24, extent.size <= unpackLimit,
      file.number(at: extent.offset, size: 4) == 1,
      let size = file.number(at: extent.offset + 8, size: 8), size <= unpackLimit,
      let packed = file.read(at: extent.offset + 24, count: Int(extent.size) - 24),
      let bytes = SymbolFile.inflate(packed, size: Int(size))
    else { return nil }
    return ModuleFile(memory: bytes, number: 0)
  }
}

/// The tables of all files that any watched process has in use. For one thread.
public final class ModuleCache {
  private var tables: [ModuleFile.Identity: UnwindTables?] = [:]
  /// Each holds a descriptor; a large desktop program has some 300 modules (chosen).
  private static let limit = 512

  public init() {}

  /// What is known of a file that was just opened; the one seen before if it is the same.
  func tables(for file: ModuleFile) -> UnwindTables? {
    if let known = tables[file.identity] { return known }
    if tables.count >= Self.limit { tables.removeAll() }
    let made = UnwindTables(file)
    tables[file.identity] = .some(made)
    return made
  }
}
