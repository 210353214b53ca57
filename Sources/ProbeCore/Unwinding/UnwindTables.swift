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

  private func rowByFrames(_ address: UInt64) -> FrameRow? {
    if let header {
      guard let record = header.record(for: address, in: file),
        let table = segmentTable(record),
        let function = table.function(
          at: record &- table.extent.address, commons: &frameCommons)
      else { return nil }
      return RowBuilder.row(for: address, in: function, isDebugFrame: false)
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
    let table = CallFrameTable(file: file, extent: extent, isDebugFrame: true)
    return Self.row(address, table, &debugIndex, &debugCommons)
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
