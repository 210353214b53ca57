// Shell-like patterns for names: `*` for anything, `?` for one character.

/// A pattern that a whole name must match.
public struct Glob: Sendable, Equatable {
  private let pattern: [Character]

  public init(_ pattern: String) { self.pattern = Array(pattern) }

  /// Whether the whole name matches. Linear in time for any pattern.
  public func matches(_ name: String) -> Bool {
    let text = Array(name)
    var place = 0
    var at = 0
    // Where to go on when the last star has to take one character more.
    var retry: (place: Int, at: Int)?
    while at < text.count {
      if place < pattern.count, pattern[place] == "*" {
        retry = (place, at)
        place += 1
      } else if place < pattern.count, pattern[place] == "?" || pattern[place] == text[at] {
        place += 1
        at += 1
      } else if let last = retry {
        retry = (last.place, last.at + 1)
        place = last.place + 1
        at = last.at + 1
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "*" }
  }
}
