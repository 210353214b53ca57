// Captured threads to a dump's threads and stacks: names, equal stacks together, what is missing.

/// The result of a round, named and folded.
struct DumpFold {
  private(set) var threads: [DumpedThread] = []
  private(set) var stacks: [ThreadDump.Stack] = []
  private let resolver: StackResolver
  private let isFrozen: Bool

  /// - Parameters:
  ///   - ofSystem: lines of the system's modules, too.
  ///   - isFrozen: the process's control group is frozen.
  init(
    _ captured: [CapturedThread], _ resolver: StackResolver, lines: TimeBudget?, ofSystem: Bool,
    isFrozen: Bool
  ) {
    self.resolver = resolver
    self.isFrozen = isFrozen
    let pairs = captured.compactMap { entry in
      entry.snapshot.flatMap { snapshot in entry.unwound.map { (snapshot, $0) } }
    }
    var named = resolver.resolve(pairs, lines: lines, ofSystem: ofSystem).makeIterator()
    var indices: [FoldKey: Int] = [:]
    for entry in captured {
      let resolved = entry.snapshot != nil && entry.unwound != nil ? named.next() : nil
      var thread = DumpedThread(
        tid: entry.listed.tid.rawValue, name: entry.listed.name,
        state: Self.state(entry, isFrozen: isFrozen),
        wait: entry.wait, missing: entry.refusal.map(DumpTexts.text),
        stopTime: entry.stopTime)
      if let resolved {
        let key = FoldKey(
          frames: resolved.frames, truncation: resolved.truncation, state: thread.state,
          missing: thread.missing)
        if let known = indices[key] {
          thread.stack = known
          stacks[known].threads.append(thread.tid)
        } else {
          indices[key] = stacks.count
          thread.stack = stacks.count
          stacks.append(
            ThreadDump.Stack(
              frames: resolved.frames, truncation: resolved.truncation, threads: [thread.tid]))
        }
      }
      threads.append(thread)
    }
  }

  /// The state was read before the capture; what the capture found is newer. A frozen thread looks
  /// asleep where it was: interruptibly (freezer of version 2) or not (version 1).
  static func state(_ entry: CapturedThread, isFrozen: Bool) -> DumpedThread.State {
    let state = DumpedThread.State(letter: entry.listed.letter)
    if isFrozen, state == .sleeping || state == .uninterruptible { return .frozen }
    guard let snapshot = entry.snapshot, let line = entry.line else { return state }
    switch (state, line) {
    case (.running, .inside) where snapshot.stopTime == .zero: return .sleeping
    case (.sleeping, .running): return .running
    default: return state
    }
  }

  /// What is missing in the dump, for the reader.
  func notes(_ captured: Int, of wanted: Int) -> [String] {
    var notes: [String] = []
    if isFrozen {
      notes.append("its control group is frozen: no thread runs until that is thawed")
    } else if threads.contains(where: { $0.state == .stopped }),
      threads.allSatisfy({ $0.state == .stopped || $0.state == .ended })
    {
      notes.append("it is stopped by a signal: no thread runs until SIGCONT")
    }
    if captured < wanted { notes.append("interrupted: \(wanted - captured) threads are missing") }
    let late = resolver.linesOmitted.filter { $0.value == .outOfTime }.map(\.key).sorted()
    if !late.isEmpty {
      let names = late.prefix(4).map(Self.lastPart).joined(separator: ", ")
      let more = late.count > 4 ? " and \(late.count - 4) more" : ""
      notes.append("no time for all lines of \(names)\(more); --lines takes as long as they need")
    }
    let broken = resolver.linesOmitted.filter { $0.value == .unreadable }.map(\.key).sorted()
    if !broken.isEmpty {
      let names = broken.prefix(4).map(Self.lastPart).joined(separator: ", ")
      notes.append("the debug information of \(names) is damaged")
    }
    if resolver.isPerfMapCut {
      notes.append("the JIT's map is larger than 64 MiB; names may be missing")
    }
    return notes
  }

  private static func lastPart(_ path: String) -> String {
    String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
  }
}

private struct FoldKey: Hashable {
  let frames: [Summary.Frame]
  let truncation: StackTruncation?
  let state: DumpedThread.State
  let missing: String?

  /// Offsets tell enough, and equal stacks mostly share one array, so that comparing them is nothing.
  func hash(into hasher: inout Hasher) {
    for frame in frames { hasher.combine(frame.offset) }
  }
}

/// Why there is no stack, or not all of it, as the reader is told.
enum DumpTexts {
  static func text(_ refusal: CaptureRefusal) -> String {
    switch refusal {
    case .gone: "it has ended"
    case .kernelThread: "it is a kernel thread"
    case .moved: "it moved on each time it was copied"
    case .wouldInterrupt(let call):
      "the rest needs its registers, and a stop would make \(call) fail with EINTR"
    case .uninterruptible:
      "it cannot be stopped now: it waits uninterruptibly in the kernel, or is frozen"
    case .traced(let tracer):
      "it is traced by \(tracer.map { "process \($0)" } ?? "another process")"
    case .notPermitted: "not permitted"
    case .wrongMachine: "it is a 32-bit program, whose stacks are not read"
    case .malformed(let error): "/proc cannot be read: \(error)"
    case .failed(let error): "\(error.call): \(error.reason)"
    }
  }
}
