// Waits as folded lines, as flame-graph tools read them: `thread;kind;call;object microseconds`.

/// Off-CPU time of the watched threads; and where parked threads of an alarm were.
enum WaitFolded {
  static func render(_ summary: Summary) -> String {
    var lines: [String] = []
    for profile in summary.waits {
      for row in profile.rows {
        var parts = [profile.name, row.kind, row.call]
        if let object = row.object { parts.append(object) }
        lines.append(line(parts, row.time))
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
        parts += group.frames.reversed().map { frame in
          frame.function ?? "[\(StackTitle.fileName(frame.module ?? "?")) \(frame.offset ?? "?")]"
        }
        if let call = group.call { parts.append("[\(call)]") }
        lines.append(parts.map(part).joined(separator: ";") + " \(group.count)\n")
      }
    }
    return lines.sorted().joined()
  }

  private static func line(_ parts: [String], _ time: Nanoseconds) -> String {
    parts.map(part).joined(separator: ";") + " \(time.rawValue / 1000)\n"
  }

  /// What stands between two semicolons.
  private static func part(_ text: String) -> String {
    String(SafeText.terminal(text.isEmpty ? "?" : text).map { $0 == ";" ? ":" : $0 })
  }
}
