import Testing

@testable import ProbeCore

struct SymbolizerTests {
  private func raw(_ address: UInt64, exact: Bool = true) -> RawFrame {
    RawFrame(programCounter: address, isExact: exact, source: exact ? .register : .cfi)
  }

  @Test func `a return address behind the end of a function is in that function`() throws {
    let built = Compiled()
    built.compile()
    let module = SymbolModule(path: built.path("a"))
    let main = try #require(built.addresses()["main"])
    let size = try #require(built.module().resolve([main])[main]?.symbol?.size)
    let end = main + size
    let symbolizer = Symbolizer { try? SymbolFile.open($0.path) }
    let found = symbolizer.symbolize([
      [PlacedFrame(raw(end), .module(module, address: end))],
      [PlacedFrame(raw(end, exact: false), .module(module, address: end))],
      [PlacedFrame(raw(main, exact: false), .module(module, address: main))],
    ])
    #expect(found.stacks[0][0].function != "main")
    #expect(found.stacks[1][0].function == "main")
    #expect(found.stacks[1][0].offset == "0x" + String(end, radix: 16))
    #expect(found.stacks[1][0].module == built.path("a"))
    #expect(found.stacks[2][0].function != "main")
  }

  @Test func `what cannot be opened is shown by module and offset`() {
    let symbolizer = Symbolizer { _ in nil }
    let frame = PlacedFrame(raw(0x5123), .module(SymbolModule(path: "/gone"), address: 0x123))
    let found = symbolizer.symbolize([[frame], []], lines: TimeBudget())
    #expect(
      found.stacks == [
        [Summary.Frame(function: nil, module: "/gone", offset: "0x123", found: .register)], [],
      ])
  }

  @Test func `memory is named by the perf map or by its label`() {
    let symbolizer = Symbolizer { _ in nil }
    symbolizer.perfMap = PerfMap(
      SymbolFile(memory: Array("100 10 jsWork\n".utf8)), ownedBy: [])
    let found = symbolizer.symbolize([
      [PlacedFrame(raw(0x110, exact: false), .memory("[anon]"))],
      [PlacedFrame(raw(0x110), .memory("[anon]"))],
    ])
    #expect(found.stacks[0].map(\.function) == ["jsWork"])
    #expect(found.stacks[0].map(\.module) == ["[jit]"])
    #expect(found.stacks[1].map(\.function) == [nil])
    #expect(found.stacks[1].map(\.module) == ["[anon]"])
  }

  @Test func `a module is opened once`() {
    var opened = 0
    let symbolizer = Symbolizer { _ in
      opened += 1
      return nil
    }
    let frame = PlacedFrame(raw(1), .module(SymbolModule(path: "/a"), address: 1))
    let other = PlacedFrame(raw(1), .module(SymbolModule(path: "/a", inode: 2), address: 1))
    _ = symbolizer.symbolize([[frame, frame], [frame]])
    _ = symbolizer.symbolize([[frame]])
    #expect(opened == 1)
    _ = symbolizer.symbolize([[other]])
    #expect(opened == 2)
  }

  @Test func `caches stay within their limits and keep what is used`() {
    var cache = BoundedCache<Int, Int>(limit: 10)
    for number in 0..<1000 {
      cache[number] = number
      #expect(cache[0] == 0)
      #expect(cache.count <= 10)
    }
    #expect(cache[999] == 999)
    #expect(cache[500] == nil)
  }
}
