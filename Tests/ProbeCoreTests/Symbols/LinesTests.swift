import Testing

@testable import ProbeCore

struct LinesTests {
  private func frames(
    _ built: Compiled, _ name: String, _ address: UInt64, budget: TimeBudget? = TimeBudget()
  ) -> Symbolized {
    let symbolizer = Symbolizer { try? SymbolFile.open($0.path) }
    let frame = RawFrame(programCounter: 0x5000_0000 + address, isExact: true, source: .cfi)
    let module = SymbolModule(path: built.path(name))
    return symbolizer.symbolize(
      [[PlacedFrame(frame, .module(module, address: address))]], lines: budget)
  }

  /// The address of the first line-table row in the inlined function.
  private func inlined(_ built: Compiled, _ name: String = "a") throws -> UInt64 {
    let hidden = try #require(built.addresses(name)["hidden"])
    let symbol = try #require(built.module(name).resolve([hidden])[hidden]?.symbol)
    for address in symbol.start..<symbol.start + symbol.size
    where frames(built, name, address).stacks[0].count == 2 {
      return address
    }
    Issue.record("nothing is inlined into hidden")
    return hidden
  }

  @Test func `an inlined function comes before the one it is in, each with its line`() throws {
    let built = Compiled()
    for flags in ["", "-gdwarf-4", "-gz=zlib", "-gno-statement-frontiers"] {
      built.compile(flags)
      let address = try inlined(built)
      let found = frames(built, "a", address)
      #expect(found.linesOmitted.isEmpty)
      let stack = found.stacks[0]
      #expect(stack.map(\.function) == ["twice", "hidden"], "\(flags)")
      #expect(stack.map(\.inlined) == [true, false])
      #expect(stack.map(\.found) == [.inline, .cfi])
      #expect(stack.allSatisfy { $0.file == built.path("a.c") })
      // Lines 3 and 4 are twice's body, line 7 is where hidden calls it.
      #expect([3, 4].contains(stack[0].line))
      #expect(stack[1].line == 7)
      #expect(stack[1].offset == "0x" + String(address, radix: 16))
    }
  }

  @Test func `clang's files without a table of ranges have lines as well`() throws {
    let built = Compiled()
    if built.shell("command -v clang || true").isEmpty { try Test.cancel("there is no clang") }
    built.shell("clang -O1 -g -o a a.c")
    let main = try #require(built.addresses()["main"])
    let frame = try #require(frames(built, "a", main).stacks[0].last)
    #expect(frame.function == "main")
    #expect(frame.line.map { (12...15).contains($0) } == true)
  }

  @Test func `a file without debug information says so and has its names`() throws {
    let built = Compiled()
    built.compile("-g0")
    let main = try #require(built.addresses()["main"])
    let found = frames(built, "a", main)
    #expect(found.stacks[0].map(\.function) == ["main"])
    #expect(found.linesOmitted == [built.path("a"): .noDebugInformation])
  }

  @Test func `a budget that is spent leaves the names and says why there are no lines`() throws {
    let built = Compiled()
    built.compile()
    let main = try #require(built.addresses()["main"])
    let spent = TimeBudget(total: .zero)
    #expect(frames(built, "a", main, budget: spent).linesOmitted == [built.path("a"): .outOfTime])
    let cancelled = TimeBudget()
    cancelled.cancel()
    let found = frames(built, "a", main, budget: cancelled)
    #expect(found.linesOmitted == [built.path("a"): .cancelled])
    #expect(found.stacks[0].map(\.function) == ["main"])
    #expect(found.stacks[0][0].line == nil)
    #expect(frames(built, "a", main, budget: nil).linesOmitted.isEmpty)
  }

  @Test func `time is taken from the budget of the run, and lines that are known cost none`() throws
  {
    let built = Compiled()
    built.compile()
    let main = try #require(built.addresses()["main"])
    let module = built.module()
    let budget = TimeBudget()
    let first = module.addLines([main], budget: budget)
    #expect(first.found[main]?.omission == nil)
    let rest = budget.remaining
    #expect(rest < Nanoseconds(2_000_000_000))
    let second = module.addLines([main], budget: budget)
    #expect(second.found[main]?.lines == first.found[main]?.lines)
    #expect(budget.remaining == rest)
    #expect(second.cpu == .zero)
  }

  @Test func `lines come from a separate debug file`() throws {
    let built = Compiled()
    built.compile()
    let address = try inlined(built)
    built.shell(
      "objcopy --only-keep-debug a a.debug && strip a && objcopy --add-gnu-debuglink=a.debug a")
    #expect(frames(built, "a", address).stacks[0].map(\.function) == ["twice", "hidden"])
  }

  @Test func `this program's own lines are those of its source`() throws {
    let path = OwnProgram.path
    let file = try SymbolFile.open(path)
    let built = Compiled()
    let text = built.shell(
      "nm --defined-only '\(path)' | grep 'CloneSuffixO7removed4fromSays5UInt8V'")
    let address = try #require(UInt64(text.prefix { $0 != " " }, radix: 16))
    let module = ModuleSymbols(file, path: path)
    let budget = TimeBudget(
      perModule: Nanoseconds(60_000_000_000), total: Nanoseconds(60_000_000_000))
    let found = module.addLines([address], budget: budget).found[address]
    #expect(found?.omission == nil)
    let own = try #require(found?.lines.last)
    #expect(SafeText.decode(own.file).hasSuffix("Symbols/Demangler.swift"))
  }
}
