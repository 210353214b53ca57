// A dump as text: one block a stack, with who is there, what they wait for, and a line a frame.
// Everything that comes from the process is escaped; only frames are cut, and only on a terminal.

public enum DumpText {
  /// The whole text; ends with a newline.
  ///
  /// - Parameter isCut: frames are made to fit the style's width, the function's name giving way; else
  ///   they are as long as they are, as all other lines always are.
  public static func render(_ dump: ThreadDump, style: TextStyle, isCut: Bool) -> String {
    let text = DumpLines(dump: dump, style: style, width: isCut ? max(60, style.width) : .max)
    return text.all().map { $0.rendered(width: .max, style: style) + "\n" }.joined()
  }
}

private struct DumpLines {
  let dump: ThreadDump
  let style: TextStyle
  let width: Int

  private func safe(_ text: String) -> String {
    DisplayText.safe(text, isUnicode: style.unicode)
  }

  private func time(_ value: Nanoseconds) -> String {
    Units.text(value, isUnicode: style.unicode)
  }

  func all() -> [StyledLine] {
    var lines = [title()]
    if let executable = dump.target.executable { lines.append(StyledLine(safe(executable), .dim)) }
    for group in groups() {
      lines.append(StyledLine())
      lines.append(head(group))
      for note in group.notes { lines.append(StyledLine("  (\(safe(note)))", .warning)) }
      if let stack = group.stack { lines += frames(dump.stacks[stack]) }
    }
    lines.append(StyledLine())
    for note in dump.notes { lines.append(StyledLine("note: \(safe(note))", .warning)) }
    lines.append(cost())
    return lines
  }

  private func title() -> StyledLine {
    var line = StyledLine("\(safe(dump.target.name)) (pid \(dump.target.pid))", .heading)
    let shown = dump.threads.count
    let all = Counted.text(dump.target.threads, "thread")
    line.append(shown < dump.target.threads ? ", \(shown) of \(all)" : ", \(all)")
    line.append(", \(dump.takenAt)", .dim)
    return line
  }

  // MARK: Who

  private struct Group {
    var threads: [DumpedThread]
    var stack: Int?
    var notes: [String]
  }

  /// One for each stack and for each reason to have none; main's first, then who runs, then the others.
  private func groups() -> [Group] {
    var byStack: [Int: Int] = [:]
    var byReason: [String: Int] = [:]
    var groups: [Group] = []
    for thread in dump.threads {
      let reason = thread.missing ?? "no stack"
      let known = thread.stack.map { byStack[$0] } ?? byReason["\(thread.state) \(reason)"]
      if let known {
        groups[known].threads.append(thread)
        continue
      }
      if let stack = thread.stack {
        byStack[stack] = groups.count
      } else {
        byReason["\(thread.state) \(reason)"] = groups.count
      }
      let note = thread.stack == nil ? "no stack: \(reason)" : thread.missing
      groups.append(
        Group(threads: [thread], stack: thread.stack, notes: note.map { [$0] } ?? []))
    }
    func rank(_ group: Group) -> Int {
      if group.threads[0].tid == dump.target.pid { return 0 }
      switch group.threads[0].state {
      case .running: return 1
      case .uninterruptible: return 2
      case .sleeping, .stopped, .traced, .frozen, .unknown: return 3
      case .ended: return 4
      }
    }
    return groups.enumerated()
      .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
  }

  private func head(_ group: Group) -> StyledLine {
    var line: StyledLine
    let first = group.threads[0]
    if group.threads.count == 1 {
      let main = first.tid == dump.target.pid ? " (main)" : ""
      line = StyledLine("thread \(first.tid) \(safe(first.name))\(main)", .heading)
    } else {
      line = StyledLine("\(group.threads.count) threads here: ", .heading)
      line.append(safe(DumpNames.text(of: group.threads.map(\.name))), .heading)
      line.append(" (\(DumpNames.ranges(of: group.threads.map(\.tid))))", .dim)
    }
    line.append(", ")
    line.append(Self.word(first.state), first.state == .running ? .good : .plain)
    let waits = group.threads.compactMap(\.wait)
    if let wait = waits.first {
      line.append(" in ")
      line.append(safe(DumpWaits.text(waits, wait, dump, isUnicode: style.unicode)))
    }
    return line
  }

  private static func word(_ state: DumpedThread.State) -> String {
    switch state {
    case .uninterruptible: "in uninterruptible sleep"
    case .unknown: "in an unknown state"
    case .stopped: "stopped by a signal"
    case .traced: "stopped by a debugger"
    case .running, .sleeping, .ended, .frozen: state.rawValue
    }
  }

