@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

struct PerfMapTests {
  private func map(_ text: String, limit: Int = PerfMap.sizeLimit) -> PerfMap? {
    PerfMap(SymbolFile(memory: Array(text.utf8)), ownedBy: [], sizeLimit: limit)
  }

  private func name(_ text: String, _ address: UInt64, limit: Int = PerfMap.sizeLimit) -> String? {
    map(text, limit: limit)?.find([address])[address].map { SafeText.decode($0) }
  }

  @Test func `names are kept as they are written`() {
    let text = "7f00 10 LazyCompile:*foo /app/a b.js:12\n7f10 8 Builtin:X\n"
    #expect(name(text, 0x7f00) == "LazyCompile:*foo /app/a b.js:12")
    #expect(name(text, 0x7f0f) == "LazyCompile:*foo /app/a b.js:12")
    #expect(name(text, 0x7f10) == "Builtin:X")
    #expect(name(text, 0x7f18) == nil)
    #expect(name(text, 0x7eff) == nil)
    #expect(name("0x7f00 0x10 hex", 0x7f01) == "hex")
  }

  @Test func `the last entry for an address wins`() {
    #expect(name("100 10 old\n100 10 new\n", 0x105) == "new")
    #expect(name("100 10 old\n108 10 new\n", 0x105) == "old")
  }

  @Test(arguments: [
    "", "\n", "zz", "100", "100 ", "100 10", "100 10 ", " 100 10 a", "g 10 a",
    "11112222333344445 1 a",
    "100 11112222333344445 a", "100  10 a", "0x 10 a",
  ])
  func `what is no line has no name`(text: String) {
    #expect(name(text, 0x100) == nil)
  }

  @Test func `the end of the address space is no trap`() {
    #expect(name("ffffffffffffff00 ffffffffffffffff a", .max) == "a")
  }

  @Test func `of a long map only the end is read, and that is said`() throws {
    let text = "100 10 first\n200 10 second\n300 10 third\n"
    let cut = try #require(map(text, limit: 16))
    #expect(cut.isCut)
    #expect(cut.find([0x105, 0x205, 0x305]).map { SafeText.decode($0.value) } == ["third"])
    #expect(map(text)?.isCut == false)
  }

  @Test func `a map that has grown is asked for its new lines, and what was found stays`() throws {
    let old = "100 10 first\n200 10 second\n300 10 hal"
    let before = try #require(map(old))
    let early = before.find([0x105, 0x205, 0x405]).mapValues { SafeText.decode($0) }
    #expect(early == [0x105: "first", 0x205: "second"])
    // The half line is whole now, the second function was replaced, the first line is damaged: who
    // read all of it again would lose it.
    let new = "xxx 10 first\n200 10 second\n300 10 half\n204 4 newer\n400 10 fourth\n"
    let grown = try #require(
      PerfMap(SymbolFile(memory: Array(new.utf8)), ownedBy: [], known: before))
    let late = grown.find([0x105, 0x205, 0x305, 0x405, 0x505]).mapValues { SafeText.decode($0) }
    #expect(late == [0x105: "first", 0x205: "newer", 0x305: "half", 0x405: "fourth"])
    #expect(grown.find([0x205]).mapValues { SafeText.decode($0) } == [0x205: "newer"])
  }

  @Test func `of a gigabyte the end is read, in bounded memory`() throws {
    let built = Compiled()
    // A hole for most of it, then five megabytes of lines.
    built.shell(
      """
      truncate -s 1000M big.map
      awk 'BEGIN { for (i = 0; i < 100000; i++)
        printf "%x 40 LazyCompile:*function%d /app/file.js:%d\\n", 4096 + i * 64, i, i % 999 }' >> big.map
      """)
    let file = try SymbolFile.open(built.path("big.map"))
    #expect(file.size > 1000 << 20)
    // Debug builds are slow; what the whole limit takes is in Docs/symbols.md.
    let big = try #require(PerfMap(file, ownedBy: [file.owner], sizeLimit: 8 << 20))
    #expect(big.isCut)
    let before = try #require(OwnMemory.residentPeak())
    let found = big.find(Set((3000..<6000).map { UInt64(4096 + 64 * $0) }))
    let after = try #require(OwnMemory.residentPeak())
    #expect(found.count == 3000)
    let name = found[4096 + 64 * 3007].map { SafeText.decode($0) }
    #expect(name == "LazyCompile:*function3007 /app/file.js:10")
    // Other tests of this process run beside it, so the limit is far from tight.
    #expect(after - before < 300 << 20)
  }

  @Test func `lines that all cover everything take no longer for it`() throws {
    let lines = String(repeating: "0 ffffffffffffffff everywhere\n", count: 30_000)
    let hostile = try #require(map(lines))
    let found = hostile.find(Set((0..<4000).map { UInt64($0 * 16) }))
    #expect(found.count == 4000)
  }

  @Test func `a line that never ends costs no memory and hides no other`() {
    let text = "100 10 \(String(repeating: "x", count: 700_000))\n200 10 second\n"
    #expect(name(text, 0x205) == "second")
  }

  @Test func `somebody else's map, a link, a pipe and a device are refused`() throws {
    let built = Compiled()
    built.shell(
      "mkdir -p tmp; echo '100 10 a' > tmp/perf-1.map; ln -s perf-1.map tmp/perf-2.map; mkfifo tmp/p"
    )
    func open(_ name: String) throws(SystemError) -> SymbolFile {
      try SymbolFile.open("/tmp/\(name)", root: built.folder, followsLinks: false)
    }
    let file = try open("perf-1.map")
    #expect(PerfMap(file, ownedBy: [getuid()])?.find([0x100]).count == 1)
    if getuid() == 0 {
      built.shell("chown 1234 tmp/perf-1.map")
      #expect(PerfMap(try open("perf-1.map"), ownedBy: [99]) == nil)
      #expect(PerfMap(try open("perf-1.map"), ownedBy: [1234]) != nil)
    }
    #expect(throws: SystemError.self) { try open("perf-2.map") }
    #expect(throws: SystemError.self) { try open("p") }
    #expect(throws: SystemError.self) { try SymbolFile.open("/dev/zero") }
    #expect(throws: SystemError.self) { try SymbolFile.open("/tmp") }
  }
}
