// The part of a text report that shows where stalled threads were: the heaviest stack of a stall, a tree
// where its stacks differ, a time line where it was long.

extension ReportSections {
  /// Stalls shown with their stacks: the longest ones. Chosen.
  static let stacksShown = 5
  private static let stackLines = 16
  private static let treeLines = 24
  /// Branches of less than this share are left out of a tree.
  private static let smallShare = 0.05
  /// Calls one after the other without a branch, shown whole; of more the ends. Chosen.
  private static let chainLines = 7

  static func stacks(_ summary: Summary, _ layout: inout ReportLayout) {
    let withStacks = summary.stalls.filter { !$0.stacks.isEmpty }
    let longest = withStacks.sorted { ($1.duration, $0.start) < ($0.duration, $1.start) }
    let shown = longest.prefix(stacksShown).sorted { ($0.start, $0.id) < ($1.start, $1.id) }
    var told: [[String]] = []
    for stall in shown {
      layout.blank()
      stallStacks(stall, &told, &layout)
    }
  }

  /// The function in which a stall spent most of its time; a mark where that is not known.
  static func place(of stall: Summary.Stall, isUnicode: Bool) -> String {
    let groups = StackGroup.groups(of: stall.stacks, isUnicode: isUnicode)
    guard let frame = groups.first.flatMap({ StackTitle.frame(of: $0.heaviest.frames) }) else {
      return ReportTable.notMeasured
    }
    return DisplayText.safe(StackTitle.text(frame), isUnicode: isUnicode)
  }

  private static func stallStacks(
    _ stall: Summary.Stall, _ told: inout [[String]], _ layout: inout ReportLayout
  ) {
    let isUnicode = layout.style.unicode
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    func time(_ value: Nanoseconds) -> String { Units.text(value, isUnicode: isUnicode) }
    let kind = stall.kind == StallKind.stall.rawValue ? "stall" : "stall (\(safe(stall.kind)))"
    var head = StyledLine("  \(kind) at \(time(stall.start)), \(time(stall.duration))", .heading)
    head.append(", \(safe(stall.thread)) (\(stall.tid))", .dim)
    layout.add(.line(head))

    let groups = StackGroup.groups(of: stall.stacks, isUnicode: isUnicode)
    guard let first = groups.first else { return }
    let keys = groups.map { $0.lines.map(\.key).joined(separator: "\n") }
    let count = Counted.text(stall.stacks.count, "stack")
    if told.contains(keys) {
      layout.add(.line(StyledLine("    \(count), as in an earlier stall", .dim)))
      return
    }
    told.append(keys)
    if groups.count == 1 {
      let what = stall.stacks.count == 1 ? "1 stack" : "\(count), all the same"
      layout.add(.line(StyledLine("    \(what), innermost function first", .dim)))
      stack(first, &layout)
      return
    }
    let share = Percent.text(first.weight, of: stall.duration)
    layout.add(
      .line(StyledLine("    \(share) of the time (\(first.count) of \(count))", .dim)))
    stack(first, &layout)
    layout.add(.line(StyledLine("    where the time went, outermost function first", .dim)))
    tree(StackTree(groups), of: stall.duration, &layout)
    if stall.duration >= StallLevel.severe.start { timeLine(stall, &layout) }
  }

  private static func stack(_ group: StackGroup, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    let mark = isUnicode ? "\u{2026}" : "..."
    let lines = group.lines
    // The innermost functions tell where it is, the outermost ones how it came there.
    let isLong = lines.count > stackLines
    let head = isLong ? lines.prefix(stackLines - 4) : lines[...]
    let tail = isLong ? lines.suffix(3) : []
    for line in head { add(line, &layout) }
    if isLong {
      let hidden = lines.count - head.count - tail.count
      layout.add(.line(StyledLine("      \(mark) \(hidden) more", .dim)))
    }
    for line in tail { add(line, &layout) }
    if let why = group.heaviest.truncated {
      layout.add(.line(StyledLine("      \(mark) ends here: \(why.words)", .dim)))
    }
  }

  private static func add(_ line: ShownFrame, _ layout: inout ReportLayout) {
    layout.add(.line(StyledLine("      " + line.text, line.isOwn ? .plain : .dim)))
  }

