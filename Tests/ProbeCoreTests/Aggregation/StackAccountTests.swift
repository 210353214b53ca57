// Stacks go to the stall in which they were taken, whichever of both is told first, and to no other.

import Testing

@testable import ProbeCore

@Suite struct StackAccountTests {
  private func stall(
    _ id: Int, from start: Int64, to end: Int64, tid: Int32 = 100
  ) -> StallReading {
    var parts = Summary.CauseParts()
    parts.cpuUser = .milliseconds(end - start)
    return StallReading(
      id: id, tid: ThreadID(tid), kind: .stall, start: Script.at(start),
      duration: .milliseconds(end - start), error: .zero, observer: .kernel, certainty: .exact,
      parts: parts)
  }

  private func began(_ id: Int, at start: Int64, tid: Int32 = 100) -> ProbeEvent {
    .stallBegan(
      StallBegan(id: id, tid: ThreadID(tid), start: Script.at(start), kind: .stall))
  }

  private func stack(
    _ time: Int64, _ places: [Int], tid: Int32 = 100, stopTime: Nanoseconds = .zero,
    truncation: StackTruncation? = nil
  ) -> ProbeEvent {
    .stack(
      StackReading(
        tid: ThreadID(tid), at: Script.at(time), stopTime: stopTime, truncation: truncation,
        places: places))
  }

  private func place(_ number: Int, _ names: String..., line: Int? = nil) -> ProbeEvent {
    .codePlace(
      CodePlaceReading(
        number: number,
        frames: names.map {
          Summary.Frame(
            function: $0, module: "/app", offset: "0x1", line: line, found: .cfi, inApp: true)
        }))
  }

  private func stalls(_ events: [ProbeEvent]) -> [Summary.Stall] {
    Script.summary([Script.seen(100, "main")] + events).stalls
  }

  private func names(_ stack: Summary.Stack) -> [String] { stack.frames.map { $0.function ?? "" } }

  @Test func `weights reach half-way to the neighbours and add up to the length`() {
    let rows = stalls([
      place(1, "f"), began(1, at: 1000), stack(1100, [1]), stack(1200, [1]), stack(1600, [1]),
      .stall(stall(1, from: 1000, to: 2000)),
    ])
    #expect(rows[0].stacks.map(\.at) == [100, 200, 600].map { .milliseconds($0) })
    // 0 to 150, 150 to 400, 400 to 1000.
    #expect(rows[0].stacks.map(\.weight) == [150, 250, 600].map { .milliseconds($0) })
  }

  @Test func `a single stack stands for the whole stall`() {
    let rows = stalls([
      place(1, "f"), .stall(stall(1, from: 1000, to: 1300)), stack(1299, [1]),
    ])
    #expect(rows[0].stacks.map(\.weight) == [.milliseconds(300)])
  }

  @Test func `the frames of a place stand in their order, inlined ones first`() {
    let rows = stalls([
      place(1, "inlined", "outer"), place(2, "main"), .stall(stall(1, from: 0, to: 300)),
      stack(150, [1, 2, 77], stopTime: .microseconds(9), truncation: .noUnwindInfo),
    ])
    let stack = rows[0].stacks[0]
    // A number that was never told of is left out.
    #expect(names(stack) == ["inlined", "outer", "main"])
    #expect(stack.stopTime == .microseconds(9) && stack.truncated == .noUnwindInfo)
  }

  @Test func `lines that are told later show in stacks that were told before`() {
    let rows = stalls([
      place(1, "f"), .stall(stall(1, from: 0, to: 300)), stack(150, [1]), place(1, "f", line: 42),
    ])
    #expect(rows[0].stacks[0].frames.map(\.line) == [42])
  }

  @Test func `a stack from outside of the stall, or of another thread, is not shown`() {
    let rows = stalls([
      place(1, "before"), place(2, "in"), place(3, "after"), began(1, at: 1000),
      stack(990, [1]), stack(1100, [2]), stack(1301, [3]), stack(1100, [3], tid: 101),
      .stall(stall(1, from: 1000, to: 1300)), stack(1302, [3]),
    ])
    #expect(rows[0].stacks.map(names) == [["in"]])
  }

