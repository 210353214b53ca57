// Names as people wrote them, out of the names that linkers see: Swift, C++ and Rust. D, Go and C names
// stay as they are.

/// Demangles in batches, each in one run of the isolated helper, and remembers.
final class Demangler {
  /// Longest name shown, in bytes; template arguments give way first, then it is cut (chosen).
  static let limit = 2000
  /// What stands where a name was cut.
  static let cutMark = "…"

  private var known: BoundedCache<[UInt8], String>
  /// CPU of the helper so far.
  private(set) var helperCPU = Nanoseconds.zero

  /// Names that are kept (chosen: those of a large program's stacks; 8 MB if all are of full length).
  private static let nameLimit = 4096
  /// For one run of the helper: a thousand names take 10 ms; only hostile ones take longer.
  private static let timeLimit = Nanoseconds(200_000_000)
  /// Runs for one batch: each name that crashes the helper costs one.
  private static let runLimit = 3

  init() { known = BoundedCache(limit: Self.nameLimit) }

  /// The names as text; what is no mangled name, or could not be demangled, as it is.
  func demangle(_ names: Set<[UInt8]>) -> [[UInt8]: String] {
    var result: [[UInt8]: String] = [:]
    var open: [(name: [UInt8], plain: [UInt8])] = []
    for name in names {
      if let text = known[name] {
        result[name] = text
        continue
      }
      let plain = CloneSuffix.removed(from: name)
      if Self.isMangled(plain) {
        open.append((name, plain))
      } else {
        result[name] = Self.shown(plain)
      }
    }
    // A fixed order, so that the same batch ends in the same names.
    open.sort { $0.name.lexicographicallyPrecedes($1.name) }
    var (texts, reached) = run(open.map(\.plain))
    for (index, (name, plain)) in open.enumerated() {
      let text = texts.removeValue(forKey: index) ?? Self.shown(plain)
      result[name] = text
      // What there was no time for may be asked again.
      if index < reached { known[name] = text }
    }
    return result
  }

  /// - Returns: the texts by index, and up to which index they are all that there will ever be.
  private func run(_ names: [[UInt8]]) -> (texts: [Int: String], reached: Int) {
    var texts: [Int: String] = [:]
    var first = 0
    for _ in 0..<Self.runLimit where first < names.count {
      let deadline = Clock.now() + Self.timeLimit
      // Without a helper (no memory, no process left) names stay mangled.
      guard
        let outcome = try? SymbolHelper.demangle(
          Array(names[first...]), limit: Self.limit, until: deadline)
      else { break }
      helperCPU += outcome.cpu
      var next = first
      for answer in outcome.answers where answer.kind == .name {
        let index = first + answer.index
        guard names.indices.contains(index) else { continue }
        next = index + 1
        guard !answer.name.isEmpty else { continue }
        texts[index] = Self.text(answer, isSwift: names[index].first != UInt8(ascii: "_"))
      }
      if outcome.isComplete { return (texts, names.count) }
      // It ended at the name after the last that it told: that one is left out, unless the helper
      // hardly ran, on a machine with better things to do.
      let hasHardlyRun = outcome.isStopped && outcome.cpu < Self.timeLimit / 4
      first = hasHardlyRun ? next : next + 1
    }
    return (texts, min(first, names.count))
  }

  /// A demangled answer of the helper as it is shown.
  static func text(_ answer: HelperAnswer, isSwift: Bool) -> String {
    var text = SafeText.decode(trimmed(answer.name))
    if isSwift { text = SwiftNames.simplified(text) }
    return answer.isCut ? text + cutMark : text
  }

  /// A name that is not demangled as it is shown.
  private static func shown(_ name: [UInt8]) -> String {
    name.count > limit
      ? SafeText.decode(trimmed(Array(name.prefix(limit)))) + cutMark : SafeText.decode(name)
  }

  /// Without the beginning of a UTF-8 sequence at the end, which a cut may leave.
  private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= limit else { return bytes }
    let tail = bytes.suffix(4).reversed().prefix { $0 & 0xc0 == 0x80 }.count
    guard tail < 4, bytes.count > tail, bytes[bytes.count - tail - 1] >= 0xc0 else { return bytes }
    let lead = bytes[bytes.count - tail - 1]
    let wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1
    return tail == wanted ? bytes : Array(bytes.dropLast(tail + 1))
  }

  static func isMangled(_ name: [UInt8]) -> Bool {
    // A longer one was cut when it was read.
    guard name.count < 8 << 10 else { return false }
    return ["_Z", "_R", "$s", "$S", "$e", "_$s", "_$S", "_T0"].contains {
      name.starts(with: $0.utf8)
    }
  }
}

/// Copies that the compiler makes of a function (`.constprop.0`, `.isra.3`, `.part.0`, `.cold`,
/// `.llvm.123`) carry the function's name: their suffixes change with each build and say nothing of the
/// source. They are left out, so that names are the same in each build.
enum CloneSuffix {
  private static let words = [
    "constprop", "isra", "part", "cold", "llvm", "lto_priv", "localalias", "clone", "warm", "hot",
    "unlikely", "exit", "startup", "__uniq",
  ].map { Array($0.utf8) }

  static func removed(from name: [UInt8]) -> [UInt8] {
    var rest = name[...]
    while let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > rest.startIndex {
      var word = rest[(dot + 1)...]
      var start = dot
      while !word.isEmpty, word.allSatisfy({ (0x30...0x39).contains($0) }),
        let before = rest[..<start].lastIndex(of: UInt8(ascii: "."))
      {
        word = rest[(before + 1)..<start]
        start = before
      }
      guard start > rest.startIndex, words.contains(where: { word.elementsEqual($0) }) else {
        break
      }
      rest = rest[..<start]
    }
    return Array(rest)
  }
}
