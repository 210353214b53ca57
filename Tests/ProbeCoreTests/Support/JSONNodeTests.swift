import FoundationEssentials
import Testing

@testable import ProbeCore

@Suite struct JSONNodeTests {
  private func read(_ text: String, _ dialect: JSONReader.Dialect = .json) throws -> JSONNode {
    try JSONReader.read(Array(text.utf8), as: dialect)
  }

  private func why(_ text: String, _ dialect: JSONReader.Dialect = .json) -> String {
    do {
      _ = try JSONReader.read(Array(text.utf8), as: dialect)
      return "taken"
    } catch {
      return error.message
    }
  }

  @Test func `values are what they are in JSON`() throws {
    let node = try read(#"{"a": [1, -2.5e3, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}}"#)
    let list = try #require(node["a"]?.elements)
    #expect(list.map(\.double) == [1, -2500, nil, nil, nil])
    #expect(list[2].bool == true)
    #expect(list[3].value == .null)
    #expect(list[4].text == "x\n\u{e9}\u{1f600}")
    #expect(node["b"]?.members?.isEmpty == true)
    #expect(node["c"] == nil)
  }

  @Test func `JSON5 has comments, trailing commas, single quotes and bare keys`() throws {
    let text = """
      // one
      {a: 'it"s', /* two
      lines */ "b": [1, 2,],}
      """
    let node = try read(text, .json5)
    #expect(node["a"]?.text == "it\"s")
    #expect(node["b"]?.elements?.count == 2)
    #expect(node["b"]?.line == 3)
    for part in ["{a: 1}", "[1,]", "['x']", "/* */ 1"] {
      #expect(throws: JSONError.self, "\(part)") { try read(part) }
    }
  }

  @Test(
    arguments: [
      ("", "line 1: the file ends"), ("{\n\"a\" 1}", "line 2: '1' stands where ':'"),
      ("{\"a\":1\n\n\"b\":2}", "line 3: '\"' stands where ',' or '}'"),
      ("[1 2]", "where ',' or ']'"), ("[", "the file ends"), ("nul", "'nul' is no value"),
      ("01x", "no value"), ("+1", "no value"), (".5", "no value"), ("0x10", "no value"),
      ("\"a", "does not end"), ("\"a\nb\"", "does not end in its line"), ("\"\\q\"", "no escape"),
      ("\"\\u12\"", "four hexadecimal"), ("{} {}", "something follows"), ("Infinity", "no value"),
      ("1e999", "no value"), ("\u{1b}", "odd character"),
    ])
  func `an error says the line and what is wrong`(text: String, hint: String) {
    #expect(why(text).contains(hint), "\(why(text))")
  }

  @Test func `deep nesting is refused and not fatal`() {
    #expect(why(String(repeating: "[", count: 200_000)).contains("too deep"))
  }

  @Test func `no prefix and no changed byte of a summary traps`() throws {
    let bytes = try OrderedJSONEncoder(isIndented: false).encode(SampleSummary.full)
    for length in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: SummaryReadError.self) {
        try SummaryReader.read(Array(bytes.prefix(length)))
      }
    }
    for place in stride(from: 0, to: bytes.count, by: 5) {
      var damaged = bytes
      damaged[place] = UInt8(truncatingIfNeeded: place &* 31)
      _ = try? SummaryReader.read(damaged)  // read or refused, but not fatal
    }
  }

  @Test func `summaries read back as they were`() throws {
    for summary in [SampleSummary.full, SampleSummary.sparse, SampleSummary.empty, Samples.hostile]
    {
      var expected = summary
      expected.metrics = Metrics(summary.metrics.entries.sorted { $0.key < $1.key })
      #expect(try SummaryReader.read(OrderedJSONEncoder().encode(summary)) == expected)
    }
  }

  @Test func `a file that is no summary is refused in one line that says why`() throws {
    func why(_ text: String) -> String {
      do throws(SummaryReadError) {
        _ = try SummaryReader.read(Array(text.utf8))
        return "taken"
      } catch {
        return error.message
      }
    }
    #expect(why("hello").contains("no JSON: line 1"))
    #expect(why("{}").contains("no schema"))
    #expect(why("{\"schema\":\"perfwatch.summary/2\"}").contains("perfwatch.summary/2"))
    #expect(why("{\"schema\":\"\\u001b[2J\"}").contains("\\x1b"))
    #expect(why("{\"schema\":\"perfwatch.summary/1\"}").contains("perfwatch: it is missing"))
    let text = String(
      decoding: try OrderedJSONEncoder().encode(SampleSummary.full), as: UTF8.self)
    let wrong = text.replacing("\"tid\": 42", with: "\"tid\": \"x\"")
    #expect(why(wrong).contains("cpu.byThread[0].tid: a whole number is expected, and it is text"))
    let odd = text.replacing("\"endedBy\": \"exit\"", with: "\"endedBy\": \"odd\"")
    #expect(why(odd).contains("run.endedBy"))
  }
}
