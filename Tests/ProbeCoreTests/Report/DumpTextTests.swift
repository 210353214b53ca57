import Testing

@testable import ProbeCore

@Suite struct DumpTextTests {
  @Test func `the text of a dump is the golden one in every style`() throws {
    for (suffix, style) in TextReportTests.styles {
      try Golden.expect(
        DumpText.render(SampleDump.full, style: style, isCut: true), equals: "dump-\(suffix).txt")
    }
    try Golden.expect(
      DumpText.render(SampleDump.full, style: .file, isCut: false), equals: "dump-file.txt")
  }

  @Test func `a dump of nothing still says so`() {
    let text = DumpText.render(SampleDump.bare, style: .file, isCut: false)
    #expect(text.contains("no stack: not permitted"))
    #expect(text.contains("0 threads copied without a stop, none stopped"))
  }

  @Test func `nothing but printable characters comes out without colour, and ASCII if wanted`() {
    for unicode in [true, false] {
      let style = TextStyle(color: false, unicode: unicode, width: 100)
      let text = DumpText.render(SampleDump.full, style: style, isCut: false)
      for scalar in text.unicodeScalars where scalar != "\n" {
        #expect(SafeText.terminal(String(scalar)) == String(scalar))
        #expect(unicode || scalar.isASCII)
      }
    }
  }

  @Test func `a cut line keeps its offset, and its file name`() throws {
    let style = TextStyle(color: false, unicode: true, width: 80)
    let lines = DumpText.render(SampleDump.full, style: style, isCut: true).split(separator: "\n")
    let frames = lines.filter { $0.hasPrefix("  #") }
    // 6 of main, 5 of the recursion, 1, 3.
    #expect(frames.count == 15)
    #expect(frames.allSatisfy { DisplayText.width(String($0)) <= 80 })
    let line = try #require(lines.first { $0.contains("cache::") })
    #expect(line.hasSuffix("\u{2026}  cache.cpp:19"))
  }

  @Test func `main comes first, then who runs, then who cannot be interrupted`() throws {
    let text = DumpText.render(SampleDump.full, style: .file, isCut: false)
    let heads = text.split(separator: "\n").filter {
      $0.hasPrefix("thread ") || $0.contains("threads here")
    }
    let order = ["100 app", "102", "103", "104", "58 threads", "300"]
    #expect(heads.count == order.count)
    for (head, part) in zip(heads, order) { #expect(head.contains(part), "\(head)") }
  }
}

@Suite struct DumpPartsTests {
  @Test func `names that differ in their last digits are one`() {
    #expect(DumpNames.text(of: ["w-1", "w-2", "w-30"]) == "w-* x 3")
    #expect(DumpNames.text(of: ["python3", "python3"]) == "python3 x 2")
    #expect(DumpNames.text(of: ["a", "b1"]) == "a, b1")
    #expect(DumpNames.text(of: ["7", "8"]) == "* x 2")
    #expect(
      DumpNames.text(of: ["a", "b", "c", "d", "e", "f", "g", "h"])
        == "a, b, c, d, e, f, and 2 other names")
  }

  @Test func `neighbouring numbers are a range`() {
    #expect(DumpNames.ranges(of: [5, 3, 4, 9]) == "3-5, 9")
    #expect(DumpNames.ranges(of: [1, 3, 5, 7, 9, 11, 13]) == "1, 3, 5, 7, 9, 11, ...")
    #expect(DumpNames.ranges(of: [.max, .max - 1]) == "2147483646-2147483647")
  }

  private func wait(_ call: String, _ change: (inout DumpedThread.Wait) -> Void) -> String {
    var wait = DumpedThread.Wait(call: call)
    change(&wait)
    return DumpWaits.text([wait], wait, SampleDump.full, isUnicode: true)
  }

  @Test func `waits are told with what they wait for`() {
    #expect(wait("pause") { _ in } == "pause")
    #expect(
      wait("futex") {
        $0.address = "0x10"
        $0.owner = 100
      } == "futex, 0x10, held by thread 100 app")
    #expect(wait("futex") { $0.joins = 999 } == "futex, for the end of thread 999")
    #expect(wait("wait4") { $0.child = -1 } == "wait4, for any child")
    #expect(wait("wait4") { $0.child = 7 } == "wait4, for child 7")
    #expect(
      wait("clock_nanosleep") {
        $0.timeout = .milliseconds(1500)
        $0.isRest = true
      } == "clock_nanosleep, 1.50 s left")
    #expect(wait("select") { $0.moreDescriptors = 3 } == "select, 3 descriptors")
    #expect(
      wait("read") { $0.descriptors = [.init(number: 0, object: "/dev/pts/3")] }
        == "read, fd 0 /dev/pts/3")
  }

  @Test func `of different waits only the common part is told`() {
    var first = DumpedThread.Wait(call: "futex")
    first.address = "0x1"
    var second = first
    second.address = "0x2"
    second.owner = 102
    let text = DumpWaits.text([first, second], first, SampleDump.full, isUnicode: true)
    #expect(text == "futex, 2 different addresses, held by thread 102 ho\nlder")
  }

  private func frames(_ names: String) -> [Summary.Frame] {
    names.map {
      Summary.Frame(
        function: String($0), module: "m", offset: "0x1", found: .cfi, inApp: true)
    }
  }

  @Test func `a recursion is shown once, with how often it was`() {
    #expect(
      DumpRepeats.shorten(frames("xaaaaay")) == [
        .frame(0), .frame(1), .repeated(count: 1, times: 4, last: 5), .frame(6),
      ])
    #expect(
      DumpRepeats.shorten(frames("abcabcabcabcab")) == [
        .frame(0), .frame(1), .frame(2), .repeated(count: 3, times: 3, last: 11), .frame(12),
        .frame(13),
      ])
    #expect(DumpRepeats.shorten(frames("aaab")) == (0..<4).map { .frame($0) })
    #expect(DumpRepeats.shorten([]) == [])
  }

  @Test func `folded lines count threads, outermost frame first`() {
    var folded = DumpFolded()
    folded.add(SampleDump.full)
    folded.add(SampleDump.full)
    let lines = folded.render().split(separator: "\n").map(String.init)
    #expect(
      lines.contains(
        "app;_start;__libc_start_call_main;main;on_tick;"
          + "cache::update(std::map<std::string, std::vector<int>> const&);__lll_lock_wait 2"))
    #expect(lines.contains("worker-7;worker\\x1b[31m;[[anon] 0x7f0000001234];syscall 2"))
    #expect(lines.contains("net;[truncated];syscall 2"))
    #expect(lines == lines.sorted())
    // 1 + 1 + 58 + 1 threads have a stack; each name has lines of its own.
    #expect(lines.count == 61)
  }
}
