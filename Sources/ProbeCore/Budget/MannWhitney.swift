// Whether two groups of numbers differ, without assuming how they are distributed.

/// The Mann-Whitney U test, two-sided.
enum MannWhitney {
  /// Above this many values in all, the normal distribution is close enough.
  private static let exactUpTo = 40

  /// How likely the groups would lie this far apart or farther if both were the same; ties count half.
  ///
  /// Exact (all ways to divide the ranks are counted) for small groups.
  static func probability(_ left: [Double], _ right: [Double]) -> Double {
    guard !left.isEmpty, !right.isEmpty else { return 1 }
    let ranks = doubledRanks(left + right)
    let observed = ranks.prefix(left.count).reduce(0, +)
    let total = ranks.reduce(0, +)
    // Twice the expected sum of doubled ranks, so that all stays whole.
    let expected = total * left.count
    let distance = abs(observed * ranks.count - expected)
    if ranks.count > exactUpTo {
      return normal(ranks, left.count, Double(distance) / Double(ranks.count))
    }
    // ways[k][s]: how many subsets of k ranks have the sum s.
    var ways = Array(repeating: Array(repeating: 0.0, count: total + 1), count: left.count + 1)
    ways[0][0] = 1
    for rank in ranks {
      for size in stride(from: left.count, through: 1, by: -1) {
        for sum in stride(from: total, through: rank, by: -1) {
          ways[size][sum] += ways[size - 1][sum - rank]
        }
      }
    }
    let all = ways[left.count].reduce(0, +)
    var far = 0.0
    for (sum, count) in ways[left.count].enumerated()
    where abs(sum * ranks.count - expected) >= distance { far += count }
    return min(1, far / all)
  }

  /// Twice the middle rank of each value.
  private static func doubledRanks(_ values: [Double]) -> [Int] {
    values.map { value in
      let below = values.count { $0 < value }
      let same = values.count { $0 == value }
      return 2 * below + same + 1
    }
  }

  private static func normal(_ ranks: [Int], _ count: Int, _ distance: Double) -> Double {
    let size = Double(ranks.count)
    let mean = Double(ranks.reduce(0, +)) / size
    let spread = ranks.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / (size - 1)
    let deviation = (Double(count) * (size - Double(count)) / size * spread).squareRoot()
    guard deviation > 0 else { return 1 }
    return tail(distance / deviation)
  }

  /// Both tails of the normal distribution beyond `z` (Abramowitz and Stegun 7.1.26; to 1.5e-7).
  private static func tail(_ z: Double) -> Double {
    let x = z / 2.0.squareRoot()
    let t = 1 / (1 + 0.3275911 * x)
    let series =
      t
      * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return series * exponential(-x * x)
  }

  /// e^x for x <= 0, by halving the argument and a short series.
  private static func exponential(_ x: Double) -> Double {
    guard x > -700 else { return 0 }
    let small = x / 1024
    var result = 1 + small * (1 + small / 2 * (1 + small / 3 * (1 + small / 4)))
    for _ in 0..<10 { result *= result }
    return result
  }
}