  private static func tree(
    _ tree: StackTree, of length: Nanoseconds, _ layout: inout ReportLayout
  ) {
    var rows: [TreeRow] = []
    func visit(_ node: StackTree, depth: Int, isBranch: Bool) {
      rows.append(
        TreeRow(
          share: isBranch ? Percent.text(node.weight, of: length) : "",
          count: isBranch ? "\(node.count)" : "", depth: depth, line: node.line))
      let large = node.children.filter {
        $0.weight.inSeconds >= smallShare * length.inSeconds
      }
      // A chain of calls stays in its column; where it divides, the branches go one in.
      let isForking = large.count > 1 || (large.count == 1 && large[0].count < node.count)
      for child in large { visit(child, depth: depth + (isForking ? 1 : 0), isBranch: isForking) }
    }
    let roots = tree.children.filter { $0.weight.inSeconds >= smallShare * length.inSeconds }
    for root in roots { visit(root, depth: 0, isBranch: true) }
    rows = shortened(rows, isUnicode: layout.style.unicode)
    let width = rows.map { DisplayText.width($0.share) }.max() ?? 0
    let countWidth = rows.map { $0.count.count }.max() ?? 0
    for row in rows.prefix(treeLines) {
      let share = DisplayText.pad(row.share, to: width, isRight: true)
      let count = DisplayText.pad(row.count, to: countWidth, isRight: true)
      var line = StyledLine("      \(share)  \(count)  ", .heading)
      line.append(
        String(repeating: "  ", count: row.depth) + row.line.text,
        row.line.isOwn ? .plain : .dim)
      layout.add(.line(line))
    }
    if rows.count > treeLines {
      layout.add(.line(StyledLine("      and \(rows.count - treeLines) more lines", .dim)))
    }
  }

  private struct TreeRow {
    var share: String
    var count: String
    var depth: Int
    var line: ShownFrame
  }

  /// The rows with the middles of long chains left out.
  private static func shortened(_ rows: [TreeRow], isUnicode: Bool) -> [TreeRow] {
    var result: [TreeRow] = []
    var start = 0
    while start < rows.count {
      var end = start + 1
      while end < rows.count, rows[end].share.isEmpty, rows[end].depth == rows[start].depth {
        end += 1
      }
      let chain = rows[start..<end]
      if chain.count > chainLines {
        let text = "\(isUnicode ? "\u{2026}" : "...") \(chain.count - chainLines + 1) more"
        result += chain.prefix(3)
        result.append(
          TreeRow(
            share: "", count: "", depth: rows[start].depth,
            line: ShownFrame(text: text, key: "", isOwn: false)))
        result += chain.suffix(chainLines - 4)
      } else {
        result += chain
      }
      start = end
    }
    return result
  }

  /// What it did one after the other; neighbours with the same name are one.
  private static func timeLine(_ stall: Summary.Stall, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    var parts: [(name: String, length: Nanoseconds)] = []
    for stack in stall.stacks.sorted(by: { $0.at < $1.at }) {
      let frame = StackTitle.frame(of: stack.frames)
      let name = frame.map { $0.function ?? StackTitle.text($0) } ?? "?"
      if parts.last?.name == name {
        parts[parts.count - 1].length += stack.weight
      } else {
        parts.append((name, stack.weight))
      }
    }
    guard parts.count > 1 else { return }
    let arrow = isUnicode ? " \u{2192} " : " -> "
    let text = parts.map { part in
      DisplayText.safe(part.name, isUnicode: isUnicode) + " "
        + Units.text(part.length, isUnicode: isUnicode)
    }.joined(separator: arrow)
    layout.add(.sentence(lead: "    in order: ", leadRole: .dim, text: text, role: .plain))
  }
}

extension StackTruncation {
  /// The reason for people.
  var words: String {
    switch self {
    case .noUnwindInfo: "the code there has no unwind information"
    case .unknownRegister: "more would have taken a stop that the program could notice"
    case .copyLimit: "the stack is longer than what is copied"
    case .frameLimit: "the stack has more frames than are kept"
    case .noProgress: "the stack is damaged, or changed meanwhile"
    }
  }
}

extension Percent {
  /// A share in whole percent; less than one is said as such.
  static func text(_ part: Nanoseconds, of whole: Nanoseconds) -> String {
    guard whole > .zero else { return "?" }
    let share = of(part, whole)
    return share > 0 && share < 1 ? "< 1 %" : Units.fixed(share, decimals: 0) + " %"
  }
}
