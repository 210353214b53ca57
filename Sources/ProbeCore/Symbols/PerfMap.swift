// Names of code that a JIT made: /tmp/perf-<pid>.map, written by the process itself (node, Java, .NET,
// Python 3.12). Anybody can put a file there, of any size.

/// A perf map: lines of `START SIZE name`, hexadecimal, later ones replacing earlier ones.
public final class PerfMap {
  private let file: SymbolFile
  /// The file is longer than the limit: names that stand only in front of what was read are missing.
  public let isCut: Bool
  private let start: Int
  private var known: BoundedCache<UInt64, [UInt8]?>
  /// What is known is true of the lines before this offset.
  private var knownEnd: Int

  /// Only the newest part of a longer file is read: 64 MiB are a million functions (chosen). Measured:
  /// Docs/symbols.md.
  public static let sizeLimit = 64 << 20
  private static let nameLimit = 1024
  private static let chunk = 256 << 10
  /// Hits in one pass; only a hostile map has lines that cover many addresses (chosen).
  private static let hitLimit = 4 << 20

  /// Takes a map over that was opened.
  ///
  /// - Parameters:
  ///   - ownedBy: user ids that may own it: the target's. root may in any case.
  ///   - known: the same file as it was opened before, when it was shorter.
  /// - Returns: nil if somebody else owns it.
  public init?(
    _ file: SymbolFile, ownedBy users: Set<UInt32>, sizeLimit: Int = PerfMap.sizeLimit,
    known: PerfMap? = nil
  ) {
    guard file.owner == 0 || users.contains(file.owner) else { return nil }
    self.file = file
    isCut = file.size > sizeLimit
    start = max(file.size - sizeLimit, 0)
    self.known = known?.known ?? BoundedCache(limit: 4096)
    knownEnd = known?.knownEnd ?? start
  }

  /// The map of a process; nil if it has none, or it is a link, no regular file, or somebody else's.
  ///
  /// - Parameters:
  ///   - folder: its folder in /proc.
  ///   - innerPID: its number in its own namespace, which it writes into the name (NSpid in status).
  ///   - user: the target's user id.
  ///   - known: the map as it was opened before; given back if it has not changed. If it has grown,
  ///     what was found is kept: JITs append.
  public static func open(
    folder: String, innerPID: Int32, user: UInt32, known: PerfMap? = nil
  ) -> PerfMap? {
    let file = try? SymbolFile.open(
      "/tmp/perf-\(innerPID).map", root: "\(folder)/root", followsLinks: false)
    if let known, let file, known.file.size == file.size, known.file.modified == file.modified {
      return known
    }
    let grown = known.flatMap { known in
      file.map { $0.inode == known.file.inode && $0.size > known.file.size } == true ? known : nil
    }
    return file.flatMap { PerfMap($0, ownedBy: [user], known: grown) }
  }

  /// The names at these addresses of the process. A map that grew since it was opened has to be
  /// opened again.
  func find(_ addresses: Set<UInt64>) -> [UInt64: [UInt8]] {
    if knownEnd < file.size, known.count > 0 {
      // Code that was there before may have been replaced.
      search(known.keys.sorted(), from: max(knownEnd, start), isNewer: true)
    }
    var result: [UInt64: [UInt8]] = [:]
    var open: [UInt64] = []
    for address in addresses {
      if let name = known[address] { result[address] = name } else { open.append(address) }
    }
    if open.isEmpty { return result }
    open.sort()
    for (address, name) in zip(open, search(open, from: start, isNewer: false)) {
      if let name { result[address] = name }
    }
    return result
  }

  /// Reads all lines from an offset on, and keeps what they say of the addresses.
  ///
  /// - Parameter isNewer: an address without a line keeps the name that it has.
  @discardableResult
  private func search(_ addresses: [UInt64], from: Int, isNewer: Bool) -> [[UInt8]?] {
    var found = [[UInt8]?](repeating: nil, count: addresses.count)
    var hits = 0
    knownEnd = forEachLine(from: from) { line in
      guard let (start, size, name) = Self.parse(line), start <= addresses[addresses.count - 1]
      else { return }
      var index = Self.firstIndex(addresses, notBelow: start)
      while index < addresses.count, addresses[index] - start < size, hits < Self.hitLimit {
        found[index] = Array(name.prefix(Self.nameLimit))
        hits += 1
        index += 1
      }
    }
    for (address, name) in zip(addresses, found) where name != nil || !isNewer {
      known[address] = name
    }
    return found
  }

  private static func firstIndex(_ addresses: [UInt64], notBelow value: UInt64) -> Int {
    var low = 0
    var high = addresses.count
    while low < high {
      let middle = (low + high) / 2
      if addresses[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// - Returns: where the last whole line ends: what comes behind it may be half a line.
  private func forEachLine(from first: Int, _ body: (ArraySlice<UInt8>) -> Void) -> Int {
    var at = first
    var end = first
    // The first line may be the rest of one.
    var isSkipping = first > 0 && first == start
    var rest: [UInt8] = []
    while at < file.size {
      let bytes = file.read(at: UInt64(at), count: Self.chunk)
      if bytes.isEmpty { break }
      at += bytes.count
      rest.append(contentsOf: bytes)
      var lineStart = rest.startIndex
      while let newline = rest[lineStart...].firstIndex(of: 0x0a) {
        if !isSkipping { body(rest[lineStart..<newline]) }
        isSkipping = false
        lineStart = newline + 1
      }
      rest.removeFirst(lineStart)
      if lineStart > 0 { end = at - rest.count }
      // No line of a map is as long as that: what is left of it is no line.
      if rest.count > Self.chunk {
        rest.removeAll(keepingCapacity: true)
        isSkipping = true
      }
    }
    if !isSkipping, !rest.isEmpty { body(rest[...]) }
    return end
  }

  /// One line; nil if it is none.
  static func parse(
    _ line: ArraySlice<UInt8>
  ) -> (start: UInt64, size: UInt64, name: ArraySlice<UInt8>)? {
    var at = line.startIndex
    func hex() -> UInt64? {
      if line[at...].starts(with: [0x30, 0x78]) { at += 2 }
      var value: UInt64 = 0
      let first = at
      while at < line.endIndex {
        let byte = line[at]
        let digit: UInt8
        switch byte {
        case 0x30...0x39: digit = byte - 0x30
        case 0x61...0x66: digit = byte - 0x57
        case 0x41...0x46: digit = byte - 0x37
        default:
          guard byte == 0x20, at > first else { return nil }
          at += 1
          return value
        }
        guard value >> 60 == 0 else { return nil }
        value = value << 4 | UInt64(digit)
        at += 1
      }
      return nil
    }
    guard let start = hex(), let size = hex(), at < line.endIndex else { return nil }
    return (start, size, line[at...])
  }
}
