import Testing

@testable import ProbeCore

@Suite struct TextReportTests {
  static let styles: [(suffix: String, style: TextStyle)] = [
    ("80", TextStyle(color: false, unicode: true, width: 80)),
    ("120-color", TextStyle(color: true, unicode: true, width: 120)),
    ("60-ascii", TextStyle(color: false, unicode: false, width: 60)),
  ]

  @Test(arguments: Samples.all.map(\.name))
  func `the report of a sample is the golden one in every style`(name: String) throws {
    let summary = try #require(Samples.all.first { $0.name == name }).summary
    for (suffix, style) in Self.styles {
      try Golden.expect(
        TextReport.render(summary, style: style), equals: "report-\(name)-\(suffix).txt")
    }
  }

  @Test(arguments: Samples.all.map(\.name))
  func `no line is wider than asked for and none ends in a blank`(name: String) throws {
    let summary = try #require(Samples.all.first { $0.name == name }).summary
    for width in [0, 1, 39, 40, 41, 57, 80, 133, 200] {
      for unicode in [true, false] {
        let style = TextStyle(color: false, unicode: unicode, width: width)
        for line in TextReport.render(summary, style: style).split(separator: "\n") {
          #expect(DisplayText.width(String(line)) <= max(40, width), "\(line)")
          #expect(line.last != " ", "\(line)|")
        }
      }
    }
  }

  @Test(arguments: Samples.all.map(\.name))
  func `nothing but printable characters and newlines comes out without colour`(name: String) throws
  {
    let summary = try #require(Samples.all.first { $0.name == name }).summary
    let wide = TextReport.render(summary, style: .init(color: false, unicode: true, width: 200))
    #expect(
      !wide.unicodeScalars.contains {
        $0 != "\n" && ($0.value < 0x20 || (0x7f...0x9f).contains($0.value))
      })
    #expect(!wide.unicodeScalars.contains("\u{202e}"))
    let ascii = TextReport.render(summary, style: .init(color: false, unicode: false, width: 200))
    #expect(ascii.utf8.allSatisfy { $0 == 10 || (0x20...0x7e).contains($0) })
  }

  @Test func `a name cannot start a line of its own`() {
    let text = TextReport.render(Samples.hostile, style: .file)
    #expect(!text.contains("\nperfwatch: all is well"))
    #expect(!text.contains("\nS 1 1"))
  }

  @Test func `colour adds control sequences and moves nothing`() {
    for (_, summary) in Samples.all {
      let plain = TextReport.render(summary, style: .init(color: false, unicode: true, width: 80))
      let colored = TextReport.render(summary, style: .init(color: true, unicode: true, width: 80))
      #expect(colored != plain)
      #expect(colored.replacing(/\u{1b}\[[0-9;]*m/, with: "") == plain)
    }
  }

  @Test(
    arguments: [
      (EndReason.exit, Int32?(0), Int32?.none, "exited with code 0 after 5.00 s"),
      (.exit, 7, nil, "exited with code 7 after 5.00 s"),
      (.exit, nil, 9, "was killed by SIGKILL (9) after 5.00 s"),
      (.exit, nil, 40, "was killed by signal 40 after 5.00 s"),
      (.exit, nil, nil, "ended after 5.00 s, exit status not known"),
      (.timeout, nil, 15, "ended by --timeout after 5.00 s; it was killed by SIGTERM (15)"),
      (.duration, nil, nil, "watched for 5.00 s; it goes on"),
      (.duration, 0, nil, "watched for 5.00 s; it exited with code 0"),
      (.interrupt, 21, nil, "interrupted after 5.00 s; it exited with code 21"),
      (.detach, nil, nil, "let go after 5.00 s; it goes on"),
    ])
  func `the second line says how it ended`(
    reason: EndReason, code: Int32?, signal: Int32?, expected: String
  ) {
    var summary = Samples.plain
    summary.run.duration = .seconds(5)
    summary.run.endedBy = reason
    summary.exit = .init(code: code, signal: signal, perfwatch: nil)
    let lines = TextReport.render(summary, style: .file).split(separator: "\n")
    #expect(lines[1] == expected)
  }

  @Test func `the crowd's rest is counted and added up`() {
    // Rows: 60 s down to 51 s. Rest: pool-10 ... pool-39, 50 s down to 21 s, sum 30 * 35.5 s = 1065
    // s.
    let text = TextReport.render(Samples.crowd, style: .file)
    #expect(text.contains("and 990 more threads: 17m 45s\n"))
  }
}
