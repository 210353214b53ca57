import FoundationEssentials
import Testing

@testable import ProbeCore

@Suite struct OrderedJSONTests {
  struct Sample: Codable, Equatable {
    var zebra = 1
    var apple: Int?
    var text = "a\"\\\n\u{1}\u{7f}é漢🚀"
    var numbers: [Double?] = [1, nil, 0.1, -0.5, 1e300, .leastNonzeroMagnitude]
    var big = UInt64.max
    var small = Int64.min
    var empty: [String] = []
    var nested = ["k": [1, 2]]
    var flag = true
  }

  private func text(_ value: some Encodable, isIndented: Bool = false) throws -> String {
    String(decoding: try OrderedJSONEncoder(isIndented: isIndented).encode(value), as: UTF8.self)
  }

  @Test func `keys keep their order and nil is null`() throws {
    #expect(try text(Sample()).hasPrefix("{\"zebra\":1,\"apple\":null,\"text\":"))
  }

  @Test func `what was written reads back equal`() throws {
    for isIndented in [true, false] {
      let bytes = try OrderedJSONEncoder(isIndented: isIndented).encode(Sample())
      #expect(try JSONDecoder().decode(Sample.self, from: Data(bytes)) == Sample())
    }
  }

  @Test func `control characters are escaped and the rest is UTF-8`() throws {
    #expect(
      try text(["\u{1}\u{1b}\u{9f}\n\t\"\\é"]) == "[\"\\u0001\\u001b\\u009f\\n\\t\\\"\\\\é\"]")
  }

  @Test func `lists of numbers stand on one line, others do not`() throws {
    #expect(try text([[1, 2]], isIndented: true) == "[\n  [1, 2]\n]\n")
    #expect(try text([String](), isIndented: true) == "[]\n")
    #expect(try text(["a"], isIndented: true) == "[\n  \"a\"\n]\n")
  }

  @Test func `whole doubles are written without a fraction`() throws {
    #expect(try text([1.0, -2, 1.5, 1e16]) == "[1,-2,1.5,1e+16]")
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `what JSON cannot hold throws`(value: Double) {
    #expect(throws: EncodingError.self) { try OrderedJSONEncoder().encode([value]) }
  }
}
