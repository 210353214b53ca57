// Other processes that have to do with a wait: children, and who holds the other end of a pipe.

/// Looks for them from one thread of a process.
struct Neighbours {
  enum Direction { case reading, writing, any }

  /// CPU that one search may take. Chosen: half of what a stall may cost.
  static let budget = Nanoseconds.microseconds(400)
  private static let descriptorLimit = 4096

  private let pid: ProcessID
  private let tid: ThreadID

  init(_ pid: ProcessID, _ tid: ThreadID) {
    self.pid = pid
    self.tid = tid
  }

  /// A process by its number; nil if it is gone.
  static func process(_ pid: ProcessID) -> NeighbourProcess? {
    guard let comm = try? InputFile.read("/proc/\(pid)/comm", limit: 64) else { return nil }
    let bytes = (try? InputFile.head(of: "/proc/\(pid)/cmdline", limit: 4096)) ?? []
    let words = Cmdline(bytes.span).arguments.map(SafeText.decode)
    return NeighbourProcess(
      pid: pid.rawValue, name: SafeText.decode(Comm.name(comm.span)),
      command: Redaction.redact(words).joined(separator: " "))
  }

  /// Children of the thread first, then those of the main thread; the newest last.
  var children: [ProcessID] {
    var result = Self.children(pid, ThreadID(pid.rawValue))
    if tid.rawValue != pid.rawValue { result += Self.children(pid, tid) }
    return result
  }

  /// The newest child that was started since then, to within a clock tick; nil where there is none.
  func child(startedSince begin: Instant) -> NeighbourProcess? {
    // CLOCK_BOOTTIME is 7; starttime of stat is in its ticks.
    guard let newest = children.last, let boot = Clock.time(of: 7),
      let bytes = try? InputFile.read("/proc/\(newest)/stat", limit: 4096),
      let stat = try? TaskStat(bytes.span)
    else { return nil }
    let tick = 1_000_000_000 / Int64(max(1, HostInfo.clockTicksPerSecond))
    let started = Nanoseconds(Int64(clamping: stat.startTicks).saturatedMultiplying(by: tick))
    let age = Clock.now() - begin
    guard boot - started <= age + Nanoseconds(tick) else { return nil }
    return Self.process(newest)
  }

  private static func children(_ pid: ProcessID, _ tid: ThreadID) -> [ProcessID] {
    guard let bytes = try? InputFile.read("/proc/\(pid)/task/\(tid)/children", limit: 64 << 10)
    else { return [] }
    return (try? TaskChildren.parse(bytes.span)) ?? []
  }

  /// A process that has the object open in that direction: relatives first, then any, the process itself
  /// last, as it often has both ends.
  ///
  /// - Parameter link: as in /proc/<pid>/fd, such as `pipe:[4711]`.
  /// - Returns: nil where none was found in time, or none may be looked at.
  func holder(of link: String, _ direction: Direction) -> NeighbourProcess? {
    let wanted = Array(link.utf8)
    let deadline = Clock.threadCPU() + Self.budget
    var seen: Set<ProcessID> = [pid, OwnProcess.pid]
    func look(_ candidates: [ProcessID]) -> ProcessID? {
      for candidate in candidates where seen.insert(candidate).inserted {
        if Clock.threadCPU() > deadline { return nil }
        if Self.holds(candidate, wanted, direction) { return candidate }
      }
      return nil
    }
    let found =
      look(children) ?? look(relatives) ?? look(all)
      ?? (Self.holds(pid, wanted, direction) ? pid : nil)
    return found.flatMap { Self.process($0) }
  }

  /// The parent and its other children.
  private var relatives: [ProcessID] {
    guard let bytes = try? InputFile.read("/proc/\(pid)/stat", limit: 4096),
      let parent = (try? TaskStat(bytes.span))?.parent, parent.rawValue > 1
    else { return [] }
    return [parent] + Self.children(parent, ThreadID(parent.rawValue))
  }

  /// The newest first: what was started for this program is rather among them.
  private var all: [ProcessID] {
    var numbers: [Int32] = []
    guard var folder = try? NumberedDirectory("/proc"), (try? folder.list(into: &numbers)) != nil
    else { return [] }
    return numbers.sorted(by: >).map { ProcessID($0) }
  }

  private static func holds(_ pid: ProcessID, _ wanted: [UInt8], _ direction: Direction) -> Bool {
    var numbers: [Int32] = []
    guard var folder = try? NumberedDirectory("/proc/\(pid)/fd"),
      (try? folder.list(into: &numbers)) != nil
    else { return false }
    return numbers.prefix(descriptorLimit).contains { number in
      guard let link = try? Syscalls.readLink("/proc/\(pid)/fd/\(number)"), link == wanted else {
        return false
      }
      return direction == .any || mode(pid, number, is: direction)
    }
  }

  /// `flags:` of fdinfo is octal; its lowest two bits are 0 for reading, 1 for writing, 2 for both.
  private static func mode(_ pid: ProcessID, _ number: Int32, is direction: Direction) -> Bool {
    guard let bytes = try? InputFile.head(of: "/proc/\(pid)/fdinfo/\(number)", limit: 256) else {
      return true
    }
    let text = SafeText.decode(bytes)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("flags:") }),
      let flags = UInt64(line.dropFirst(6).drop(while: \.isWhitespace), radix: 8)
    else { return true }
    return flags & 3 == 2 || flags & 3 == (direction == .writing ? 1 : 0)
  }
}
