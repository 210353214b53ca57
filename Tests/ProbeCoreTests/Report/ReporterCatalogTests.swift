import FoundationEssentials
import Testing

@testable import ProbeCore

@Suite struct ReporterCatalogTests {
  @Test(arguments: Samples.all.map(\.name))
  func `the JSON of a sample reads back as an equal summary`(name: String) throws {
    var summary = try #require(Samples.all.first { $0.name == name }).summary
    let reporter = try #require(ReporterCatalog.named("json"))
    let bytes = try reporter.render(summary)
    let back = try JSONDecoder().decode(Summary.self, from: Data(bytes))
    // A decoder gives an object's keys in no order, so Metrics sorts them on reading.
    summary.metrics = Metrics(summary.metrics.entries.sorted { $0.key < $1.key })
    #expect(back == summary)
  }

  @Test func `the JSON has the keys of the schema in its order`() throws {
    let text = String(
      decoding: try #require(ReporterCatalog.named("json")).render(Samples.plain), as: UTF8.self)
    let keys = [
      "schema", "perfwatch", "target", "host", "run", "exit", "metrics", "cpu", "memory", "threads",
      "descriptors", "tree", "loops", "waits", "stalls", "stallsOmitted", "stallTotals", "groups",
      "series",
      "observer", "warnings", "verdict", "repeats",
    ]
    let found = text.split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("  \""), !line.hasPrefix("   ") else { return nil }
      return String(line.dropFirst(3).prefix { $0 != "\"" })
    }
    #expect(found == keys)
  }

  @Test func `a number that JSON cannot hold is an error and no file`() throws {
    var summary = Samples.plain
    summary.cpu.averagePercent = .nan
    let reporter = try #require(ReporterCatalog.named("json"))
    #expect(throws: ReportError.self) { try reporter.render(summary) }
  }

  @Test func `names are unique and the text one is the report for files`() throws {
    #expect(Set(ReporterCatalog.all.map(\.name)).count == ReporterCatalog.all.count)
    let text = try #require(ReporterCatalog.named("text")).render(Samples.tree)
    #expect(String(decoding: text, as: UTF8.self) == TextReport.render(Samples.tree, style: .file))
    #expect(ReporterCatalog.named("pdf") == nil)
  }
}
