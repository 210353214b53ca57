// Whatever stands in a /proc file: a parser gives a value or throws. A trap would end the test
// process.

import Testing

@testable import ProbeCore

@Suite struct HostileBytesTests {
  /// Whether the bytes were accepted.
  typealias Parser = @Sendable ([UInt8]) -> Bool

  /// The parser for a recorded file, chosen by its name; nil for files that nobody parses.
  static func parser(_ path: String) -> Parser? {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    switch name {
    case "stat" where path == "stat": return accepts { _ = try SystemStat(of: $0) }
    case "stat":
      return accepts {
        let stat = try TaskStat(of: $0)
        _ = stat.comm(of: $0)
      }
    case "status":
      return accepts {
        _ = try TaskStatus(of: $0).footprint
        _ = try TaskStatus.namespaceIDs(of: $0)
      }
    case "schedstat": return accepts { _ = try SchedStat(of: $0) }
    case "statm": return accepts { _ = try StatM(of: $0) }
    case "comm": return accepts { _ = Comm.name(of: $0) }
    case "cmdline": return accepts { _ = Cmdline(of: $0) }
    case "children": return accepts { _ = try TaskChildren.parse(of: $0) }
    case "syscall": return accepts { _ = try SyscallLine(of: $0) }
    case "smaps_rollup": return accepts { _ = try SmapsRollup(of: $0) }
    case "cgroup": return accepts { _ = try CGroupPath.parse(of: $0) }
    case "cpu", "io", "memory": return accepts { _ = try Pressure(of: $0) }
    default: return nil
    }
  }

  private static func accepts(_ body: @escaping @Sendable ([UInt8]) throws -> Void) -> Parser {
    { bytes in
      do {
        try body(bytes)
        return true
      } catch {
        return false
      }
    }
  }

  /// Files without a fixture: lines as the kernel writes them.
  static let written: [(name: String, text: String, parse: Parser)] = [
    (
      "cpu.stat", CPUStatTests.version2,
      accepts { _ = try CPUStat(of: $0) }
    ),
    (
      "maps", MapsLineTests.sample,
      accepts { bytes in
        var position = 0
        while try MapsLine.next(of: bytes, at: &position) != nil {}
      }
    ),
  ]

  @Test(arguments: Fixture.allCases)
  func `every recorded file is accepted whole`(_ fixture: Fixture) throws {
    var parsed = 0
    for (path, bytes) in try fixture.files() {
      guard let parse = Self.parser(path) else { continue }
      // The kernel hands out an empty smaps_rollup for tasks without memory.
      #expect(parse(bytes) || bytes.isEmpty, "\(path)")
      parsed += 1
    }
    #expect(parsed >= 13)  // 6 of the process, 5 of one task at least, 2 of the machine
  }

  @Test(arguments: Fixture.allCases)
  func `every prefix of every recorded file parses or throws`(_ fixture: Fixture) throws {
    for (path, bytes) in try fixture.files() {
      guard let parse = Self.parser(path) else { continue }
      var accepted = 0
      for count in 0...bytes.count where parse(Array(bytes.prefix(count))) { accepted += 1 }
      // Files of one line whose end is known: no cut may pass for a whole file.
      if ["stat", "schedstat", "statm", "syscall"].contains(where: { path.hasSuffix("/" + $0) }) {
        #expect(accepted == 1, "\(path)")
      }
    }
  }

  @Test(arguments: Fixture.allCases)
  func `flipped bytes never trap`(_ fixture: Fixture) throws {
    var dice = Dice(seed: UInt64(fixture.pid))
    for (path, bytes) in try fixture.files() where !bytes.isEmpty {
      guard let parse = Self.parser(path) else { continue }
      for _ in 0..<50 { _ = parse(Self.damaged(bytes, &dice)) }
    }
  }

  @Test func `written lines survive cuts and flipped bytes`() {
    var dice = Dice(seed: 7)
    for (name, text, parse) in Self.written {
      let bytes = Array(text.utf8)
      #expect(parse(bytes), "\(name)")
      for count in 0..<bytes.count { _ = parse(Array(bytes.prefix(count))) }
      for _ in 0..<5_000 { _ = parse(Self.damaged(bytes, &dice)) }
    }
  }

  @Test func `numbers at and over the edge of their type throw and never trap`() {
    let numbers = [
      "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "-9223372036854775809", "18446744073709551615", "18446744073709551616",
      "99999999999999999999999999", "-", "--1", "-0", "", "0x", "0xffffffffffffffff",
      "0x1ffffffffffffffff", "ffffffffffffffff", "1ffffffffffffffff",
    ]
    let shapes = [
      "N N N\n", "1 (a) S N N N N N N N N N N N N N N N N N N N N\n", "VmHWM:\tN kB\nUid:\tN\tN\n",
      "SigBlk:\tN\nTgid:\tN\n", "N N N N N N N\n", "N ", "N N N N N N N N N\n", "-1 N N\n",
      "Rss: N kB\n", "N:cpu:/\n", "throttled_usec N\n", "throttled_time N\n",
      "cpu  N N N N N N N N\n",
      "some total=N\n", "N-N rwxp N N:N N  /x\n",
    ]
    let parsers = ["stat", "1/stat", "status", "schedstat", "statm", "children", "syscall"]
    let more = ["smaps_rollup", "cgroup", "cpu"]
    for shape in shapes {
      for number in numbers {
        let bytes = Array(
          shape.split(separator: "N", omittingEmptySubsequences: false)
            .joined(separator: number).utf8)
        for name in parsers + more { _ = Self.parser(name)?(bytes) }
        for (_, _, parse) in Self.written { _ = parse(bytes) }
      }
    }
  }

  /// One to four bytes replaced, mostly by bytes that matter to a parser.
  private static func damaged(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
    var result = bytes
    let telling = Array("0123456789 :\n()-x\t\0\u{7f}".utf8) + [0xff]
    for _ in 0...dice.below(4) {
      let index = dice.below(result.count)
      result[index] =
        dice.below(2) == 0
        ? telling[dice.below(telling.count)] : result[index] ^ UInt8(1 << dice.below(8))
    }
    return result
  }
}
