import Testing

@testable import ProbeCore

@Suite struct XTests {
  @Test func `numbers come back`() throws {
    var out = ByteWriter()
    for value: Int64 in [0, 1, -1, 127, -128, .max, .min] { out.put(value) }
    var reader = ByteReader(out.bytes)
    for value: Int64 in [0, 1, -1, 127, -128, .max, .min] { #expect(try reader.signed() == value) }
  }
}
