internal import Testing

@testable import ProbeCore

@Suite struct UnwindTablesTests {
  @Test func `a row holds from its instruction to the next`() throws {
    let tables = try #require(UnwindTables(ELFBuilder().file))
    let rules = [0, 1, 3, 4, 0x3f].map { tables.row(for: 0x40_1000 + $0)?.frameAddress }
    #expect(
      rules == [
        .register(7, 8), .register(7, 16), .register(7, 16), .register(6, 16), .register(6, 16),
      ])
    let row = try #require(tables.row(for: 0x40_1010))
    #expect(
      row.saved == [
        FrameRow.Saved(register: 6, rule: .offset(-16)),
        FrameRow.Saved(register: 16, rule: .offset(-8)),
      ])
    #expect(row.source == .cfi && row.returnRegister == 16)
  }

  @Test func `an address that no function holds has no row`() throws {
    let tables = try #require(UnwindTables(ELFBuilder().file))
    #expect(tables.row(for: 0x40_0fff) == nil)
    #expect(tables.row(for: 0x40_1040) == nil)
    #expect(tables.row(for: 0) == nil)
    #expect(tables.row(for: .max) == nil)
  }

  @Test func `a state is remembered and restored with its frame address`() throws {
    // remember; CFA = rsp + 64; advance 8; restore
    let builder = ELFBuilder(instructions: [0x0a, 0x0e, 64, 0x48, 0x0b])
    let tables = try #require(UnwindTables(builder.file))
    #expect(tables.row(for: 0x40_1000)?.frameAddress == .register(7, 64))
    #expect(tables.row(for: 0x40_1008)?.frameAddress == .register(7, 8))
  }

  @Test func `a header with other bytes than linkers write is not used`() throws {
    let wrong = [
      ELFBuilder(headerVersion: 2), ELFBuilder(encodings: [0x1b, 0x03, 0x3c]),
      ELFBuilder(encodings: [0x1b, 0x03, 0xff]), ELFBuilder(encodings: [0xff, 0x03, 0x3b]),
      ELFBuilder(encodings: [0x1b, 0x0f, 0x3b]), ELFBuilder(count: 0), ELFBuilder(count: 2),
      ELFBuilder(count: 0xffff_ffff),
    ]
    for builder in wrong {
      let file = builder.file
      let layout = try #require(ELFLayout(file))
      #expect(FrameHeader(file, try #require(layout.frameHeader)) == nil)
      #expect(UnwindTables(file)?.row(for: 0x40_1000) == nil)
    }
  }

  @Test func `instructions that are not valid give no row`() throws {
    let wrong: [[UInt8]] = [
      [0x3f], [0x0b], [0x0f, 200, 1], [0x0c, 40, 0],
      Array(repeating: 0x0a, count: 100), [0x10, 6, 0xff, 0xff, 0xff, 0xff, 0x7f],
      [0x0f, 1, 0x30, 0x0e, 8],
    ]
    for instructions in wrong {
      let tables = try #require(UnwindTables(ELFBuilder(instructions: instructions).file))
      #expect(tables.row(for: 0x40_103f) == nil, "\(instructions)")
    }
  }

  @Test func `a signal's frame is one by its augmentation`() throws {
    // 'zRS' moves all behind it by a byte; there is room before the padding.
    let tables = try #require(UnwindTables(ELFBuilder(augmentation: "zRS").file))
    #expect(tables.row(for: 0x40_1000)?.isSignalFrame == true)
  }

  @Test func `cut at any length, a file gives rows that are right or none`() throws {
    let bytes = ELFBuilder().bytes
    let whole = UnwindTables(ELFBuilder().file)?.row(for: 0x40_1010)
    for length in 0..<0x200 {
      let file = ModuleFile(memory: Array(bytes[..<length]), number: 1)
      let row = UnwindTables(file)?.row(for: 0x40_1010)
      #expect(row == nil || row == whole)
    }
  }

  @Test func `what is no 64-bit little-endian ELF file has no tables`() {
    for (index, byte) in [(0, 0x7e), (4, 1), (5, 2)] as [(Int, UInt8)] {
      var bytes = ELFBuilder().bytes
      bytes[index] = byte
      #expect(UnwindTables(ModuleFile(memory: bytes, number: 1)) == nil)
    }
    #expect(UnwindTables(ModuleFile(memory: [], number: 1)) == nil)
  }
}

@Suite struct LoadBiasTests {
  /// As lld lays out: each segment's address is a page more ahead of its offset.
  private func layout() throws -> ELFLayout {
    var layout = try #require(ELFLayout(ELFBuilder().file))
    layout.loads = [
      .init(offset: 0, address: 0, fileSize: 0x7a0, isExecutable: false),
      .init(offset: 0x7a0, address: 0x17a0, fileSize: 0x900, isExecutable: true),
      .init(offset: 0x10a0, address: 0x30a0, fileSize: 0x100, isExecutable: false),
    ]
    return layout
  }

  @Test func `the bias is that of the segment that holds the mapping's offset`() throws {
    let layout = try layout()
    // Code is mapped from page 0 of the file on, at address 0x1000 of the module.
    #expect(
      layout.bias(start: 0x5000_1000, offset: 0, isExecutable: true, pageSize: 4096) == 0x5000_0000)
    #expect(
      layout.bias(start: 0x5000_0000, offset: 0, isExecutable: false, pageSize: 4096)
        == 0x5000_0000)
    #expect(
      layout.bias(start: 0x5000_3000, offset: 0x1000, isExecutable: false, pageSize: 4096)
        == 0x5000_0000)
  }

  @Test func `an offset that no segment holds has no bias`() throws {
    #expect(
      try layout().bias(start: 0x5000_0000, offset: 0x9000, isExecutable: true, pageSize: 4096)
        == nil)
  }
}
