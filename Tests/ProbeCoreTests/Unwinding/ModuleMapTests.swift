internal import Testing

@testable import ProbeCore

@Suite struct ModuleMapTests {
  static let text = """
    00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/app
    00651000-00652000 rw-p 00051000 08:02 173521      /usr/bin/app
    00e03000-00e24000 rw-p 00000000 00:00 0           [heap]
    7f0000000000-7f0000001000 rwxp 00000000 00:00 0
    7f0000001000-7f0000002000 rwxp 00000000 00:00 0           [anon:v8]
    7f0000002000-7f0000003000 r-xs 00000000 00:01 1027        /memfd:jit (deleted)
    7f0000003000-7f0000004000 r-xp 00000000 08:02 99          /tmp/a b (deleted)
    7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0           [stack]
    7ffe00022000-7ffe00024000 r-xp 00000000 00:00 0           [vdso]

    """

  private func map(_ text: String) throws -> ModuleMap { try ModuleMap(Array(text.utf8).span) }

  @Test func `an address belongs to the mapping that holds it, ends not included`() throws {
    let map = try map(Self.text)
    #expect(map.mappings.count == 9)
    #expect(map.index(of: 0x40_0000) == 0)
    #expect(map.index(of: 0x45_1fff) == 0)
    #expect(map.index(of: 0x45_2000) == nil)
    #expect(map.index(of: 0x3f_ffff) == nil)
    #expect(map.index(of: 0x7f00_0000_1000) == 4)
    #expect(map.index(of: .max) == nil)
  }

  @Test func `mappings of one file share a module`() throws {
    let map = try map(Self.text)
    #expect(map.mappings[0].module == map.mappings[1].module)
    #expect(map.mappings[0].isExecutable && !map.mappings[1].isExecutable)
  }

  @Test func `memory without a name in a file system is no file`() throws {
    let map = try map(Self.text)
    let kinds = map.mappings.map { map.modules[Int($0.module)].kind }
    #expect(
      kinds == [
        .file, .file, .anonymous, .anonymous, .anonymous, .anonymous, .file, .special, .vdso,
      ])
    #expect(map.modules[Int(map.mappings[6].module)].path == Array("/tmp/a b".utf8))
  }

  @Test func `a line out of order is left out, so that halving stays right`() throws {
    let map = try map(
      "2000-4000 r-xp 0 08:02 1 /a\n3000-5000 r-xp 0 08:02 2 /b\n5000-6000 r-xp 0 08:02 3 /c\n")
    #expect(map.mappings.map(\.start) == [0x2000, 0x5000])
    #expect(map.index(of: 0x4800) == nil)
  }

  @Test func `code is the same if only data has changed`() throws {
    let before = try map(Self.text)
    let heapGrew = try map(Self.text.replacing("00e24000", with: "00e44000"))
    #expect(before != heapGrew)
    #expect(before.hasSameCode(as: heapGrew))
    #expect(!before.hasSameCode(as: try map(Self.text.replacing("08:02 99 ", with: "08:02 98 "))))
    #expect(!before.hasSameCode(as: ModuleMap()))
  }

  @Test func `a cut map is refused, at every length`() {
    let bytes = Array(Self.text.utf8)
    for length in 0..<bytes.count where bytes[..<length].last != UInt8(ascii: "\n") && length > 0 {
      #expect(throws: ProcParseError.self) { try ModuleMap(Array(bytes[..<length]).span) }
    }
  }
}
