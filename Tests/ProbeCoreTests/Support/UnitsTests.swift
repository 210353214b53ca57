import Testing

@testable import ProbeCore

@Suite struct UnitsTests {
  @Test(
    arguments: [
      ("5", 5_000_000_000), ("0", 0), ("250ms", 250_000_000), ("1.5s", 1_500_000_000),
      ("1m30s", 90_000_000_000), ("1m 30 s", 90_000_000_000), (" 2 h ", 7_200_000_000_000),
      ("1d", 86_400_000_000_000), ("7us", 7000), ("7µs", 7000), ("7μs", 7000), ("42ns", 42),
      ("0.1s", 100_000_000), (".5s", 500_000_000), ("0.0000000004s", 0), ("0.0000000005s", 1),
      ("1h1m1s1ms1us1ns", 3_661_001_001_001), ("9223372036854775807ns", .max),
      ("0.3333333333333333333333s", 333_333_333),
    ] as [(String, Int64)])
  func `a duration is read to the nanosecond`(text: String, expected: Int64) throws {
    #expect(try Units.duration(text) == Nanoseconds(expected))
  }

  @Test(
    arguments: [
      ("", .empty), ("  ", .empty), ("-5s", .negative), ("s", .notANumber), ("nan", .notANumber),
      ("inf", .notANumber), ("5.", .notANumber), (".", .notANumber), ("1m30", .missingUnit),
      ("1s1m", .unitOrder), ("1s1s", .unitOrder), ("0x10", .unknownUnit("x", suggestion: nil)),
      ("1e3", .unknownUnit("e", suggestion: nil)), ("5 sec", .unknownUnit("sec", suggestion: "s")),
      ("5MS", .unknownUnit("MS", suggestion: "ms")), ("5min", .unknownUnit("min", suggestion: "m")),
      ("9223372036854775808ns", .tooLarge), ("99999999999999999999", .tooLarge),
      ("300000d", .tooLarge),
      ("1s,", .unknownUnit("s,", suggestion: nil)), ("٣s", .notANumber),
      ("1s\u{0}", .unknownUnit("s\u{0}", suggestion: nil)), ("1 2s", .missingUnit),
    ] as [(String, UnitError.Reason)])
  func `what is no duration is refused with its reason`(text: String, reason: UnitError.Reason) {
    #expect(throws: UnitError(quantity: .duration, text: text, reason: reason)) {
      try Units.duration(text)
    }
  }

  @Test(
    arguments: [
      ("4096", 4096), ("1B", 1), ("64K", 65_536), ("64k", 65_536), ("1KiB", 1024), ("1kB", 1000),
      ("512MiB", 536_870_912), ("512M", 536_870_912), ("512 MB", 512_000_000),
      ("1.5GiB", 1_610_612_736),
      ("1G", 1_073_741_824), ("2GB", 2_000_000_000), ("1TiB", 1_099_511_627_776),
      ("1T", 1_099_511_627_776),
      ("18446744073709551615", .max),
    ] as [(String, UInt64)])
  func `a size is read in bytes`(text: String, expected: UInt64) throws {
    #expect(try Units.size(text) == expected)
  }

  @Test(
    arguments: [
      ("", .empty), ("-1", .negative), ("1mb", .unknownUnit("mb", suggestion: "MB")),
      ("1gib", .unknownUnit("gib", suggestion: "GiB")), ("1X", .unknownUnit("X", suggestion: nil)),
      ("18446744073709551616", .tooLarge), ("16777216TiB", .tooLarge), ("1K1", .notANumber),
      ("K", .notANumber),
    ] as [(String, UnitError.Reason)])
  func `what is no size is refused with its reason`(text: String, reason: UnitError.Reason) {
    #expect(throws: UnitError(quantity: .size, text: text, reason: reason)) { try Units.size(text) }
  }

  @Test func `a bare number can be refused`() {
    #expect(throws: UnitError.self) { try Units.duration("5", allowsBareNumber: false) }
    #expect(throws: UnitError.self) { try Units.size("5", allowsBareNumber: false) }
  }

  @Test func `shares are percent of one core`() throws {
    #expect(try Units.share("80%") == 80)
    #expect(try Units.share("80 %") == 80)
    #expect(try Units.share("1.5cpu") == 150)
    for (text, reason) in [
      ("80", .missingUnit), ("2cores", .unknownUnit("cores", suggestion: "cpu")),
      ("-1%", .negative),
    ] as [(String, UnitError.Reason)] {
      #expect(throws: UnitError(quantity: .share, text: text, reason: reason)) {
        try Units.share(text)
      }
    }
  }

  @Test func `rates are times a second`() throws {
    #expect(try Units.rate("10Hz") == 10)
    #expect(try Units.rate("10") == 10)
    #expect(try Units.rate("2.5/s") == 2.5)
    #expect(try Units.rate("6/min") == 0.1)
    #expect(try Units.rate("36/h") == 0.01)
    #expect(
      throws: UnitError(quantity: .rate, text: "5hz", reason: .unknownUnit("hz", suggestion: "Hz"))
    ) {
      try Units.rate("5hz")
    }
  }

  @Test func `an error says what, why and what is accepted`() throws {
    let error = try #require(throws: UnitError.self) { try Units.duration("5\u{1b}sec") }
    #expect(
      error.message
        == "'5\\x1bsec' is not a duration: unknown unit '\\x1bsec' (accepted: ns us ms s m h d, as in "
        + "250ms, 1.5s or 1m30s; a bare number is seconds)")
  }

  @Test func `every prefix of odd input is read or refused, never trapped on`() {
    for text in [
      "1m30.999999999999999999999s", "-9e99\u{0}", "18446744073709551616.5TiB", "\u{1F680}5%cpu",
    ] {
      for end in 0...text.count {
        let part = String(text.prefix(end))
        // The result does not matter, only that there is one.
        _ = try? Units.duration(part)
        _ = try? Units.size(part)
        _ = try? Units.share(part)
        _ = try? Units.rate(part)
      }
    }
  }
}

