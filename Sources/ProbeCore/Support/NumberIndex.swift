// Thread numbers to places in an array. Not a Dictionary: making that type at run time searches all of
// the program's conformances, which stood out in the profile of a short run, and this is looked up per
// thread and tick.

/// A map from numbers above zero to places from zero on; open addressing, linear probing.
struct NumberIndex: Sendable, Equatable {
  /// 0 is a free place.
  private var keys: [Int32] = []
  private var places: [Int] = []
  private(set) var count = 0

  init() {}

  subscript(key: Int32) -> Int? {
    get {
      guard !keys.isEmpty, key > 0 else { return nil }
      var at = home(key)
      while keys[at] != 0 {
        if keys[at] == key { return places[at] }
        at = (at + 1) & (keys.count - 1)
      }
      return nil
    }
    set {
      guard key > 0 else { return }
      if let newValue { insert(key, newValue) } else { remove(key) }
    }
  }

  /// Takes the entry out.
  mutating func take(_ key: Int32) -> Int? {
    let place = self[key]
    if place != nil { remove(key) }
    return place
  }

  mutating func removeAll() {
    for at in keys.indices { keys[at] = 0 }
    count = 0
  }

  /// Neighbouring numbers are spread apart; the size is a power of two.
  private func home(_ key: Int32) -> Int {
    let mixed = UInt32(bitPattern: key) &* 0x9E37_79B1
    return Int(mixed >> 8) & (keys.count - 1)
  }

  private mutating func insert(_ key: Int32, _ place: Int) {
    if (count + 1) * 2 > keys.count { grow() }
    var at = home(key)
    while keys[at] != 0, keys[at] != key { at = (at + 1) & (keys.count - 1) }
    if keys[at] == 0 { count += 1 }
    keys[at] = key
    places[at] = place
  }

  private mutating func grow() {
    let (oldKeys, oldPlaces) = (keys, places)
    let size = max(16, keys.count * 2)
    keys = Array(repeating: 0, count: size)
    places = Array(repeating: 0, count: size)
    count = 0
    for (key, place) in zip(oldKeys, oldPlaces) where key != 0 { insert(key, place) }
  }

  private mutating func remove(_ key: Int32) {
    guard !keys.isEmpty else { return }
    let mask = keys.count - 1
    var hole = home(key)
    while keys[hole] != key {
      if keys[hole] == 0 { return }
      hole = (hole + 1) & mask
    }
    count -= 1
    // Entries behind the hole move up, unless that would take them before their own home.
    var at = hole
    while true {
      keys[hole] = 0
      repeat {
        at = (at + 1) & mask
        if keys[at] == 0 { return }
      } while ((at - home(keys[at])) & mask) < ((at - hole) & mask)
      keys[hole] = keys[at]
      places[hole] = places[at]
      hole = at
    }
  }

  static func == (left: Self, right: Self) -> Bool {
    left.count == right.count
      && zip(left.keys, left.places).allSatisfy { $0 == 0 || right[$0] == $1 }
  }
}
