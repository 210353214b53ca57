// Stacks of real programs, in every way that compilers and linkers leave something to unwind by,
// against what the programs themselves know of their stacks.

internal import Testing

@testable internal import ProbeCore

#if arch(x86_64)
  @Suite struct UnwinderTests {
    /// Checks the frames that the program knows; frames outside of them are the C library's, at most
    /// three: two of its start, and _start.
    private func check(
      _ target: SelfSnapshot, _ result: UnwoundStack, inner: Int = 0,
      location: SourceLocation = #_sourceLocation
    ) {
      let counters = result.stack.frames.map(\.programCounter)
      let known = target.expected
      #expect(
        Array(counters.dropFirst(inner).prefix(known.count)) == known, sourceLocation: location)
      // Debian's musl has neither tables nor frame pointers: main's caller is where it ends, and it
      // must say so.
      let end: StackTruncation? = target.way == "musl" ? .noUnwindInfo : nil
      #expect(result.stack.truncation == end, sourceLocation: location)
      #expect(
        (end == nil ? 1...4 : 0...1) ~= counters.count - inner - known.count,
        sourceLocation: location)
      #expect(result.missingAddress == nil, sourceLocation: location)
      #expect(result.stack.frames[0].isExact, sourceLocation: location)
    }

    @Test(
      arguments: [
        ("", FrameSource.cfi), ("fp", .framePointer), ("debug_frame", .debugFrame),
        ("static", .cfi), ("static_pie", .cfi), ("no_pie", .cfi), ("stripped", .cfi),
        ("musl", .cfi), ("no_header", .cfi),
      ], [24, 1004])
    func `every frame is found, and how, at any depth`(
      way: (name: String, source: FrameSource), depth: Int
    ) async throws {
      let target = try await SelfSnapshot(way.name, depth: depth)
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      check(target, result)
      #expect(target.expected.count == depth + 3)  // pc, leaf's caller, and each level's
      #expect(result.stack.frames[0].source == .register)
      for frame in result.stack.frames[1..<depth] { #expect(frame.source == way.source) }
      try await target.end()
    }

    @Test(arguments: ["", "static_pie", "musl", "debug_frame"], ["signal", "altstack"])
    func `a frame under a signal is exact, on the same and on an alternate stack`(
      way: String, mode: String
    ) async throws {
      let target = try await SelfSnapshot(way, mode: mode)
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      // The handler returns into the C library's restorer, which the program cannot name: it is the
      // third frame.
      var frames = result.stack.frames
      try #require(frames.count > 3)
      // Nobody called it, so it is named by its own address, not by the one before.
      #expect(frames[2].isExact)
      frames.remove(at: 2)
      check(
        target,
        UnwoundStack(
          stack: RawStack(frames: frames, truncation: result.stack.truncation),
          missingAddress: result.missingAddress))
      let exact = frames.filter(\.isExact).map(\.programCounter)
      #expect(exact == [target.expected[0], target.interrupted])
      try await target.end()
    }

    @Test func `without the ordinary stack a signal's stack says where it goes on`() async throws {
      let target = try await SelfSnapshot("", mode: "altstack")
      var snapshot = target.snapshot
      let interrupted = try #require(target.interrupted)
      snapshot.regions.removeAll { !$0.contains(snapshot.registers.stackPointer) }
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(snapshot)
      #expect(result.stack.truncation == .copyLimit)
      #expect(result.stack.frames.last?.programCounter == interrupted)
      let missing = try #require(result.missingAddress)
      #expect(target.snapshot.regions.contains { $0.contains(missing) })
      try await target.end()
    }

    @Test func `a page of code without tables is passed by its frame pointer`() async throws {
      let target = try await SelfSnapshot("", mode: "jit")
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      // Between the page and its caller's caller is the caller, which cannot name its own place.
      try #require(result.stack.frames.count > 3)
      #expect(result.stack.frames[2].source == .framePointer)
      #expect(result.stack.frames.filter { $0.source == .framePointer }.count == 1)
      var shown = result
      shown.stack.frames.remove(at: 2)
      check(target, shown)
      try await target.end()
    }

    @Test func `a call of a bad pointer keeps its caller`() async throws {
      let target = try await SelfSnapshot("", mode: "badcall")
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      let counters = result.stack.frames.map(\.programCounter)
      // pc, leaf's caller, the restorer, 16, then bad_call's own frame, which it cannot name.
      try #require(counters.count > 6)
      #expect(counters[3] == 16)
      #expect(Array(counters[5...].prefix(25)) == Array(target.expected[3...].prefix(25)))
      #expect(result.stack.truncation == nil)
      try await target.end()
    }

    @Test func `the kernel's own page is unwound by the tables in it`() async throws {
      let target = try await SelfSnapshot("", mode: "vdso")
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      let counters = result.stack.frames.map(\.programCounter)
      #expect(counters.contains(try #require(target.interrupted)))
      // Between the vDSO and the first level are clock_gettime and the function that calls it.
      let levels = Array(target.expected[3...])
      #expect(counters.indices.contains { Array(counters[$0...].prefix(levels.count)) == levels })
      #expect(result.stack.truncation == nil)
      try await target.end()
    }

    @Test func `a program whose file is gone is unwound all the same`() async throws {
      let target = try await SelfSnapshot("", isDeleted: true)
      check(target, Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot))
      try await target.end()
    }

    @Test func `stack pointer and program counter are enough where frames need no more`()
      async throws
    {
      let target = try await SelfSnapshot("", knowing: [7, 16])
      check(target, Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot))
      try await target.end()
    }

    @Test func `a register that is needed and not known ends the stack by its name`() async throws {
      let target = try await SelfSnapshot("fp", knowing: [7, 16])
      let result = Unwinder(target.pid, cache: ModuleCache()).unwind(target.snapshot)
      #expect(result.stack.truncation == .unknownRegister)
      #expect(result.stack.frames.map(\.programCounter) == [target.expected[0]])
      try await target.end()
    }

    @Test func `a short copy and a frame limit are said`() async throws {
      let target = try await SelfSnapshot("", depth: 200)
      var snapshot = target.snapshot
      snapshot.regions[0].bytes.removeLast(snapshot.regions[0].bytes.count - 1024)
      let unwinder = Unwinder(target.pid, cache: ModuleCache())
      let short = unwinder.unwind(snapshot)
      #expect(short.stack.truncation == .copyLimit)
      #expect(try #require(short.missingAddress) >= snapshot.regions[0].end)
      let counters = short.stack.frames.map(\.programCounter)
      #expect(counters == Array(target.expected.prefix(counters.count)))
      let limited = Unwinder(unwinder.space, frameLimit: 10).unwind(target.snapshot)
      #expect(limited.stack.frames.count == 10)
      #expect(limited.stack.truncation == .frameLimit)
      try await target.end()
    }

    @Test func `a second walk, by what the first has learnt, gives the same`() async throws {
      for mode in ["plain", "signal", "jit"] {
        let target = try await SelfSnapshot("", mode: mode)
        let unwinder = Unwinder(target.pid, cache: ModuleCache())
        let first = unwinder.unwind(target.snapshot)
        #expect(unwinder.unwind(target.snapshot) == first)
        try unwinder.refreshMap()
        #expect(unwinder.unwind(target.snapshot) == first)
        try await target.end()
      }
    }
  }
#endif
