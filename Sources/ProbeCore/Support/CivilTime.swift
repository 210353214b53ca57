// Wall-clock time as text, without a calendar library.

/// Dates in the proleptic Gregorian calendar, UTC.
public enum CivilTime {
  /// Nanoseconds since 1970 as ISO 8601 in UTC with milliseconds.
  public static func iso8601(_ nanoseconds: Int64) -> String {
    var days = nanoseconds / 86_400_000_000_000
    var rest = nanoseconds % 86_400_000_000_000
    if rest < 0 {
      rest += 86_400_000_000_000
      days -= 1
    }
    // Days to civil date by the 400-year cycle; March is the first month, so leap days come last.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func pad(_ value: Int64, _ width: Int) -> String {
      let text = "\(value)"
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let seconds = rest / 1_000_000_000
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(seconds / 3600, 2)):"
      + "\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2)).\(pad(rest / 1_000_000 % 1000, 3))Z"
  }
}
