// Why a stall was, in one sentence, and who is to be looked at: its largest part first, with the object.

/// All that is known of a stall, for the fold to tell of.
struct StallStory: Sendable {
  let stall: StallReading
  let thread: String
  let stacks: [Summary.Stack]
  let waits: [SeenWait]
  var surroundings: StallSurroundings?

  /// A second part of this share is told of, too. Chosen.
  private static let notable = 0.25

  private typealias Part = (time: Nanoseconds, words: String)

  // MARK: The sentence

  var sentence: String {
    var parts = named.enumerated().sorted {
      ($0.element.time, $1.offset) > ($1.element.time, $0.offset)
    }.map(\.element)
    guard let main = parts.first, main.time > .zero else { return "not measured" }
    parts.removeFirst()
    var text = "\(Units.text(main.time)) \(main.words)"
    if let second = parts.first,
      second.time.inSeconds >= Self.notable * stall.duration.inSeconds
    {
      text += "; and \(Units.text(second.time)) \(second.words)"
    }
    return text
  }

  private var named: [Part] {
    let parts = stall.parts
    func wait(_ path: KeyPath<Summary.CauseParts, Nanoseconds>, _ plain: String) -> Part {
      (parts[keyPath: path], words(of: path) ?? plain)
    }
    return [
      (parts.cpuUser + parts.cpuSystem, computing),
      (parts.runDelay, delayed),
      wait(\.lock, "waiting for a lock"), wait(\.disk, "waiting for a file"),
      wait(\.pipe, "waiting for a pipe"), wait(\.socket, "waiting for a socket"),
      wait(\.sleep, "sleeping"), wait(\.child, "waiting for a child process"),
      (parts.pageFault, paging), (parts.stopped, "stopped"),
      (parts.throttled, "held back by the CPU quota of its control group"),
      stall.kind == .nested
        ? (parts.otherWait, nested)
        : wait(\.otherWait, "waiting in the kernel"),
      (parts.unknown, "not measured"),
    ]
  }

  /// The wait that stands for most of a part's time.
  private func heaviest(_ path: KeyPath<Summary.CauseParts, Nanoseconds>) -> SeenWait? {
    var best: (wait: SeenWait, weight: Nanoseconds)?
    let candidates = waits.filter { $0.reading.part == path }
    for wait in candidates {
      let same = candidates.filter { $0.reading.isSame(as: wait.reading) }
      let weight = same.reduce(Nanoseconds.zero) { $0 + $1.weight }
      if weight > best?.weight ?? Nanoseconds(-1) {
        // Of equal ones the one that tells most.
        let told = same.max { $0.telling < $1.telling } ?? wait
        best = (told, weight)
      }
    }
    return best?.wait
  }

  private func words(of path: KeyPath<Summary.CauseParts, Nanoseconds>) -> String? {
    guard let wait = heaviest(path) else { return nil }
    return WaitWords.text(wait, frames: frames(at: wait.at))
  }

  private var nested: String {
    let wait = heaviest(\.otherWait)
    let stack = wait.map { frames(at: $0.at) } ?? []
    if let lock = WaitWords.runtimeLock(stack) {
      return "waiting for \(lock); its owner is not recorded"
    }
    let what = wait.flatMap { WaitWords.nested($0.reading.object) }.map { " for \($0)" } ?? ""
    return "in a nested wait\(WaitWords.place(stack))\(what)"
  }

  private func frames(at time: Nanoseconds) -> [Summary.Frame] {
    stacks.first { $0.at == time }?.frames ?? []
  }

  // MARK: Without a wait

  /// Stacks of moments at which it ran.
  private var running: [Summary.Stack] {
    let waiting = Set(waits.map(\.at))
    return stacks.filter { !waiting.contains($0.at) }
  }

