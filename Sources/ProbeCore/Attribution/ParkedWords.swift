// A thread alarm in one sentence: how many, how fast, where they are, what it did to the watched thread.
// Names are the target's and are escaped here, once.

enum ParkedWords {
  /// The object that most threads wait for.
  struct Object {
    var count: Int
    var wait: WaitReading
    /// Stacks of the threads of the wait's chain; empty where none was taken.
    var holders: [[Summary.Frame]]
  }

  /// An object or a stack that fewer share is not worth the line. Chosen.
  private static let notable = 0.25
  /// Less delay than that is nobody's trouble, in percent of the time. Chosen.
  private static let harmlessDelay = 1.0

  static func sentence(
    _ alarm: Summary.ThreadAlarm, _ object: Object?, watched: String?
  ) -> String {
    [size(alarm), place(alarm, object), delay(alarm, watched)].compactMap { $0 }
      .joined(separator: "; ")
  }

  private static func size(_ alarm: Summary.ThreadAlarm) -> String {
    var text = Counted.text(alarm.peak, "thread")
    text += alarm.peak > alarm.threads ? " at most" : ""
    guard let from = alarm.grownFrom, let within = alarm.grownWithin else {
      return text + " from the start of watching"
    }
    let more = Units.text(count: UInt64(max(0, alarm.threads - from)))
    let began = max(.zero, alarm.at - within)
    text += ", \(more) of them came within \(Units.text(within)), from \(Units.text(began)) on"
    return text
  }

  private static func place(_ alarm: Summary.ThreadAlarm, _ object: Object?) -> String? {
    guard let looked = alarm.looked, let blocked = alarm.blocked, looked > 0 else { return nil }
    let least = max(2, Int(Double(looked) * notable))
    if let object, object.count >= least, 2 * object.count >= alarm.parked.first?.count ?? 0 {
      return "\(object.count) of \(looked) wait " + words(object, alarm)
    }
    if let group = alarm.parked.first, group.count >= least {
      let function = telling(group.frames).map { ", in \(SafeText.terminal($0))" }
      return "\(group.count) of \(looked) are in \(group.call ?? "a page fault")" + (function ?? "")
    }
    return blocked * 2 < looked
      ? "\(looked - blocked) of \(looked) run or are ready to"
      : "\(blocked) of \(looked) are blocked at different places"
  }

  /// The innermost function of the program's own; else of what is not the C library, whose waits are all
  /// the same.
  private static func telling(_ frames: [Summary.Frame]) -> String? {
    let named = frames.filter { $0.function != nil }
    let outside = named.first { frame in
      let module = frame.module.map(StackTitle.fileName) ?? ""
      return !["libc.so", "libc-", "libpthread", "ld-"].contains { module.hasPrefix($0) }
    }
    return (named.first { $0.inApp } ?? outside ?? named.first)?.function
  }

  private static func words(_ object: Object, _ alarm: Summary.ThreadAlarm) -> String {
    let call = object.wait.call
    let group = alarm.parked.first { $0.call == call }
    let frames = group?.frames ?? []
    let text = WaitWords.text(
      SeenWait(object.wait, at: .zero, weight: .zero, holders: object.holders), frames: frames)
    let own = frames.first { $0.inApp && $0.function != nil }?.function
    let place = own.map { ", in \(SafeText.terminal($0))" } ?? ""
    let isWaiting = ["waiting for ", "waiting on "].first { text.hasPrefix($0) }
    return "at the same \(noun(object.wait.object.kind))\(place): "
      + text.dropFirst(isWaiting?.count ?? 0)
  }

  private static func noun(_ kind: WaitObject.Kind) -> String {
    switch kind {
    case .lock, .fileLock: "lock"
    case .file, .pipe, .socket, .terminal: "\(kind.rawValue)"
    case .join, .child, .sleep, .signal, .events, .other: "place"
    }
  }

  private static func delay(_ alarm: Summary.ThreadAlarm, _ watched: String?) -> String? {
    guard let watched, let during = alarm.runDelayDuring else { return nil }
    let name = SafeText.terminal(watched)
    let before = alarm.runDelayBefore
    // What it was before has to be known, or it has to be much.
    guard during >= harmlessDelay * (before == nil ? 10 : 1), during >= 2 * (before ?? 0) else {
      return before == nil ? nil : "\(name) waits no longer for a CPU than before"
    }
    let earlier = before.map { ", \(Units.text(percent: $0)) before" } ?? ""
    return "\(name) waits for a CPU \(Units.text(percent: during)) of the time\(earlier)"
  }
}
