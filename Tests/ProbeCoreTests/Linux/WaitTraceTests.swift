// Records of the wait tracepoints: parsed from any bytes, and taken from a real thread of ours.

@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

@Suite struct WaitTraceTests {
  // MARK: Bytes

  static let points = TracePoints(enter: 21, exit: 20)

  /// Little-endian numbers of 2, 4 or 8 bytes.
  private struct Bytes {
    var all: [UInt8] = []
    mutating func put<T: FixedWidthInteger>(_ value: T) {
      for shift in stride(from: 0, to: T.bitWidth, by: 8) {
        all.append(UInt8(truncatingIfNeeded: value >> T(shift)))
      }
    }
  }

  private func header(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    var bytes = Bytes()
    bytes.put(type)
    bytes.put(UInt16(0))
    bytes.put(UInt16(8 + body.count))
    return bytes.all + body
  }

  /// perf_event.h: time, u32 size and that many raw bytes (padded so that both make a multiple of 8), the
  /// registers' ABI, SP, PC.
  private func entered(_ call: Int64, abi: UInt64 = 2) -> [UInt8] {
    var raw = Bytes()
    raw.put(UInt16(21))
    raw.put(UInt16(0))
    raw.put(UInt32(77))
    raw.put(call)
    for argument in 1...6 as ClosedRange<UInt64> { raw.put(argument * 16) }
    raw.put(UInt32(0))
    var body = Bytes()
    body.put(UInt64(5_000_000_001))
    body.put(UInt32(raw.all.count))
    body.all += raw.all
    body.put(abi)
    if abi != 0 {
      body.put(UInt64(0x7ffd_0000_1000))
      body.put(UInt64(0x7f00_1234_5678))
    }
    return header(9, body.all)
  }

  private func left(_ call: Int64) -> [UInt8] {
    var raw = Bytes()
    raw.put(UInt16(20))
    raw.put(UInt16(0))
    raw.put(UInt32(77))
    raw.put(call)
    raw.put(Int64(-4))
    raw.put(UInt32(0))
    var body = Bytes()
    body.put(UInt64(5_000_000_002))
    body.put(UInt32(raw.all.count))
    body.all += raw.all
    body.put(UInt64(2))
    body.put(UInt64(1))
    body.put(UInt64(2))
    return header(9, body.all)
  }

  private func lost(_ count: UInt64) -> [UInt8] {
    var body = Bytes()
    body.put(UInt64(1))
    body.put(count)
    return header(2, body.all)
  }

  private func parse(_ bytes: some Sequence<UInt8>) -> [WaitTraceRecord] {
    var seen: [WaitTraceRecord] = []
    WaitTrace.parse(ArraySlice(Array(bytes)), points: Self.points) { seen.append($1) }
    return seen
  }

  private var expected: [WaitTraceRecord] {
    [
      .entered(
        call: 7, arguments: [16, 32, 48, 64, 80, 96], stackPointer: 0x7ffd_0000_1000,
        programCounter: 0x7f00_1234_5678),
      .left(call: 7), .lost(3), .left(call: -1),
    ]
  }

  @Test func `records are taken apart`() {
    #expect(parse(entered(7) + left(7) + lost(3) + left(-1)) == expected)
    var times: [Instant] = []
    WaitTrace.parse(ArraySlice(entered(7) + left(7)), points: Self.points) { time, _ in
      times.append(time)
    }
    #expect(times.map(\.nanoseconds) == [5_000_000_001, 5_000_000_002])
  }

  @Test func `every prefix gives the records that are whole, and nothing else`() {
    let bytes = entered(7) + left(7) + lost(3) + left(-1)
    for length in 0...bytes.count {
      let seen = parse(bytes[..<length])
      #expect(seen == Array(expected[..<seen.count]))
    }
  }

  @Test func `a slice from the middle of an array is read from its own start`() {
    var seen: [WaitTraceRecord] = []
    let bytes = [1, 2, 3] + lost(9) + [4]
    WaitTrace.parse(bytes[3..<(bytes.count - 1)], points: Self.points) { seen.append($1) }
    #expect(seen == [.lost(9)])
  }

  @Test func `records of other kinds and without registers are skipped`() {
    let other = header(1, Array(repeating: 7, count: 40))
    #expect(parse(other + entered(7, abi: 0) + lost(3)) == [.lost(3)])
    // Another tracepoint's number, which is in bytes 20 and 21.
    var foreign = left(7)
    foreign[20] = 99
    #expect(parse(foreign).isEmpty)
  }

  @Test func `any change of any byte is survived`() {
    let bytes = entered(7) + left(7) + lost(3)
    for place in bytes.indices {
      for value in [0, 1, 7, 8, 0x7f, 0x80, 0xff] as [UInt8] {
        var spoiled = bytes
        spoiled[place] = value
        #expect(parse(spoiled).count <= 3)
      }
    }
    #expect(parse(Array(repeating: 0, count: 4096)).isEmpty)
    #expect(parse(Array(repeating: 0xff, count: 4096)).isEmpty)
  }

  // MARK: A real thread

  /// Or why it cannot be had here.
  private static let permitted: Result<TracePoints, ObserverProblem> = {
    do throws(ObserverProblem) {
      let points = try TracePoints.find()
      try points.test()
      return .success(points)
    } catch {
      return .failure(error)
    }
  }()

  private static var isPermitted: Bool {
    if case .success = permitted { return true }
    return false
  }

  @Test(.enabled("tracefs or the right to use it is missing") { Self.isPermitted })
  func `a thread's polls are told with times and the registers that proc shows`() throws {
    let points = try Self.permitted.get()
    let go = OwnThread.Flag()
    let done = OwnThread.Flag()
    let end = OwnThread.Flag()
    let thread = OwnThread {
      _ = go.wait()
      for _ in 0..<20 { _ = poll(nil, 0, 5) }
      done.set()
      _ = end.wait()
    }
    var trace = try WaitTrace(thread.tid, points: points, calls: WaitCalls.idleHomes)
    let before = Clock.now()
    go.set()
    #expect(done.wait())
    var seen: [(Instant, WaitTraceRecord)] = []
    while !trace.take({ seen.append(($0, $1)) }) {}
    let after = Clock.now()
    end.set()
    thread.join()
    var stays: [Nanoseconds] = []
    var sites: Set<WaitSite> = []
    var open: Instant?
    for (time, record) in seen {
      #expect(time >= before && time <= after)
      switch record {
      case .entered(let call, let arguments, let stack, let counter):
        #expect(WaitCalls.named(Int32(call))?.waitClass == .idle)
        // ppoll takes the time-out by address.
        if call == 7 { #expect(arguments[2] == 5) }
        sites.insert(
          WaitSite(call: Int32(call), stackPointer: stack, programCounter: counter))
        open = time
      case .left:
        if let open { stays.append(time - open) }
        open = nil
      case .lost(let count): Issue.record("\(count) lost")
      }
    }
    #expect(stays.count == 20)
    #expect(stays.allSatisfy { $0 >= .ms(5) })
    #expect(sites.count == 1)
    #expect(sites.allSatisfy { $0.stackPointer > 0 && $0.programCounter > 0 })
  }
}
