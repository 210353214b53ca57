// Dumps as folded lines, as flame-graph tools read them: `thread;outermost;...;innermost count`.

/// Counts equal stacks of one dump or of several.
public struct DumpFolded {
  private var counts: [String: Int] = [:]

  public init() {}

  /// Counts each thread that has a stack.
  public mutating func add(_ dump: ThreadDump) {
    for thread in dump.threads {
      guard let index = thread.stack else { continue }
      let stack = dump.stacks[index]
      var parts = [Self.part(thread.name)]
      if stack.truncation != nil { parts.append("[truncated]") }
      for frame in stack.frames.reversed() { parts.append(Self.name(of: frame)) }
      counts[parts.joined(separator: ";"), default: 0] += 1
    }
  }

  /// The lines, in the order of the alphabet; ends with a newline.
  public func render() -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
  }

  private static func name(of frame: Summary.Frame) -> String {
    if let function = frame.function { return part(function) }
    let module = frame.module ?? "?"
    let last = module[(module.lastIndex(of: "/").map(module.index(after:)) ?? module.startIndex)...]
    return part("[\(last) \(frame.offset ?? "?")]")
  }

  /// What stands between two semicolons.
  private static func part(_ text: String) -> String {
    String(SafeText.terminal(text).map { $0 == ";" ? ":" : $0 })
  }
}
