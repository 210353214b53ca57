// Waits as folded lines, as flame-graph tools read them: `thread;functions...;[call object] us`.

/// Off-CPU time of the watched threads; and where parked threads of an alarm were.
enum WaitFolded {
  static func render(_ summary: Summary) -> String {
    var lines: [String] = []
    for profile in summary.waits {
      for row in profile.rows {
        let leaf = "[\(row.call)" + (row.object.map { " \($0)" } ?? "") + "]"
        var rest = row.time
        for stack in row.stacks {
          let time = min(rest, stack.time)
          rest -= time
          let cut = stack.truncated == nil ? [] : ["[truncated]"]
          lines.append(line([profile.name] + cut + functions(stack.frames) + [leaf], time))
        }
        // What no stack was taken of.
        guard rest > .zero else { continue }
        lines.append(
          line(
            [profile.name] + (row.stacks.isEmpty ? [row.kind] : ["[no stack]"]) + [leaf], rest))
      }
      if profile.unseen >= .microseconds(1) {
        lines.append(line([profile.name, "[not seen]"], profile.unseen))
      }
    }
    return lines.sorted().joined()
  }

  /// `alarm;outermost;...;innermost threads`.
  static func renderThreads(_ summary: Summary) -> String {
    var lines: [String] = []
    for (index, alarm) in summary.threads.alarms.enumerated() {
      for group in alarm.parked {
        var parts = ["alarm \(index + 1)"]
        if group.truncated != nil { parts.append("[truncated]") }
        parts += functions(group.frames)
        if let call = group.call { parts.append("[\(call)]") }
        lines.append(parts.map(part).joined(separator: ";") + " \(group.count)\n")
      }
    }
    return lines.sorted().joined()
  }

  /// Outermost first.
  private static func functions(_ frames: [Summary.Frame]) -> [String] {
    frames.reversed().map { frame in
      frame.function ?? "[\(StackTitle.fileName(frame.module ?? "?")) \(frame.offset ?? "?")]"
    }
  }

  private static func line(_ parts: [String], _ time: Nanoseconds) -> String {
    parts.map(part).joined(separator: ";") + " \(time.rawValue / 1000)\n"
  }

  /// What stands between two semicolons.
  private static func part(_ text: String) -> String {
    String(SafeText.terminal(text.isEmpty ? "?" : text).map { $0 == ";" ? ":" : $0 })
  }
}
