import Testing

@testable import ProbeCore

@Suite struct LiveViewTests {
  static var busy: LiveSnapshot {
    var snapshot = LiveSnapshot()
    snapshot.title = "redis-server (pid 4711)"
    snapshot.elapsed = .seconds(92)
    snapshot.cpuPercentNow = 83.14
    snapshot.cpuAverage = 61.2
    snapshot.hottest = [
      .init(name: "io_thd_1", tid: 4712, percent: 61.04),
      .init(name: "redis-server", tid: 4711, percent: 20.1),
      .init(name: "bio_aof", tid: 4713, percent: 2),
    ]
    snapshot.footprint = 47_290_777
    snapshot.footprintPeak = 48_234_496
    snapshot.footprintHistory = [30, 32, 33, 36, 40, 44, 45].map { Samples.mebibyte * $0 }
    snapshot.footprintHistory[2] = nil
    snapshot.threadCount = 12
    snapshot.processCount = 3
    snapshot.lastNotices = ["most of the CPU was burnt by child processes: 9 s of 10 s"]
    snapshot.capabilities = "proc, perf"
    snapshot.lateTicks = 2
    return snapshot
  }

  static var hostile: LiveSnapshot {
    var snapshot = busy
    snapshot.title = "\u{1b}]0;x\u{7}漢字\u{202e}" + String(repeating: "漢", count: 200)
    snapshot.state = "st\u{1b}opped"
    snapshot.hottest = [
      .init(name: "\u{1b}[2J\n\r\u{9b}31m", tid: 1, percent: .infinity),
      .init(name: "e\u{301}🚀👩‍💻", tid: 2, percent: -1), .init(name: "", tid: 3, percent: .nan),
    ]
    snapshot.footprintHistory = [0, .max, nil]
    snapshot.footprint = .max
    snapshot.lastNotices = ["a\tb\u{0}", "\u{2028}"]
    return snapshot
  }

  @Test func `the block is the golden one`() throws {
    var text = ""
    for (columns, rows) in [(80, 24), (60, 24), (80, 3), (30, 10), (1, 1)] {
      for unicode in [true, false] {
        text += "-- \(columns)x\(rows)\(unicode ? "" : " ASCII")\n"
        let style = TextStyle(color: false, unicode: unicode, width: columns)
        for line in LiveBlock.render(Self.busy, size: (columns, rows), style: style) {
          text += line + "\n"
        }
      }
    }
    try Golden.expect(text, equals: "live-block.txt")
  }

