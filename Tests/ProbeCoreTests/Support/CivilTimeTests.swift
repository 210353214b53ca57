import Testing

@testable import ProbeCore

@Suite struct CivilTimeTests {
  private static let second: Int64 = 1_000_000_000

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400, "2000-02-29T00:00:00.000Z"), (951_868_799, "2000-02-29T23:59:59.000Z"),
      (951_868_800, "2000-03-01T00:00:00.000Z"), (1_709_164_800, "2024-02-29T00:00:00.000Z"),
      (1_740_787_199, "2025-02-28T23:59:59.000Z"), (1_740_787_200, "2025-03-01T00:00:00.000Z"),
      (4_107_542_399, "2100-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
      (-2_203_891_200, "1900-03-01T00:00:00.000Z"), (-2_203_891_201, "1900-02-28T23:59:59.000Z"),
      (1_234_567_890, "2009-02-13T23:31:30.000Z"), (-86_400, "1969-12-31T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `known moments`(seconds: Int64, text: String) {
    // -1 stands for a nanosecond before 1970.
    let nanoseconds = seconds == -1 ? -1 : seconds * Self.second
    #expect(CivilTime.iso8601(nanoseconds) == text)
  }

  @Test func `milliseconds are cut, not rounded into the next second`() {
    #expect(CivilTime.iso8601(999_999_999) == "1970-01-01T00:00:00.999Z")
    #expect(CivilTime.iso8601(1_000_000) == "1970-01-01T00:00:00.001Z")
    #expect(CivilTime.iso8601(-1_000_001) == "1969-12-31T23:59:59.998Z")
  }

  @Test func `the ends of what fits are dates too`() {
    #expect(CivilTime.iso8601(.max) == "2262-04-11T23:47:16.854Z")
    #expect(CivilTime.iso8601(.min) == "1677-09-21T00:12:43.145Z")
  }

  @Test func `the months of six centuries follow each other`() {
    // Counted by hand-made calendar rules from 1 January 1700 on.
    var (year, month, day) = (1700, 1, 1)
    var time: Int64 = -8_520_336_000 * Self.second
    while year < 2262 {
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      // The first and the last days of each month; those between cannot go wrong alone.
      if day == 1 || day >= lengths[month - 1] - 1 {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let text = CivilTime.iso8601(time)
        #expect(text == "\(year)-\(two(month))-\(two(day))T00:00:00.000Z")
        if text.prefix(10) != "\(year)-\(two(month))-\(two(day))" { return }
      }
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
      time += 86_400 * Self.second
    }
  }
}
