// One symbol table of a file (.symtab or .dynsym), searched without being kept: the entries are read
// in pieces and compared with the wanted addresses. Measured: see Docs/symbols.md.

/// A function as a symbol table has it.
struct Symbol: Equatable, Sendable {
  /// As in the file, still mangled.
  var name: [UInt8]
  /// File-relative, as the table has it.
  var start: UInt64
  /// 0 where the table has none (assembly): then it reaches to the next symbol.
  var size: UInt64
}

/// An entry without its name.
struct SymbolEntry: Equatable, Sendable {
  var name: UInt32
  var start: UInt64
  var size: UInt64
  /// Higher is better at the same address and size; see `SymbolTable.rank`.
  var rank: UInt8
  var section: UInt16

  /// Whether this one is the better name for an address that both are candidates for: the nearer one,
  /// then the larger one (sized over unsized), then by rank. false where they tie.
  func isBetter(than other: SymbolEntry) -> Bool {
    if start != other.start { return start > other.start }
    if size != other.size { return size > other.size }
    return rank > other.rank
  }

  func ties(with other: SymbolEntry) -> Bool {
    start == other.start && size == other.size && rank == other.rank
  }

  func contains(_ address: UInt64) -> Bool { address >= start && address - start < size }
}

/// A symbol table in a file.
struct SymbolTable: Sendable {
  private let file: SymbolFile
  private let offset: UInt64
  /// Entries in the table; those beyond `countLimit` are not looked at.
  let count: Int
  private let names: ELFImage.Section
  /// By section index: whether code is in it, and where it ends.
  private let sections: [ELFImage.Section]
  private let isARM: Bool

  /// 10 million entries, 240 MB: ten times what the largest program here has (chosen).
  static let countLimit = 10_000_000
  /// Names are cut here; longer ones stay mangled (chosen).
  static let nameLimit = 16 << 10
  /// Names of the same code that are compared to choose one.
  private static let aliasLimit = 16
  /// Entries for addresses that are compared in one search: what honest tables need thousand times
  /// over; entries that all cover everything would take minutes else.
  private static let stepLimit = 10_000_000
  /// Entries read at once: 192 KiB, which stays in the second-level cache.
  private static let chunk = 8192

  /// - Parameter type: SHT_SYMTAB is 2, SHT_DYNSYM is 11.
  /// - Returns: nil if there is no such table, or its bytes are not in the file.
  init?(_ image: ELFImage, type: UInt32) {
    guard
      let section = image.sections.first(where: {
        $0.type == type && $0.entrySize == 24 && $0.hasPlainBytes
      }), image.sections.indices.contains(section.link), section.offset < UInt64(image.file.size)
    else { return nil }
    let names = image.sections[section.link]
    guard names.type == 3, names.hasPlainBytes else { return nil }
    self.names = names
    file = image.file
    offset = section.offset
    let size = min(section.size, UInt64(image.file.size) - section.offset)
    count = min(Int(size / 24), Self.countLimit)
    sections = image.sections
    isARM = image.machine == 183
  }

  /// The best symbol for each address; nil where none covers it.
  ///
  /// - Parameter addresses: sorted, without repetition.
  func find(_ addresses: [UInt64]) -> [Symbol?] {
    guard let lowest = addresses.first, let highest = addresses.last else { return [] }
    var sized = [Best](repeating: Best(), count: addresses.count)
    var nearest = sized
    var steps = 0
    forEachEntry { entry in
      // Most entries are for none of the addresses, and this tells so.
      if entry.start > highest { return }
      let end = entry.start + entry.size
      if end <= lowest, entry.start < nearest[0].start { return }
      var index = end <= lowest ? 0 : Self.firstIndex(addresses, notBelow: entry.start)
      // `highest` is not below it, so there is one. What has no size is bounded by its neighbours.
      nearest[index].offer(entry)
      while index < addresses.count, addresses[index] < end, steps < Self.stepLimit {
        sized[index].offer(entry)
        index += 1
        steps += 1
      }
    }
    // What is nearest to an address is so for those behind it until something nearer comes.
    for index in addresses.indices.dropFirst() {
      guard let before = nearest[index - 1].entry else { continue }
      if nearest[index].entry.map({ $0.start < before.start }) ?? true {
        nearest[index] = nearest[index - 1]
      }
    }
    return addresses.indices.map { index in
      if sized[index].entry != nil { return symbol(sized[index]) }
      guard let entry = nearest[index].entry, entry.size == 0,
        isInSection(entry, addresses[index])
      else { return nil }
      return symbol(nearest[index])
    }
  }

