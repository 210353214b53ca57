// .eh_frame_hdr: the sorted table from addresses to records of .eh_frame. Its bytes are checked before
// use: libunwind 1.6.2 aborts on an encoding that it does not know.

/// A checked header with a table that can be searched by halving.
struct FrameHeader: Sendable, Equatable {
  /// The module-relative address of the header, which the entries count from.
  var address: UInt64
  /// Where the first entry is in the file.
  var tableOffset: UInt64
  var count: UInt64

  /// Two signed words of 4 bytes: a function's start and its record, as all linkers write.
  private static let entrySize: UInt64 = 8

  /// - Returns: nil for another version, unusual encodings, or a table that is not all there.
  init?(_ file: ModuleFile, _ extent: ELFLayout.Table) {
    guard let bytes = file.read(at: extent.offset, count: Int(min(extent.size, 32))) else {
      return nil
    }
    var header = ByteCursor(bytes, base: extent.address)
    guard header.byte() == 1, let pointerEncoding = header.byte(),
      let countEncoding = header.byte(), header.byte() == 0x3b,
      header.pointer(encoding: pointerEncoding, dataBase: extent.address) != nil,
      let count = header.pointer(encoding: countEncoding, dataBase: extent.address),
      count > 0, count <= (extent.size - UInt64(header.position)) / Self.entrySize
    else { return nil }
    address = extent.address
    tableOffset = extent.offset + UInt64(header.position)
    self.count = count
  }

  /// The module-relative address of the record of the function that may hold the address: the last
  /// that does not start behind it. Whether it holds it, the record says.
  func record(for target: UInt64, in file: ModuleFile) -> UInt64? {
    var low: UInt64 = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      guard let start = entry(middle, 0, file) else { return nil }
      if start <= target { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : entry(low - 1, 4, file)
  }

  private func entry(_ index: UInt64, _ part: UInt64, _ file: ModuleFile) -> UInt64? {
    guard let raw = file.number(at: tableOffset + index * Self.entrySize + part, size: 4) else {
      return nil
    }
    return address &+ UInt64(bitPattern: Int64(Int32(bitPattern: UInt32(raw))))
  }
}

/// Where functions' records are, for a table without a header: made once by reading all of it.
struct FrameIndex {
  private var entries: [(start: UInt64, place: UInt64)] = []
  /// 16 MiB at most (chosen); the functions behind are not found, and their stacks say so.
  private static let limit = 1 << 20

  init(_ table: CallFrameTable, commons: inout [UInt64: CallFrameTable.Common]) {
    var place: UInt64 = 0
    while entries.count < Self.limit, let raw = table.raw(at: place) {
      if let function = table.function(raw, commons: &commons), function.size > 0 {
        entries.append((function.start, place))
      }
      place = raw.next
    }
    entries.sort { $0.start < $1.start }
  }

  /// The place of the record of the function that may hold the address.
  func record(for target: UInt64) -> UInt64? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].start <= target { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : entries[low - 1].place
  }
}
