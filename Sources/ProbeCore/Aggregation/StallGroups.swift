// Equal stalls as one: a user fixes causes, not occurrences.

/// Puts stalls with the same signature together.
enum StallGroups {
  /// - Returns: the stalls with their group's index, in their order, and the groups, heaviest first.
  static func grouped(
    _ stalls: [Summary.Stall]
  ) -> (stalls: [Summary.Stall], groups: [Summary.StallGroup]) {
    var members: [String: [Summary.Stall]] = [:]
    for stall in stalls {
      if let signature = stall.signature { members[signature, default: []].append(stall) }
    }
    var groups = members.compactMap { group($0.key, $0.value) }
    groups.sort { ($1.total, $0.first, $0.signature) < ($0.total, $1.first, $1.signature) }
    var places: [String: Int] = [:]
    for (place, group) in groups.enumerated() { places[group.signature] = place }
    let numbered = stalls.map { stall in
      var stall = stall
      stall.group = stall.signature.flatMap { places[$0] }
      return stall
    }
    return (numbered, groups)
  }

  /// - Parameter stalls: in order of start.
  private static func group(
    _ signature: String, _ stalls: [Summary.Stall]
  ) -> Summary.StallGroup? {
    guard let first = stalls.first, let last = stalls.last,
      let longest = stalls.max(by: { ($0.duration, $1.id) < ($1.duration, $0.id) })
    else { return nil }
    var parts = Summary.CauseParts()
    for stall in stalls {
      for field in Summary.CauseParts.fields {
        parts[keyPath: field] += stall.cause.parts[keyPath: field]
      }
    }
    return Summary.StallGroup(
      signature: signature,
      title: StallSignature(longest.stacks, parts: longest.cause.parts).title,
      count: stalls.count, total: stalls.reduce(.zero) { $0 + $1.duration },
      longest: longest.duration, level: longest.level, blame: longest.blame,
      stallIds: stalls.map(\.id),
      heaviestStack: longest.stacks.max { ($0.weight, $1.at) < ($1.weight, $0.at) },
      first: first.start, last: last.start, parts: parts, ignored: first.ignored)
  }
}
