// Names for the procedure linkage table: its entries have no symbols, but each belongs to a relocation.

/// Names of PLT entries, `name@plt`.
struct PLTNames: Sendable {
  private let image: ELFImage
  private let entries: ELFImage.Section
  private let relocations: ELFImage.Section
  private let header: UInt64
  private let symbols: SymbolTable

  /// All of x86-64's and aarch64's usual ones.
  private static let entrySize = UInt64(16)

  /// - Parameter symbols: .dynsym, which the relocations name their functions by.
  init?(_ image: ELFImage, symbols: SymbolTable) {
    guard let relocations = image.section(".rela.plt"), relocations.type == 4,
      relocations.hasPlainBytes
    else { return nil }
    // With IBT the code to be called is in .plt.sec, which has no header entry.
    if let second = image.section(".plt.sec") {
      entries = second
      header = 0
    } else if let first = image.section(".plt") {
      entries = first
      header = image.machine == 183 ? 32 : 16
    } else {
      return nil
    }
    self.image = image
    self.relocations = relocations
    self.symbols = symbols
  }

  /// The entry at the address, with a name of its own.
  func find(_ address: UInt64) -> Symbol? {
    guard entries.contains(address), address - entries.address >= header else { return nil }
    let index = (address - entries.address - header) / Self.entrySize
    guard index < relocations.size / 24, let at = relocations.offset.adding(index * 24) else {
      return nil
    }
    let entry = image.file.read(at: at, count: 24)
    guard entry.count == 24 else { return nil }
    let name = symbols.name(ofEntry: Int(ELFImage.number(entry, 12, 4)))
    guard !name.isEmpty else { return nil }
    return Symbol(
      name: name + Array("@plt".utf8),
      start: entries.address + header + index * Self.entrySize, size: Self.entrySize)
  }
}
