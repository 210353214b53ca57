// Numbers of things, wherever text is made.

/// `1 thread`, `2 threads`.
enum Counted {
  static func text(_ count: Int, _ noun: String) -> String {
    let plural = noun.hasSuffix("s") ? noun + "es" : noun + "s"
    return Units.text(count: UInt64(max(0, count))) + " " + (count == 1 ? noun : plural)
  }
}
