// "Did you mean": the known word that is closest to what was typed.
// Used for options, commands, formats and later metric names.

/// Finds the word that was probably meant.
public enum Suggestion {
  /// The best of `candidates` for `word`, or nil when none is close enough to be helpful.
  ///
  /// Close means: one edit for short words, a third of the letters for long ones, or `word` is the
  /// beginning (three letters or more) of exactly one candidate.
  public static func nearest(to word: String, in candidates: [String]) -> String? {
    let typed = word.lowercased()
    // Longer than any name of ours: the table would be large and the answer no.
    guard !typed.isEmpty, typed.utf8.count <= 64 else { return nil }
    var best: (word: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(typed, candidate.lowercased())
      if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    if let best, best.distance <= max(1, typed.count / 3), best.distance < best.word.count {
      return best.word
    }
    let completions = candidates.filter { $0.lowercased().hasPrefix(typed) }
    return typed.count >= 3 && completions.count == 1 ? completions[0] : nil
  }

  /// The number of insertions, deletions, replacements and swaps of neighbours between two words
  /// (optimal string alignment).
  public static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in 1...left.count {
      var current = [row] + [Int](repeating: 0, count: right.count)
      for column in 1...right.count {
        let isSame = left[row - 1] == right[column - 1]
        current[column] = min(
          last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2],
          left[row - 2] == right[column - 1]
        {
          current[column] = min(current[column], beforeLast[column - 2] + 1)
        }
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
