// A series of numbers as one row of bars, for the live view and the report.

/// Draws a series in one row.
public enum Sparkline {
  /// The values as bars, oldest first, in at most `width` columns.
  ///
  /// More values than columns: each column shows the largest of its share, so a peak is never lost.
  /// The bars span the values' range, but at least a tenth of the largest value: noise stays flat,
  /// a leak shows. A value that was not measured is a blank.
  public static func render(_ values: [Double?], width: Int, isUnicode: Bool) -> String {
    guard width > 0, !values.isEmpty else { return "" }
    let columns = resample(values, to: min(width, values.count))
    let known = columns.compactMap { $0 }
    guard let smallest = known.min(), let largest = known.max() else {
      return String(repeating: " ", count: columns.count)
    }
    let bars = Array(isUnicode ? "▁▂▃▄▅▆▇█" : "_.:-=+*#")
    let span = max(largest - smallest, abs(largest) * 0.1)
    let floor = largest - span
    return String(
      columns.map { value -> Character in
        guard let value else { return " " }
        guard span > 0 else { return bars[0] }
        let step = ((value - floor) / span * Double(bars.count - 1)).rounded()
        return bars[max(0, min(bars.count - 1, Int(step)))]
      })
  }

  /// Only the bars' proportions matter, so values are quartered: no difference of two can overflow.
  private static func resample(_ values: [Double?], to count: Int) -> [Double?] {
    (0..<count).map { column in
      let start = column * values.count / count
      let end = max(start + 1, (column + 1) * values.count / count)
      return values[start..<end].compactMap { $0.flatMap { $0.isFinite ? $0 / 4 : nil } }.max()
    }
  }
}