  @Test func `what was taken after one stall goes to the next`() {
    let rows = stalls([
      place(1, "one"), place(2, "two"), began(1, at: 1000), stack(1100, [1]), stack(1500, [2]),
      .stall(stall(1, from: 1000, to: 1300)), began(2, at: 1400),
      .stall(stall(2, from: 1400, to: 1800)),
    ])
    #expect(rows.map { $0.stacks.map(names) } == [[["one"]], [["two"]]])
  }

  @Test func `a stall that turned out to be none takes its stacks with it`() {
    let state = Script.state([
      place(1, "f"), began(1, at: 1000), stack(1100, [1]), .stallRetracted(1),
      .stall(stall(2, from: 1050, to: 1400)),
    ])
    #expect(state.stalls.stacks.pending.isEmpty)
    #expect(state.summary().stalls[0].stacks.isEmpty)
  }

  @Test func `the same moment told again replaces what was told`() {
    let rows = stalls([
      place(1, "cut"), place(2, "whole"), .stall(stall(1, from: 0, to: 300)), stack(150, [1]),
      stack(150, [1, 2]),
    ])
    #expect(rows[0].stacks.map(names) == [["cut", "whole"]])
  }

  @Test func `storms cost bounded memory, and dropped stalls take their stacks along`() {
    var state = Script.state([place(1, "f")])
    for id in 1...500 as ClosedRange<Int64> {
      // Longer and longer, so that each takes the place of an earlier one.
      let (start, length) = (id * 10_000, 300 + id)
      state.apply(began(Int(id), at: start))
      for step in 0..<100 as Range<Int64> { state.apply(stack(start + step, [1])) }
      state.apply(.stall(stall(Int(id), from: start, to: start + length)))
    }
    let account = state.stalls.stacks
    #expect(account.kept.count == StallAccount.capacity)
    #expect(account.kept.values.allSatisfy { $0.count <= StackAccount.capacity })
    #expect(account.pending.values.allSatisfy { $0.count <= StackAccount.capacity })
    for number in 0..<200_000 { state.apply(place(number, "g")) }
    #expect(state.stalls.stacks.places.count == StackAccount.placeCapacity)
  }

  @Test func `a stack of a hostile recording is cut`() {
    let names = Array(repeating: "x", count: 10_000)
    let frames = names.map { Summary.Frame(function: $0, module: nil, offset: nil, found: .cfi) }
    let rows = stalls([
      .codePlace(CodePlaceReading(number: 1, frames: frames)),
      .stall(stall(1, from: 0, to: 300)), stack(150, Array(repeating: 1, count: 100_000)),
    ])
    #expect(rows[0].stacks[0].frames.count == StackAccount.framesPerStack)
    #expect(rows[0].stacks[0].truncated == .frameLimit)
  }

  @Test func `costs of captures come into the summary`() {
    let summary = Script.summary([
      .observer(
        ObserverReading(
          cpu: .zero, residentPeak: nil, droppedEvents: 0, captures: SampleEvents.captures))
    ])
    #expect(summary.observer.stops == 2)
    #expect(summary.observer.stopTotal == .microseconds(100))
    #expect(summary.observer.stopLongest == .microseconds(60))
    #expect(summary.observer.capturesWithoutStop == 1)
  }

  @Test func `while a stall lasts the program's own function is named`() {
    var state = Script.state([Script.seen(100, "main"), began(1, at: 1000)])
    #expect(
      state.openStalls(at: Script.at(1300))[0].text == "stall: main (100) for 300 ms so far (stall)"
    )
    state.apply(
      .codePlace(
        CodePlaceReading(
          number: 1,
          frames: [
            Summary.Frame(function: "read", module: "/lib/libc.so.6", offset: "0x1", found: .cfi)
          ])))
    state.apply(
      .codePlace(
        CodePlaceReading(
          number: 2,
          frames: [
            Summary.Frame(
              function: "parse", module: "/app", offset: "0x1", file: "/src/app.c", line: 42,
              found: .cfi, inApp: true)
          ])))
    state.apply(stack(1100, [1]))
    #expect(state.openStalls(at: Script.at(1300))[0].text.hasSuffix("(stall), in read (libc.so.6)"))
    state.apply(stack(1200, [1, 2]))
    #expect(state.openStalls(at: Script.at(1300))[0].text.hasSuffix("(stall), in parse (app.c:42)"))
  }
}
