// What is shown while watching goes on: a block redrawn in place, or one plain line.
// Both are made from the same snapshot, and neither knows a terminal: they return text.

/// The state of a session at one moment, as far as it is shown.
public struct LiveSnapshot: Sendable, Equatable {
  public struct Thread: Sendable, Equatable {
    public var name: String
    public var tid: Int32
    /// Of one core, over the last tick or so.
    public var percent: Double

    public init(name: String, tid: Int32, percent: Double) {
      self.name = name
      self.tid = tid
      self.percent = percent
    }
  }

  /// The command and pid, or whatever names the target.
  public var title = ""
  /// Which of several runs it is, such as `run 2 of 5`; empty for the only one.
  public var round = ""
  public var elapsed = Nanoseconds.zero
  /// `running`, `stopped`, `held`.
  public var state = "running"
  /// Percent of one core; nil when not measured (yet).
  public var cpuPercentNow: Double?
  public var cpuAverage: Double?
  /// Hottest first.
  public var hottest: [Thread] = []
  /// Bytes.
  public var footprint: UInt64?
  /// Bytes, oldest first, evenly spaced.
  public var footprintHistory: [UInt64?] = []
  public var footprintPeak: UInt64?
  public var threadCount: Int?
  /// Processes of the tree; nil without `--children`.
  public var processCount: Int?
  /// Stalls that have ended; nil where no loop can be judged.
  public var stallCount: Int?
  /// The longest stall that goes on, as a sentence.
  public var openStall: String?
  /// The last thread alarm, as a sentence.
  public var threadAlarm: String?
  /// The newest last.
  public var lastNotices: [String] = []
  /// What the observer could use, in a few words.
  public var capabilities = ""
  public var lateTicks = 0

  public init() {}
}

/// The block of lines that is redrawn in place.
public enum LiveBlock {
  /// The lines, none wider than `size.columns` and not more than `size.rows`; the most important
  /// ones stay when there is little room.
  public static func render(
    _ snapshot: LiveSnapshot, size: (columns: Int, rows: Int), style: TextStyle
  ) -> [String] {
    // The last column stays free: a terminal that is full to the brim wraps at the next character.
    let width = size.columns > 1 ? size.columns - 1 : 1
    let ranked = lines(snapshot, width: width, isUnicode: style.unicode)
    let rows = max(1, size.rows)
    let kept = Set(ranked.indices.sorted { ranked[$0].rank < ranked[$1].rank }.prefix(rows))
    return ranked.indices.filter(kept.contains).map { index in
      ranked[index].line.rendered(width: width, style: style)
    }
  }

  /// The bytes that put `lines` where the previous block stands. The cursor stays at the end of the
  /// block and is never hidden; the first block of all has `previousLineCount` 0.
  public static func redraw(previousLineCount: Int, lines: [String]) -> String {
    erase(lineCount: previousLineCount) + lines.joined(separator: "\r\n")
  }

  /// The bytes that take a block away and leave the cursor where it began.
  public static func erase(lineCount: Int) -> String {
    lineCount > 1 ? "\r\u{1b}[\(lineCount - 1)A\u{1b}[J" : "\r\u{1b}[J"
  }

  /// Rows that drawn lines take on a terminal that is `columns` wide now: after a resize, a
  /// terminal has folded the longer ones. The value for `previousLineCount` then.
  public static func rows(of lines: [String], columns: Int) -> Int {
    lines.reduce(0) { rows, line in
      rows + max(1, (visibleWidth(line) + max(1, columns) - 1) / max(1, columns))
    }
  }