  // MARK: Frames

  private struct Columns {
    var number: Int
    var module: Int
    var address: Int
  }

  /// Chosen; a longer module name is cut.
  private static let longestModule = 28

  private func frames(_ stack: ThreadDump.Stack) -> [StyledLine] {
    let shown = DumpRepeats.shorten(stack.frames)
    let columns = Columns(
      number: String(max(0, stack.frames.count - 1)).count,
      module: min(
        Self.longestModule,
        stack.frames.map { DisplayText.width(moduleName($0)) }.max() ?? 0),
      address: stack.frames.map { address($0).count }.max() ?? 0)
    var lines: [StyledLine] = []
    for item in shown {
      switch item {
      case .frame(let number): lines.append(frame(number, stack.frames[number], columns))
      case .repeated(let count, let times, let last):
        let what = count == 1 ? "this frame" : "these \(count) frames"
        lines.append(
          StyledLine("   ... \(what) \(Counted.text(times, "more time")), up to #\(last)", .dim))
      }
    }
    if let truncation = stack.truncation {
      lines.append(StyledLine("   ... \(Self.text(truncation, stack.frames.count))", .warning))
    }
    return lines
  }

  private func frame(
    _ number: Int, _ frame: Summary.Frame, _ columns: Columns
  ) -> StyledLine {
    let role: TextRole = frame.inApp ? .plain : .dim
    let module = DisplayText.cut(
      moduleName(frame), to: columns.module, isUnicode: style.unicode)
    let prefix =
      "  #" + DisplayText.pad("\(number)", to: columns.number) + (frame.inApp ? " * " : "   ")
      + DisplayText.pad(module, to: columns.module) + "  "
      + DisplayText.pad(address(frame), to: columns.address) + "  "
    var name = frame.function.map(safe) ?? "?"
    let offset = frame.functionOffset.map { " + 0x" + String($0, radix: 16) } ?? ""
    var place = ""
    if let file = frame.file {
      place = "  " + safe(file) + (frame.line.map { ":\($0)" } ?? "")
    }
    if width != .max {
      let room = width - DisplayText.width(prefix) - offset.count
      if DisplayText.width(name) + DisplayText.width(place) > room, let file = frame.file {
        let last = file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...]
        place = "  " + safe(String(last)) + (frame.line.map { ":\($0)" } ?? "")
      }
      name = DisplayText.cut(
        name, to: max(20, room - DisplayText.width(place)), isUnicode: style.unicode)
    }
    var line = StyledLine(prefix, role)
    line.append(name, frame.inApp ? .heading : .dim)
    line.append(offset, role)
    line.append(place, role)
    guard width != .max, line.width > width else { return line }
    // A narrow terminal: without the place.
    let fitting = DisplayText.cut(
      name, to: max(1, width - DisplayText.width(prefix) - offset.count), isUnicode: style.unicode)
    var short = StyledLine(prefix, role)
    short.append(fitting, frame.inApp ? .heading : .dim)
    short.append(offset, role)
    return short
  }

  private func moduleName(_ frame: Summary.Frame) -> String {
    guard let path = frame.module else { return "?" }
    let last = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
    return safe(String(last))
  }

  private func address(_ frame: Summary.Frame) -> String {
    frame.inlined ? "inlined" : frame.offset ?? ""
  }

  private static func text(_ truncation: StackTruncation, _ count: Int) -> String {
    switch truncation {
    case .noUnwindInfo: "the stack goes on, but nothing says how to leave this frame"
    case .unknownRegister: "the stack goes on, but to leave this frame takes a register"
    case .copyLimit: "the stack goes on beyond what was copied of it"
    case .frameLimit: "the stack goes on; only \(count) frames are looked at"
    case .noProgress: "from here on the stack is damaged"
    }
  }

  // MARK: Cost

  private func cost() -> StyledLine {
    let cost = dump.cost
    var text = "\(Counted.text(cost.withoutStop, "thread")) copied without a stop"
    if cost.stopped > 0 {
      text += ", \(cost.stopped) stopped (\(Counted.text(cost.stops, "stop")),"
      text += " longest \(time(cost.stopLongest)), in all \(time(cost.stopTotal)))"
    } else {
      text += ", none stopped"
    }
    text += "; captured in \(time(cost.captureTime)), \(time(cost.time)) with names"
    return StyledLine(text, .dim)
  }
}
