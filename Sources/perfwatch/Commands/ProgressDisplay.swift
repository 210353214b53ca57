// Shows on stderr that watching goes on: a block in place, or a line now and then.

internal import ProbeCore
internal import Synchronization

/// The live view of `run` and `attach`. Never blocks: what the terminal does not take is left out.
final class ProgressDisplay: LiveDisplay {
  private struct Drawn: Sendable {
    var lines: [String] = []
    var size: (columns: Int, rows: Int) = (80, 24)
    var nextLine: Instant?
    var noticesShown = 0
    var wasStopped = false
    var stallsShown = 0
    var alarmsShown = 0
    /// The level at which a stall that goes on was last told of.
    var openLevels: [Int: StallLevel] = [:]
  }

  /// Chosen: the eye sees a change, the CPU does not.
  private static let blockPeriod = Nanoseconds.milliseconds(500)
  /// How often a line display looks whether something happened.
  private static let lookPeriod = Nanoseconds.milliseconds(500)

  private let title: String
  private let round: String
  private let mode: ProgressMode
  private let style: TextStyle
  private let drawn = Mutex(Drawn())

  /// - Parameter round: which of several runs it is; empty for the only one.
  init(title: String, round: String = "", mode: ProgressMode, style: TextStyle) {
    self.title = title
    self.round = round
    self.mode = mode
    self.style = style
  }

  func update(_ state: SessionState, at time: Instant) -> Nanoseconds? {
    var snapshot = LiveSnapshot(state, at: time, title: title)
    snapshot.round = round
    switch mode {
    case .none: return nil
    case .block:
      draw(snapshot)
      return Self.blockPeriod
    case .lines(let period):
      speak(state, snapshot, at: time, period: period)
      return Self.lookPeriod
    }
  }

  func finish() {
    guard mode == .block else { return }
    drawn.withLock { drawn in
      guard !drawn.lines.isEmpty else { return }
      Terminal.writeIfReady(2, LiveBlock.erase(lineCount: rows(drawn)))
      drawn.lines = []
    }
  }

  private func draw(_ snapshot: LiveSnapshot) {
    // In the background the terminal is another job's.
    guard Terminal.isForeground(2) else { return }
    let size = Terminal.size(2) ?? (80, 24)
    let lines = LiveBlock.render(snapshot, size: size, style: style)
    drawn.withLock { drawn in
      drawn.size = size
      let text = LiveBlock.redraw(previousLineCount: rows(drawn), lines: lines)
      if Terminal.writeIfReady(2, text) { drawn.lines = lines }
    }
  }

  private func rows(_ drawn: Drawn) -> Int {
    drawn.lines.isEmpty
      ? 0 : min(LiveBlock.rows(of: drawn.lines, columns: drawn.size.columns), drawn.size.rows)
  }

  /// A line for each stall that ended and for each level that one which goes on has reached.
  private static func stallLines(
    _ state: SessionState, at time: Instant, _ drawn: inout Drawn
  ) -> String {
    var text = ""
    let hidden =
      state.endedStalls - drawn.stallsShown - state.stallTexts(after: drawn.stallsShown).count
    if hidden > 0 { text += "perfwatch: \(hidden) more stalls\n" }
    for line in state.stallTexts(after: drawn.stallsShown) {
      text += "perfwatch: \(SafeText.terminal(line))\n"
    }
    drawn.stallsShown = state.endedStalls
    var levels: [Int: StallLevel] = [:]
    for stall in state.openStalls(at: time) {
      levels[stall.id] = stall.level
      if drawn.openLevels[stall.id].map({ $0 < stall.level }) ?? true {
        text += "perfwatch: \(SafeText.terminal(stall.text))\n"
      }
    }
    drawn.openLevels = levels
    return text
  }

  private func speak(
    _ state: SessionState, _ snapshot: LiveSnapshot, at time: Instant, period: Nanoseconds
  ) {
    let isUnicode = style.unicode
    let text = drawn.withLock { drawn -> String in
      var text = ""
      for notice in state.noticeTexts.dropFirst(drawn.noticesShown) {
        text += "perfwatch: note: \(SafeText.terminal(notice))\n"
      }
      drawn.noticesShown = state.noticeTexts.count
      let alarms = state.alarmTexts(after: drawn.alarmsShown)
      for alarm in alarms { text += "perfwatch: \(SafeText.terminal(alarm))\n" }
      drawn.alarmsShown += alarms.count
      text += Self.stallLines(state, at: time, &drawn)
      let isDue = drawn.nextLine.map { time >= $0 } ?? false
      let hasChanged = state.isTargetStopped != drawn.wasStopped
      drawn.wasStopped = state.isTargetStopped
      if isDue || hasChanged {
        text += LiveLine.render(snapshot, isUnicode: isUnicode) + "\n"
      }
      if isDue || drawn.nextLine == nil { drawn.nextLine = time + period }
      return text
    }
    if !text.isEmpty { Terminal.writeIfReady(2, text) }
  }
}