  /// Columns a rendered line takes, colour not counted.
  static func visibleWidth(_ line: String) -> Int {
    var text = ""
    var isInSequence = false
    for scalar in line.unicodeScalars {
      if scalar == "\u{1b}" {
        isInSequence = true
      } else if isInSequence {
        isInSequence = scalar != "m"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return DisplayText.width(text)
  }

  private typealias Ranked = (rank: Int, line: StyledLine)

  private static func lines(_ snapshot: LiveSnapshot, width: Int, isUnicode: Bool) -> [Ranked] {
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    func row(_ rank: Int, _ label: String, _ value: String, _ note: String) -> Ranked {
      var line = StyledLine(DisplayText.pad(label, to: 10), .dim)
      line.append(DisplayText.pad(value, to: 9, isRight: true), .heading)
      line.append(note.isEmpty ? "" : "   " + note, .dim)
      return (rank, line)
    }
    func percent(_ value: Double?) -> String { value.map { Units.text(percent: $0) } ?? "-" }
    func bytes(_ value: UInt64?) -> String { value.map { Units.text(bytes: $0) } ?? "-" }

    var lines = [(rank: 0, line: head(snapshot, width: width, isUnicode: isUnicode))]
    lines.append(
      row(1, "cpu", percent(snapshot.cpuPercentNow), "average \(percent(snapshot.cpuAverage))"))
    let peak = "peak \(DisplayText.pad(bytes(snapshot.footprintPeak), to: 9))"
    let history = Sparkline.render(
      snapshot.footprintHistory.map { $0.map { Double($0) } }, width: max(0, min(40, width - 42)),
      isUnicode: isUnicode)
    lines.append(row(2, "footprint", bytes(snapshot.footprint), "\(peak)  \(history)"))
    let processes = snapshot.processCount.map { "in \(Counted.text($0, "process"))" } ?? ""
    lines.append(row(4, "threads", snapshot.threadCount.map { "\($0)" } ?? "-", processes))
    if !snapshot.hottest.isEmpty {
      var line = StyledLine(DisplayText.pad("hottest", to: 13), .dim)
      let hottest = snapshot.hottest.prefix(4).map {
        "\(DisplayText.cut(safe($0.name), to: 20, isUnicode: isUnicode)) \(percent($0.percent))"
      }
      var list = hottest[0]
      for next in hottest.dropFirst() {
        let longer = list + "   " + next
        if DisplayText.width(longer) + 13 > width { break }
        list = longer
      }
      line.append(list)
      lines.append((3, line))
    }
    let late = snapshot.lateTicks > 0 ? Counted.text(snapshot.lateTicks, "late tick") : ""
    let watching = [safe(snapshot.capabilities), late].filter { !$0.isEmpty }
    if !watching.isEmpty {
      lines.append((6, StyledLine("watching   " + "  " + watching.joined(separator: ", "), .dim)))
    }
    if let stalls = snapshot.stallCount {
      lines.append(row(2, "stalls", "\(stalls)", ""))
    }
    if let open = snapshot.openStall { lines.append((1, StyledLine("! " + safe(open), .bad))) }
    if let alarm = snapshot.threadAlarm {
      lines.append((5, StyledLine("! " + safe(alarm), .warning)))
    }
    for notice in snapshot.lastNotices.suffix(3) {
      lines.append((5, StyledLine("! " + safe(notice), .warning)))
    }
    return lines
  }

  private static func head(_ snapshot: LiveSnapshot, width: Int, isUnicode: Bool) -> StyledLine {
    let isRunning = snapshot.state == "running"
    let state = DisplayText.safe(snapshot.state, isUnicode: isUnicode)
    let tail = "  \(state)  \(Units.clock(snapshot.elapsed))"
    var line = StyledLine("perfwatch", .heading)
    if !snapshot.round.isEmpty { line.append("  " + snapshot.round, .heading) }
    if !snapshot.title.isEmpty {
      let used = 11 + (snapshot.round.isEmpty ? 0 : 2 + DisplayText.width(snapshot.round))
      let room = max(0, width - used - DisplayText.width(tail))
      let title = DisplayText.safe(snapshot.title, isUnicode: isUnicode)
      line.append("  " + DisplayText.cut(title, to: room, isUnicode: isUnicode))
    }
    line.append(tail, isRunning ? .good : .warning)
    return line
  }
}

/// The plain line for logs and for terminals that belong to the target.
public enum LiveLine {
  /// `perfwatch: 12 s  cpu 83 %  footprint 45.1 MiB  threads 12  hottest worker-3 61 %`, without a
  /// newline. What was not measured is left out.
  public static func render(_ snapshot: LiveSnapshot, isUnicode: Bool = true) -> String {
    let round = snapshot.round.isEmpty ? "" : snapshot.round + "  "
    var parts = ["perfwatch: \(round)\(Units.clock(snapshot.elapsed))"]
    if snapshot.state != "running" {
      parts.append(DisplayText.safe(snapshot.state, isUnicode: isUnicode))
    }
    func percent(_ value: Double) -> String { Units.fixed(value, decimals: 0) + " %" }
    if let cpu = snapshot.cpuPercentNow { parts.append("cpu \(percent(cpu))") }
    if let footprint = snapshot.footprint {
      parts.append("footprint \(Units.text(bytes: footprint))")
    }
    if let count = snapshot.threadCount { parts.append("threads \(count)") }
    if let count = snapshot.processCount { parts.append("processes \(count)") }
    if let stalls = snapshot.stallCount, stalls > 0 { parts.append("stalls \(stalls)") }
    if let hottest = snapshot.hottest.first, snapshot.threadCount != 1 {
      let name = DisplayText.cut(
        DisplayText.safe(hottest.name, isUnicode: isUnicode), to: 20, isUnicode: isUnicode)
      parts.append("hottest \(name) \(percent(hottest.percent))")
    }
    return parts.joined(separator: "  ")
  }
}