  /// ` in parse_json`; nothing where no stack tells.
  private var place: String {
    var weights: [String: Nanoseconds] = [:]
    for stack in running {
      guard let words = Self.place(stack.frames) else { continue }
      weights[words, default: .zero] += stack.weight
    }
    guard let main = weights.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return "" }
    let all = weights.values.reduce(Nanoseconds.zero, +)
    let mostly = main.value.inSeconds * 2 < all.inSeconds ? " and elsewhere" : ""
    return " in \(main.key)\(mostly)"
  }

  /// Code without a file and a name (a JIT's, an interpreter's) is the user's own all the same: what it
  /// calls is told with it, and not what lies behind it.
  private static func place(_ frames: [Summary.Frame]) -> String? {
    guard let own = frames.firstIndex(where: { $0.inApp && !$0.inlined }),
      frames[own].function == nil, ["[anon]", "[jit]"].contains(frames[own].module)
    else { return StackTitle.frame(of: frames)?.function.map(WaitWords.function) }
    guard let called = frames[..<own].first(where: { $0.function != nil })?.function else {
      return "code made at run time"
    }
    return "\(WaitWords.function(called)), called by code made at run time"
  }

  private var computing: String {
    let parts = stall.parts
    let all = parts.cpuUser + parts.cpuSystem
    let system = all > .zero ? parts.cpuSystem.inSeconds / all.inSeconds : 0
    if let faults = surroundings?.minorFaults, faults >= Self.faultStorm(stall.duration),
      system >= 0.3
    {
      let share = Int((system * 100).rounded())
      return
        "touching new memory\(place): \(faults) page faults, \(share) % of its CPU time in the kernel"
    }
    return system > 0.7 ? "computing in the kernel\(place)" : "computing\(place)"
  }

  /// So many page faults without input or output are a storm: a thousand a tenth of a second, which with
  /// half a microsecond each is nothing, and with the zeroing of pages a tenth of the time. Chosen.
  static func faultStorm(_ length: Nanoseconds) -> UInt64 {
    max(1000, UInt64(max(0, length.inSeconds) * 10_000))
  }

  private var paging: String {
    let faults = surroundings?.majorFaults ?? 0
    let count = faults > 0 ? ": \(Counted.text(Int(clamping: faults), "major page fault"))" : ""
    return "waiting for pages of memory or files\(place)\(count)\(shortage)"
  }

  /// Where memory was short for a good part of the time, pages came back that had been there before.
  private var shortage: String {
    guard let surroundings, surroundings.shortShare >= Self.notable else { return "" }
    let whose = surroundings.isGroupShort ? "its control group" : "the machine"
    return
      ", while \(whose) was short of memory (\(Int(surroundings.shortShare * 100)) % of the time)"
  }

  private var delayed: String {
    guard let own = surroundings?.ownShareOfLoad else {
      return "ready to run, but other threads had the CPUs"
    }
    return own >= 0.5
      ? "ready to run, but other threads of the program had the CPUs"
      : "ready to run but not scheduled: other processes had the CPUs"
  }

  // MARK: The blocker

  /// What the largest waiting part waited for; nil where it did not wait most of the time, or nothing is
  /// known of it.
  var blocker: Summary.Blocker? {
    let parts = stall.parts
    guard
      let path = Summary.CauseParts.waits.max(by: { parts[keyPath: $0] < parts[keyPath: $1] }),
      parts[keyPath: path].inSeconds >= Self.notable * stall.duration.inSeconds,
      let wait = heaviest(path)
    else { return nil }
    let (reading, object) = (wait.reading, wait.reading.object)
    var blocker = Summary.Blocker(
      kind: "file", tid: nil, name: nil, path: object.path, peer: object.peer,
      command: object.process?.command, chain: WaitWords.steps(reading, thread: thread), stack: [],
      holders: [])
    blocker.name = object.process?.name
    switch object.kind {
    case .lock, .join:
      guard let first = reading.chain.first else { return nil }
      blocker.kind = reading.cycle == nil ? "thread" : "deadlock"
      blocker.tid = first.tid.rawValue
      blocker.name = first.name
      blocker.stack = wait.holders.first ?? []
      blocker.holders = reading.chain.enumerated().map { index, link in
        let frames = index < wait.holders.count ? wait.holders[index] : []
        return Summary.Holder(
          tid: link.tid.rawValue, name: link.name, doing: WaitWords.doing(link, frames),
          stack: frames)
      }
    case .file, .fileLock: blocker.kind = "file"
    case .pipe: blocker.kind = "pipe"
    case .socket: blocker.kind = "socket"
    case .child: blocker.kind = "child"
    case .terminal: blocker.kind = "file"
    case .events where object.process != nil: blocker.kind = "child"
    case .sleep, .signal, .events, .other: return nil
    }
    return blocker
  }
}

extension WaitReading {
  /// The same object and the same holders, whenever it was.
  fileprivate func isSame(as other: WaitReading) -> Bool {
    call == other.call && object.isSame(as: other.object)
      && chain.map(\.tid) == other.chain.map(\.tid) && cycle == other.cycle
  }
}

extension SeenWait {
  /// One that is sure, and with more stacks, tells more.
  fileprivate var telling: Int {
    (reading.isProbable ? 0 : 100) + holders.count { frames in frames.contains { $0.inApp } } * 10
      + holders.count { !$0.isEmpty }
  }
}
