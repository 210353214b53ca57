internal import Testing

@testable import ProbeCore

struct NamedTextsTests {
  @Test func `a name has one text, the last that was set`() {
    var texts: NamedTexts = ["b": "1", "a": "2", "b": "3"]
    #expect(texts.entries.map(\.name) == ["b", "a"])
    #expect(texts["b"] == "3")
    texts["b"] = nil
    #expect(texts["b"] == nil)
    texts["never"] = nil
    #expect(texts == ["a": "2"])
  }

  @Test func `the order in which names were set makes no difference`() {
    let left: NamedTexts = ["a": "1", "b": "2"]
    #expect(left == ["b": "2", "a": "1"])
    #expect(left != ["a": "1"])
    #expect(left != ["a": "1", "b": "3"])
    #expect(left.sorted.map(\.text) == ["1", "2"])
  }
}