  /// The best entry so far, and others that are as good.
  struct Best {
    var entry: SymbolEntry?
    var aliases: [UInt32] = []
    /// Of the entry; 0 before there is one.
    var start: UInt64 = 0

    mutating func offer(_ other: SymbolEntry) {
      guard let own = entry else {
        entry = other
        start = other.start
        return
      }
      if other.isBetter(than: own) {
        entry = other
        start = other.start
        aliases.removeAll(keepingCapacity: true)
      } else if other.ties(with: own), aliases.count < SymbolTable.aliasLimit {
        aliases.append(other.name)
      }
    }
  }

  /// All entries that can name code, in the table's order.
  func forEachEntry(_ body: (SymbolEntry) -> Void) {
    var words = [UInt64](repeating: 0, count: Self.chunk * 3)
    var done = 0
    while done < count {
      let got = min(file.readWords(at: offset + UInt64(done) * 24, into: &words) / 3, count - done)
      if got == 0 { return }
      for index in 0..<got {
        let head = words[index * 3]
        if let entry = entry(head, words[index * 3 + 1], words[index * 3 + 2]) { body(entry) }
      }
      done += got
    }
  }

  /// NOTYPE, FUNC and GNU_IFUNC that are defined in a section with code.
  @inline(__always)
  private func entry(_ head: UInt64, _ start: UInt64, _ size: UInt64) -> SymbolEntry? {
    let info = UInt8(truncatingIfNeeded: head >> 32)
    let type = info & 15
    guard type == 0 || type == 2 || type == 10 else { return nil }
    // Mapping symbols of the assembler ($x, $d) say what bytes are, not whose.
    if isARM, type == 0, info >> 4 == 0, size == 0 { return nil }
    let section = UInt16(truncatingIfNeeded: head >> 48)
    guard section != 0, Int(section) < sections.count, sections[Int(section)].isExecutable,
      UInt32(truncatingIfNeeded: head) != 0
    else { return nil }
    // Global, weak and unique are one: of `read` and `__libc_read` the weak one is what people call.
    let binding: UInt8 = info >> 4 == 0 ? 0 : 1
    return SymbolEntry(
      name: UInt32(truncatingIfNeeded: head), start: start,
      size: size > .max - start ? 0 : size, rank: (type == 0 ? 0 : 4) + binding, section: section)
  }

  private func isInSection(_ entry: SymbolEntry, _ address: UInt64) -> Bool {
    sections[Int(entry.section)].contains(address)
  }

  private static func firstIndex(_ addresses: [UInt64], notBelow value: UInt64) -> Int {
    var low = 0
    var high = addresses.count
    while low < high {
      let middle = (low + high) / 2
      if addresses[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The name that stands for all that tie: fewest leading underscores, then the shortest, then the
  /// first of the alphabet; so it does not depend on the order in the table.
  func symbol(_ best: Best) -> Symbol? {
    guard let entry = best.entry else { return nil }
    let all = ([entry.name] + best.aliases).map { name($0) }.filter { !$0.isEmpty }
    func key(_ name: [UInt8]) -> (Int, Int) {
      (name.prefix { $0 == UInt8(ascii: "_") }.count, name.count)
    }
    let chosen = all.min { left, right in
      key(left) != key(right) ? key(left) < key(right) : left.lexicographicallyPrecedes(right)
    }
    return chosen.map { Symbol(name: $0, start: entry.start, size: entry.size) }
  }

  /// The name at this place of the string table; empty where there is none, and for local labels (.L).
  func name(_ index: UInt32) -> [UInt8] {
    guard UInt64(index) < names.size, let at = names.offset.adding(UInt64(index)) else { return [] }
    let room = Int(min(names.size - UInt64(index), UInt64(Self.nameLimit)))
    var bytes = file.read(at: at, count: min(room, 256))
    if !bytes.contains(0), room > 256 { bytes = file.read(at: at, count: room) }
    let name = Array(bytes.prefix { $0 != 0 })
    if name.starts(with: [0x2e, 0x4c]) { return [] }
    return name
  }

  /// The entry with this number in the table, with its name; for relocations of the PLT.
  func name(ofEntry index: Int) -> [UInt8] {
    var words: [UInt64] = [0, 0, 0]
    guard index > 0, index < count,
      file.readWords(at: offset + UInt64(index) * 24, into: &words) == 3
    else { return [] }
    return name(UInt32(truncatingIfNeeded: words[0]))
  }
}

extension UInt64 {
  /// nil where the sum does not fit.
  func adding(_ other: UInt64) -> UInt64? {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? nil : sum
  }
}
