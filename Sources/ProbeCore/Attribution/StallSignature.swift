// The stable name of a stall: equal stalls get the same one, on another machine, in another run, in
// another build. Made of function names only; never of addresses, times, numbers or paths.

/// What equal stalls have in common.
public struct StallSignature: Sendable, Equatable {
  /// `update_cache-3fa4c1d2`: the innermost deciding function, and a hash of all that decide.
  /// Without a stack `no-stack-lock`. No blanks, and nothing that a pattern would take for a star.
  public var text: String
  /// For people.
  public var title: String

  /// So many of the program's own functions decide. Chosen: with fewer, helpers used everywhere make
  /// one stall of many; with more, a caller that is inlined makes two of one.
  static let frames = 3

  /// - Parameters:
  ///   - stacks: of the stall, with the time that each stands for.
  ///   - parts: where its time went; decides only where there is no stack with a name.
  public init(_ stacks: [Summary.Stack], parts: Summary.CauseParts) {
    let path =
      Self.path(stacks, ofOwn: true) ?? Self.path(stacks, ofOwn: false)
      ?? Self.nameless(stacks).map { [$0] }
    guard let path, let first = path.first else {
      let kind = Self.kind(parts)
      text = "no-stack-\(kind.word)"
      title = kind.title
      return
    }
    let deciding = path.prefix(Self.frames)
    let named = deciding.first { !Self.isNameless($0) }
    text = Self.slug(named ?? first) + "-" + Self.hash(deciding.joined(separator: "\n"))
    title = deciding.joined(separator: " < ")
  }

  // MARK: Which functions

  /// The functions of the heaviest stack, innermost first; from where its stacks differ so much that none
  /// has half of the time, only what they have in common.
  private static func path(_ stacks: [Summary.Stack], ofOwn: Bool) -> [String]? {
    var all: [(keys: [String], weight: Double)] = []
    for stack in stacks {
      let keys = keys(of: stack.frames, ofOwn: ofOwn)
      // Two captures at the very end of a stall may stand for no time.
      // Without names all that a compiler made at run time would be one and the same.
      if keys.contains(where: { !isNameless($0) }) {
        all.append((keys.reversed(), stack.weight.inSeconds + 1e-9))
      }
    }
    let total = all.reduce(0) { $0 + $1.weight }
    guard total > 0 else { return nil }
    var common: [String] = []
    var rest = all
    while true {
      var weights: [String: Double] = [:]
      for entry in rest where entry.keys.count > common.count {
        weights[entry.keys[common.count], default: 0] += entry.weight
      }
      guard let next = weights.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
        next.value * 2 >= total
      else { break }
      rest.removeAll { $0.keys.count <= common.count || $0.keys[common.count] != next.key }
      common.append(next.key)
    }
    // Nothing but `main` in common says nothing.
    guard common.count < 2 else { return common.reversed() }
    var heaviest: [[String]: Double] = [:]
    for entry in all { heaviest[entry.keys, default: 0] += entry.weight }
    return heaviest.max {
      ($0.value, $1.key.joined(separator: "\n")) < ($1.value, $0.key.joined(separator: "\n"))
    }?.key.reversed()
  }

  /// Names of the functions, innermost first. Inlined ones are left out: they are known only where
  /// there was time to read lines.
  private static func keys(of frames: [Summary.Frame], ofOwn: Bool) -> [String] {
    var keys: [String] = []
    for frame in frames where !frame.inlined && (frame.inApp || !ofOwn) {
      let key: String
      if let function = frame.function {
        key = FunctionKey.of(function)
        // With `ofOwn` false all is the system's, and that is then what there is to tell.
        if FunctionKey.prologue.contains(key) || (ofOwn && FunctionKey.isGlue(key)) { continue }
      } else {
        guard ofOwn else { continue }
        key = nameless(frame)
      }
      if keys.last != key { keys.append(key) }
    }
    return withoutCycles(keys)
  }

  private static let (codeWithoutName, withoutNames) = ("code without a name", " without names")

  /// Addresses change with every build.
  private static func nameless(_ frame: Summary.Frame) -> String {
    let module = frame.module.map(StackTitle.fileName) ?? "?"
    return module.hasPrefix("[") ? codeWithoutName : module + withoutNames
  }

  private static func isNameless(_ key: String) -> Bool {
    key == codeWithoutName || key.hasSuffix(withoutNames)
  }

  /// What there is to tell where no function at all has a name.
  private static func nameless(_ stacks: [Summary.Stack]) -> String? {
    let heaviest = stacks.filter { $0.frames.contains { $0.inApp } }.max { $0.weight < $1.weight }
    return heaviest?.frames.first { $0.inApp }.map(nameless)
  }

  /// Recursion, direct or over other functions, is where it was entered: the outermost function of it.
  private static func withoutCycles(_ keys: [String]) -> [String] {
    var result: [String] = []
    var index = 0
    while index < keys.count {
      // The last repetition of anything that stands between this one and it.
      var end = index
      var look = index
      while look <= end {
        if let last = keys.lastIndex(of: keys[look]), last > end { end = last }
        look += 1
      }
      result.append(keys[end])
      index = end + 1
    }
    return result
  }

  // MARK: Text

  private static func slug(_ key: String) -> String {
    let cut = key.prefix(40).map { character in
      let isPlain =
        character.isASCII
        && (character.isLetter || character.isNumber || "_.:$~".contains(character))
      return isPlain ? character : "_"
    }
    return String(cut)
  }

  /// FNV-1a, folded to 32 bits.
  private static func hash(_ text: String) -> String {
    var value: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let folded = UInt32(truncatingIfNeeded: value ^ value >> 32)
    let digits = String(folded, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  private static func kind(_ parts: Summary.CauseParts) -> (word: String, title: String) {
    let named: [(time: Nanoseconds, word: String, title: String)] = [
      (parts.cpuUser + parts.cpuSystem, "cpu", "computing"),
      (parts.runDelay + parts.throttled, "no-cpu", "ready to run without a CPU"),
      (parts.lock, "lock", "waiting for a lock"), (parts.disk, "disk", "waiting for a file"),
      (parts.pipe, "pipe", "waiting for a pipe"), (parts.socket, "socket", "waiting for a socket"),
      (parts.sleep, "sleep", "sleeping"), (parts.child, "child", "waiting for a child process"),
      (parts.pageFault, "page", "waiting for a page"), (parts.stopped, "stopped", "stopped"),
      (parts.otherWait, "wait", "waiting in the kernel"),
      (parts.unknown, "unknown", "not measured"),
    ]
    var main = named[named.count - 1]
    for entry in named.reversed() where entry.time > .zero && entry.time >= main.time {
      main = entry
    }
    return (main.word, main.title + ", no stack")
  }
}

/// Which stalls do not count: patterns of signatures.
public struct IgnoredStalls: Sendable, Equatable {
  public var patterns: [String]

  public init(_ patterns: [String] = []) { self.patterns = patterns }

  public var isEmpty: Bool { patterns.isEmpty }

  /// Whether a stall of this signature does not count; `*` and `?` in a pattern stand for anything.
  public func contains(_ signature: String) -> Bool {
    patterns.contains { Glob($0).matches(signature) }
  }

  /// The lines of an allow-list: one signature each; what follows a `#` is a comment.
  public static func lines(of text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let signature = line.prefix { $0 != "#" }
      let start = signature.drop(while: \.isWhitespace)
      var word = String(start)
      while let last = word.last, last.isWhitespace { word.removeLast() }
      return word.isEmpty ? nil : word
    }
  }
}
