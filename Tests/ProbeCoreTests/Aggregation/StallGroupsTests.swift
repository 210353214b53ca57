// Equal stalls as one group, and stalls that the user does not want counted.

import Testing

@testable import ProbeCore

@Suite struct StallGroupsTests {
  private func stall(_ id: Int, at start: Int64, length: Int64, kind: StallKind = .stall)
    -> ProbeEvent
  {
    var parts = Summary.CauseParts()
    parts.cpuUser = .milliseconds(length)
    return .stall(
      StallReading(
        id: id, tid: ThreadID(100), kind: kind, start: Script.at(start),
        duration: .milliseconds(length), error: .zero, observer: .kernel, certainty: .exact,
        parts: parts))
  }

  private func stack(_ time: Int64, _ places: [Int]) -> ProbeEvent {
    .stack(
      StackReading(
        tid: ThreadID(100), at: Script.at(time), stopTime: .zero, truncation: nil, places: places))
  }

  private func place(_ number: Int, _ name: String) -> ProbeEvent {
    .codePlace(
      CodePlaceReading(
        number: number,
        frames: [
          Summary.Frame(function: name, module: "/app", offset: "0x1", found: .cfi, inApp: true)
        ]))
  }

  private var loop: ProbeEvent {
    .loop(LoopReading(tid: ThreadID(100), observer: .kernel))
  }

  private var events: [ProbeEvent] {
    [
      Script.seen(100, "main"), loop, place(1, "load"), place(2, "save"), place(3, "main"),
      stall(1, at: 1000, length: 300), stack(1100, [1, 3]),
      stall(2, at: 2000, length: 900), stack(2100, [2, 3]),
      stall(3, at: 3000, length: 700), stack(3100, [1, 3]),
    ]
  }

  @Test func `equal stalls are one group, the heaviest group first`() throws {
    let summary = Script.summary(events)
    #expect(summary.groups.map(\.count) == [2, 1])
    let first = summary.groups[0]
    #expect(first.title == "load < main" && first.signature.hasPrefix("load-"))
    #expect(first.total == .milliseconds(1000) && first.longest == .milliseconds(700))
    #expect(first.level == "hang" && first.stallIds == [1, 3])
    #expect(first.last - first.first == .milliseconds(2000))
    #expect(first.parts.cpuUser == .milliseconds(1000))
    #expect(first.heaviestStack?.frames.first?.function == "load")
    #expect(summary.stalls.map(\.group) == [0, 1, 0])
    for stall in summary.stalls {
      let group = try #require(stall.group)
      #expect(stall.signature == summary.groups[group].signature)
    }
  }

  @Test func `ignored stalls are told of, but in no total`() {
    let all = Script.summary(events)
    #expect(all.stallTotals.count == 3 && all.stallTotals.longest == .milliseconds(900))
    let summary = Script.summary(events + [.stallsIgnored(["save-*"])])
    #expect(summary.stalls.map(\.ignored) == [false, true, false])
    #expect(summary.groups.map(\.ignored) == [false, true])
    #expect(summary.stallTotals.count == 2)
    #expect(summary.stallTotals.total == .milliseconds(1000))
    #expect(summary.stallTotals.longest == .milliseconds(700))
    #expect(summary.metrics["stall.longest"]?.value == 0.7)
  }

  @Test func `the longest stall that counts is right where not all are kept`() {
    // The first hundred are kept and ignored; a shorter one that is not kept is left.
    var list: [ProbeEvent] = [Script.seen(100, "main"), loop, place(1, "load")]
    for id in 1...100 {
      list.append(stall(id, at: Int64(id) * 1000, length: 500))
      list.append(stack(Int64(id) * 1000 + 1, [1]))
    }
    list.append(stall(101, at: 200_000, length: 400))
    let summary = Script.summary(list + [.stallsIgnored(["load-*"])])
    #expect(summary.stallTotals.count == 1)
    #expect(summary.stallTotals.longest == .milliseconds(400))
    #expect(summary.stallTotals.total == .milliseconds(400))
  }
}