  @Test func `at no size does the block exceed it or pass on a control character`() {
    for snapshot in [Self.busy, Self.hostile, LiveSnapshot()] {
      for columns in [-1, 0, 1, 2, 3, 5, 10, 11, 20, 33, 42, 43, 80, 81, 300] {
        for rows in [0, 1, 2, 4, 50] {
          for unicode in [true, false] {
            let style = TextStyle(color: false, unicode: unicode, width: columns)
            let lines = LiveBlock.render(snapshot, size: (columns, rows), style: style)
            #expect(!lines.isEmpty && lines.count <= max(1, rows))
            for line in lines {
              #expect(DisplayText.width(line) <= max(1, columns), "\(columns): \(line)")
              #expect(
                !line.unicodeScalars.contains {
                  $0.value < 0x20 || (0x7f...0x9f).contains($0.value)
                })
              #expect(unicode || line.utf8.allSatisfy { $0 < 0x80 })
            }
            let colored = LiveBlock.render(
              snapshot, size: (columns, rows),
              style: .init(color: true, unicode: unicode, width: columns))
            #expect(colored.map(LiveBlock.visibleWidth) == lines.map(DisplayText.width))
          }
        }
      }
    }
  }

  @Test func `the most important lines stay when there are few rows`() {
    let style = TextStyle(color: false, unicode: true, width: 80)
    let lines = LiveBlock.render(Self.busy, size: (80, 2), style: style)
    #expect(lines[0].hasPrefix("perfwatch"))
    #expect(lines[1].hasPrefix("cpu"))
  }

  @Test func `the first block moves nothing up and a later one goes over the old`() {
    #expect(LiveBlock.redraw(previousLineCount: 0, lines: ["a", "b"]) == "\r\u{1b}[Ja\r\nb")
    #expect(LiveBlock.redraw(previousLineCount: 1, lines: ["a"]) == "\r\u{1b}[Ja")
    #expect(LiveBlock.redraw(previousLineCount: 3, lines: ["a"]) == "\r\u{1b}[2A\u{1b}[Ja")
    #expect(LiveBlock.erase(lineCount: 2) == "\r\u{1b}[1A\u{1b}[J")
  }

  @Test func `after a narrowing resize the folded rows are counted`() {
    // 10 columns in 4: three rows; an empty line is one row.
    #expect(LiveBlock.rows(of: ["\u{1b}[1m0123456789\u{1b}[0m", ""], columns: 4) == 4)
    #expect(LiveBlock.rows(of: ["0123456789"], columns: 80) == 1)
    #expect(LiveBlock.rows(of: ["ab"], columns: 0) == 2)
  }

  @Test func `the plain line is short and leaves out what is not known`() {
    #expect(
      LiveLine.render(Self.busy)
        == "perfwatch: 1m 32s  cpu 83 %  footprint 45.1 MiB  threads 12  processes 3  hottest io_thd_1 61 %"
    )
    #expect(LiveLine.render(LiveSnapshot()) == "perfwatch: 0 s")
    var stopped = LiveSnapshot()
    stopped.state = "stopped"
    stopped.elapsed = .milliseconds(12_999)
    #expect(LiveLine.render(stopped) == "perfwatch: 12 s  stopped")
    #expect(
      !LiveLine.render(Self.hostile).unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9b }
    )
  }
}

@Suite struct SparklineTests {
  @Test func `bars span the range of the values`() {
    #expect(Sparkline.render([0, 7, 3.5, nil, 7], width: 9, isUnicode: true) == "▁█▅ █")
    #expect(Sparkline.render([0, 7, 3.5, nil, 7], width: 9, isUnicode: false) == "_#= #")
  }

  @Test func `a peak survives when columns are few`() {
    var values = [Double?](repeating: 0, count: 1000)
    values[499] = 1
    #expect(Sparkline.render(values, width: 4, isUnicode: true) == "▁█▁▁")
  }

  @Test func `noise of one percent stays flat`() {
    #expect(
      Sparkline.render([100, 99, 100, 99], width: 4, isUnicode: true).allSatisfy("▇█".contains))
  }

  @Test func `nothing odd traps`() {
    #expect(Sparkline.render([], width: 5, isUnicode: true) == "")
    #expect(Sparkline.render([1], width: 0, isUnicode: true) == "")
    #expect(Sparkline.render([nil, nil], width: 5, isUnicode: true) == "  ")
    #expect(Sparkline.render([0, 0], width: 5, isUnicode: true) == "▁▁")
    #expect(
      Sparkline.render([.nan, .infinity, -.infinity, 1], width: 5, isUnicode: true).count == 4)
    #expect(Sparkline.render([-1e308, 1e308], width: 5, isUnicode: true).count == 2)
  }
}

@Suite struct DisplayTextTests {
  @Test(
    arguments: [
      ("abc", 3), ("漢字", 4), ("e\u{301}", 1), ("🚀", 2), ("ｗ", 2), ("", 0), ("한", 2), ("é", 1),
      ("❤\u{fe0f}", 2),
    ])
  func `width is counted in columns`(text: String, width: Int) {
    #expect(DisplayText.width(text) == width)
  }

  @Test func `a cut keeps within the width and never splits a wide character`() {
    #expect(DisplayText.cut("漢字漢字", to: 4, isUnicode: true) == "漢…")
    #expect(DisplayText.cut("abcdefghij", to: 9, isUnicode: false) == "abcdef...")
    #expect(DisplayText.cut("abc", to: 2, isUnicode: false) == "a~")
    #expect(DisplayText.cut("abc", to: 0, isUnicode: true) == "")
    #expect(DisplayText.cut("abc", to: 3, isUnicode: true) == "abc")
  }
}
