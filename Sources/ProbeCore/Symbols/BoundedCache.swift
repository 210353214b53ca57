// A dictionary that forgets what was not used for longest, so that its size stays bounded.

/// Values by key, at most `limit` of them.
struct BoundedCache<Key: Hashable, Value> {
  private var entries: [Key: (value: Value, used: UInt64)] = [:]
  private var clock: UInt64 = 0
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { entries.count }
  var keys: [Key] { Array(entries.keys) }

  /// The value, which counts as used now.
  subscript(key: Key) -> Value? {
    mutating get {
      guard let index = entries.index(forKey: key) else { return nil }
      clock += 1
      entries.values[index].used = clock
      return entries.values[index].value
    }
    set {
      clock += 1
      guard let newValue else {
        entries[key] = nil
        return
      }
      if entries.count >= limit, entries[key] == nil { makeRoom() }
      entries[key] = (newValue, clock)
    }
  }

  /// Drops the older half, so that the search for what is old is rare.
  private mutating func makeRoom() {
    let uses = entries.values.map(\.used).sorted()
    let middle = uses[uses.count / 2]
    entries = entries.filter { $0.value.used > middle }
  }
}
