// Where a series of runs changed for good: the last place that chance does not explain.

/// A place in a series after which the values are others.
public struct ChangePoint: Sendable, Equatable {
  /// Of the first value after the change.
  public var index: Int
  /// Medians of the values between the change before (or the beginning) and this one, and after it.
  public var before: Double
  public var after: Double
  /// That chance alone gives a place like this, see `last`.
  public var probability: Double

  /// Values on each side of a change. Chosen: less say little.
  static let fewest = 4
  /// With a probability below, a place is no chance.
  static let significance = 0.01

  /// How it is found, for people.
  public static let method =
    "change: the place that Mann-Whitney's U test tells apart best, at least \(fewest) runs on "
    + "each side, p times the places tried < 0.01, median more than 5 % and the metric's floor away"

  /// The last change of a series; nil where there is none.
  ///
  /// Of all places with enough values on both sides, the one where the two sides differ most by the U
  /// test. Its probability is multiplied by how many places there were (Bonferroni), as who tries
  /// many finds something. If it counts, the same is asked of what comes after it.
  ///
  /// - Parameters:
  ///   - values: oldest first.
  ///   - floor: a smaller change does not matter, nor does one of less than 5 %.
  public static func last(_ values: [Double], floor: Double = 0) -> ChangePoint? {
    var found: ChangePoint?
    var start = 0
    while let next = clearest(Array(values[start...]), floor: floor) {
      start += next.index
      found = next
      found?.index = start
    }
    return found
  }

  private static func clearest(_ values: [Double], floor: Double) -> ChangePoint? {
    let places = values.count - 2 * fewest + 1
    guard places > 0 else { return nil }
    let place = MannWhitney.clearestSplit(values, fewest: fewest)
    let (left, right) = (Array(values[..<place]), Array(values[place...]))
    let probability = min(1, MannWhitney.probability(left, right) * Double(places))
    // Neither side is empty.
    guard probability < significance, let before = RunStatistics.median(left),
      let after = RunStatistics.median(right),
      abs(after - before) > max(floor, abs(before) * ComparisonGates().relative)
    else { return nil }
    return ChangePoint(index: place, before: before, after: after, probability: probability)
  }
}

extension MannWhitney {
  /// The first place from which on the values differ most from those before, by U in units of its
  /// standard deviation; each side has at least `fewest` values, and there are twice as many.
  static func clearestSplit(_ values: [Double], fewest: Int) -> Int {
    let ranks = values.map { value in
      Double(values.count { $0 < value }) + Double(values.count { $0 == value } + 1) / 2
    }
    let size = Double(values.count)
    var sum = ranks[..<fewest].reduce(0, +)
    var best = (place: fewest, distance: -1.0)
    for place in fewest...(values.count - fewest) {
      let count = Double(place)
      let spread = (count * (size - count)).squareRoot()
      let distance = abs(sum - count * (size + 1) / 2) / spread
      // Equal but for rounding: the first one.
      if distance > best.distance + 1e-9 { best = (place, distance) }
      sum += ranks[place]
    }
    return best.place
  }
}
