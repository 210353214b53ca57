// Numbers that stand for several: robust ones, as one run that the machine disturbed must not matter.

/// Order statistics.
enum RunStatistics {
  /// The middle value, or the mean of the two in the middle; nil for no values.
  static func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The median distance from the median (MAD); nil for no values.
  static func deviation(_ values: [Double]) -> Double? {
    guard let middle = median(values) else { return nil }
    return median(values.map { abs($0 - middle) })
  }

  /// Every metric of the catalogue over runs.
  static func all(_ runs: [Summary]) -> [Summary.Repeats.Statistics] {
    MetricCatalog.all.map { metric in
      let values = runs.map { metric.value(from: $0) }
      let known = values.compactMap { $0 }
      return Summary.Repeats.Statistics(
        metric: metric.key, unit: metric.unit.rawValue, median: median(known),
        deviation: deviation(known), min: known.min(), max: known.max(), values: values)
    }
  }

  /// The run whose value is nearest to that of them all; the first of equals, nil where none has one.
  static func nearest(_ values: [Double?], to value: Double?) -> Int? {
    guard let value else { return nil }
    var best: (index: Int, distance: Double)?
    for (index, one) in values.enumerated() {
      guard let distance = one.map({ abs($0 - value) }) else { continue }
      if best.map({ distance < $0.distance }) ?? true { best = (index, distance) }
    }
    return best?.index
  }
}
