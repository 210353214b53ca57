// Quantities as people read them: three significant digits and always a unit.
// The inverse of Units, used by every text output, so that all of them round alike.

extension Units {
  /// Stands where a number would, when it was not measured.
  public static let notMeasured = "not measured"

  /// A length of time: `0 s`, `85.0 ns`, `412 ms`, `1.25 s`, `1m 30s`, `2h 05m`, `3d 04h`.
  /// - Parameter isUnicode: write µs; else us.
  public static func text(_ duration: Nanoseconds, isUnicode: Bool = true) -> String {
    let magnitude = duration.rawValue.magnitude
    let sign = duration.rawValue < 0 ? "-" : ""
    if magnitude == 0 { return "0 s" }
    if magnitude < 1000 { return "\(sign)\(magnitude) ns" }
    // Below one minute even after rounding to three digits.
    if magnitude < 59_950_000_000 {
      let scales: [(Double, String)] = [
        (1e3, isUnicode ? "\u{b5}s" : "us"), (1e6, "ms"), (1e9, "s"),
      ]
      for (scale, unit) in scales {
        let value = Double(magnitude) / scale
        if value < 999.5 || scale == 1e9 { return "\(sign)\(significant(value)) \(unit)" }
      }
    }
    return sign + longDuration(seconds: magnitude / 1_000_000_000 + roundUp(magnitude))
  }

  /// A length of time in whole seconds: `0 s`, `12 s`, `1m 30s`; for clocks that tick.
  public static func clock(_ duration: Nanoseconds) -> String {
    let seconds = UInt64(max(0, duration.rawValue)) / 1_000_000_000
    return seconds < 60 ? "\(seconds) s" : longDuration(seconds: seconds)
  }

  /// A number of bytes in powers of 1024: `512 B`, `12.4 MiB`.
  public static func text(bytes: UInt64) -> String { bytesText(Double(bytes)) }

  /// A change of size, with its sign: `+12.3 KiB/s`, `-1.00 MiB/s`, `0 B/s`.
  public static func text(bytesPerSecond: Double) -> String {
    guard bytesPerSecond.isFinite else { return notMeasured }
    if abs(bytesPerSecond) < 0.5 { return "0 B/s" }
    return (bytesPerSecond < 0 ? "-" : "+") + bytesText(abs(bytesPerSecond)) + "/s"
  }

  /// A share: `0 %`, `0.31 %`, `83.1 %`, `412 %`; below what two decimals show, `<0.01 %`.
  public static func text(percent: Double) -> String {
    guard percent.isFinite else { return notMeasured }
    if percent == 0 { return "0 %" }
    if percent > 0 && percent < 0.005 { return "<0.01 %" }
    return "\(significant(percent)) %"
  }

  /// A count with its thousands apart: `1,204,551`.
  public static func text(count: UInt64) -> String {
    let digits = String(count)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// A number with `decimals` digits after the point, rounded half away from zero.
  public static func fixed(_ value: Double, decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard let units = Int64(exactly: scaled) else { return "\(value)" }
    let divisor = UInt64(scale)
    let sign = units < 0 ? "-" : ""
    let whole = String(units.magnitude / divisor)
    if decimals == 0 { return sign + whole }
    let fraction = String(units.magnitude % divisor)
    return sign + whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  /// Three significant digits, but never more than two after the point.
  static func significant(_ value: Double) -> String {
    // The limits are where rounding would give a fourth digit.
    let magnitude = abs(value)
    return fixed(value, decimals: magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0)
  }

  private static func bytesText(_ value: Double) -> String {
    var value = value
    // 1023.5 and more would print as 1024 of the unit.
    guard value >= 1023.5 else { return "\(fixed(value, decimals: 0)) B" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    for unit in units {
      value /= 1024
      if value < 1023.5 || unit == units.last { return "\(significant(value)) \(unit)" }
    }
    return notMeasured
  }

  private static func roundUp(_ nanoseconds: UInt64) -> UInt64 {
    nanoseconds % 1_000_000_000 >= 500_000_000 ? 1 : 0
  }

  private static func longDuration(seconds: UInt64) -> String {
    func padded(_ value: UInt64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    if seconds < 3600 { return "\(seconds / 60)m \(padded(seconds % 60))s" }
    if seconds < 86_400 { return "\(seconds / 3600)h \(padded(seconds % 3600 / 60))m" }
    return "\(seconds / 86_400)d \(padded(seconds % 86_400 / 3600))h"
  }
}
