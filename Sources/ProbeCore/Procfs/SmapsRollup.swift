// Proportional memory: each page divided by how many processes share it. Read on demand only, as
// the kernel walks all page tables for it and holds up the target's mmap meanwhile (33 ms at 4
// GiB).

/// /proc/<pid>/smaps_rollup, in bytes. Empty or refused for kernel threads and zombies.
public struct SmapsRollup: Sendable, Equatable {
  public var resident: UInt64
  /// Pss, and its parts Pss_Anon, Pss_File, Pss_Shmem (nil before Linux 5.4).
  public var proportional: UInt64
  public var proportionalAnonymous: UInt64?
  public var proportionalFile: UInt64?
  public var proportionalShared: UInt64?
  /// Private_Clean + Private_Dirty: what would be free if the process went away.
  public var unique: UInt64
  /// LazyFree: given back by madvise(MADV_FREE) but still counted as resident.
  public var lazilyFreed: UInt64?
  /// Swap, and SwapPss.
  public var swap: UInt64?
  public var proportionalSwap: UInt64?

  /// - Throws: where a line has no valid size, the last line is cut, or Rss, Pss or Private_* are
  ///   missing.
  public init(_ bytes: Span<UInt8>) throws(ProcParseError) {
    var found: [(name: String, size: UInt64?)] = [
      ("Rss", nil), ("Pss", nil), ("Private_Clean", nil), ("Private_Dirty", nil),
      ("Pss_Anon", nil), ("Pss_File", nil), ("Pss_Shmem", nil), ("LazyFree", nil), ("Swap", nil),
      ("SwapPss", nil),
    ]
    var scanner = ByteScanner(file: "smaps_rollup")
    while !scanner.isAtEnd(bytes) {
      let key = scanner.key(bytes)
      if let index = found.firstIndex(where: { bytes.equals($0.name, in: key) }) {
        found[index].size = try scanner.kilobytes(bytes, found[index].name)
      }
      try scanner.finishLine(bytes)
    }
    func required(_ index: Int) throws(ProcParseError) -> UInt64 {
      if let size = found[index].size { return size }
      throw scanner.failure(bytes, found[index].name)
    }
    resident = try required(0)
    proportional = try required(1)
    // Both are below 2^60 (see ByteScanner.kilobytes).
    unique = try required(2) + required(3)
    proportionalAnonymous = found[4].size
    proportionalFile = found[5].size
    proportionalShared = found[6].size
    lazilyFreed = found[7].size
    swap = found[8].size
    proportionalSwap = found[9].size
  }
}