@Suite struct UnitTextTests {
  @Test(
    arguments: [
      (0, "0 s"), (85, "85 ns"), (999, "999 ns"), (1000, "1.00 µs"), (85_000, "85.0 µs"),
      (999_400, "999 µs"), (999_600, "1.00 ms"), (412_000_000, "412 ms"), (999_600_000, "1.00 s"),
      (1_250_000_000, "1.25 s"), (9_994_000_000, "9.99 s"), (9_996_000_000, "10.0 s"),
      (59_940_000_000, "59.9 s"), (59_960_000_000, "1m 00s"), (90_000_000_000, "1m 30s"),
      (3_599_600_000_000, "1h 00m"), (7_500_000_000_000, "2h 05m"), (273_600_000_000_000, "3d 04h"),
      (-412_000_000, "-412 ms"),
    ] as [(Int64, String)])
  func `a duration has three digits and a unit`(nanoseconds: Int64, expected: String) {
    #expect(Units.text(Nanoseconds(nanoseconds)) == expected)
  }

  @Test func `extremes of a duration are written`() {
    #expect(Units.text(Nanoseconds(.max)) == "106751d 23h")
    #expect(Units.text(Nanoseconds(.min)) == "-106751d 23h")
    #expect(Units.text(.microseconds(5), isUnicode: false) == "5.00 us")
    #expect(Units.clock(.milliseconds(12_999)) == "12 s")
    #expect(Units.clock(.seconds(-1)) == "0 s")
    #expect(Units.clock(.seconds(61)) == "1m 01s")
  }

  @Test(
    arguments: [
      (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (13_002_342, "12.4 MiB"),
      (1_048_052, "1023 KiB"), (1_048_064, "1.00 MiB"), (1 << 30, "1.00 GiB"), (.max, "16.0 EiB"),
    ] as [(UInt64, String)])
  func `a size has three digits and a binary unit`(bytes: UInt64, expected: String) {
    #expect(Units.text(bytes: bytes) == expected)
  }

  @Test(
    arguments: [
      (0, "0 %"), (0.001, "<0.01 %"), (0.306, "0.31 %"), (9.994, "9.99 %"), (9.996, "10.0 %"),
      (83.14, "83.1 %"),
      (99.96, "100 %"), (412.4, "412 %"), (.nan, "not measured"),
    ])
  func `a share has three digits`(percent: Double, expected: String) {
    #expect(Units.text(percent: percent) == expected)
  }

  @Test func `counts have their thousands apart and changes have a sign`() {
    #expect(Units.text(count: 0) == "0")
    #expect(Units.text(count: 999) == "999")
    #expect(Units.text(count: 1_204_551) == "1,204,551")
    #expect(Units.text(bytesPerSecond: 12_595.2) == "+12.3 KiB/s")
    #expect(Units.text(bytesPerSecond: -0.4) == "0 B/s")
    #expect(Units.text(bytesPerSecond: .infinity) == "not measured")
    #expect(Units.fixed(-1.005, decimals: 1) == "-1.0")
    #expect(Units.fixed(0.999, decimals: 2) == "1.00")
  }
}
