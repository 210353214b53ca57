// From copied stacks to frames with names: unwinding, the place of each address, symbols. The one
// way from a capture to what a user reads, for `dump` and for captures in a stall.

/// A stack with names, and what another capture could add to it.
public struct ResolvedStack: Sendable, Equatable {
  public var tid: ThreadID
  public var takenAt: Instant
  /// Zero if it was taken without a stop.
  public var stopTime: Nanoseconds
  /// Innermost first, inlined ones before the one they are in.
  public var frames: [Summary.Frame]
  /// Why it does not go to the outermost frame; nil if it does.
  public var truncation: StackTruncation?
  /// With `copyLimit`: a capture that also copies from here leads further.
  public var missingAddress: UInt64?

  /// A capture with all registers (a stop) leads further.
  public var needsRegisters: Bool { truncation == .unknownRegister }
}

/// Gives the stacks of one process their names. Belongs to one thread, and never waits for the
/// process; it may be gone, as far as its files were opened before.
public final class StackResolver {
  public let pid: ProcessID
  /// The module of frames whose code is not there any more.
  static let unmapped = "[unmapped]"
  /// By module path, why frames have no file and line; of all calls with a budget.
  public private(set) var linesOmitted: [String: LinesOmission] = [:]
  /// Some names of a JIT's code may be missing: its map is longer than what is read of one.
  public private(set) var isPerfMapCut = false

  /// Its folder in /proc, through which its memory and files are seen.
  private let folder: String
  private let statusPath: String
  private let unwinder: Unwinder
  private let symbolizer: Symbolizer
  private let files: ModuleFiles
  private let inAppPatterns: [String]
  private var rule: InAppRule?

  /// CPU of the helpers for names and lines, which our own clock does not count.
  public var helperCPU: Nanoseconds { symbolizer.helperCPU }

  /// Reads nothing yet.
  ///
  /// - Parameters:
  ///   - root: where procfs is.
  ///   - cache: of unwind tables, shared by all processes that are watched by this thread.
  ///   - inApp: patterns of modules that are the program's own; see `InAppRule`.
  ///   - frameLimit: longer stacks are cut there.
  ///   - thread: one of its threads that lives, where the main thread has ended: the process's own
  ///     folder shows no memory then.
  public init(
    _ pid: ProcessID, root: String = "/proc", cache: ModuleCache = ModuleCache(),
    inApp: [String] = [], frameLimit: Int = 4096, through thread: ThreadID? = nil
  ) {
    self.pid = pid
    let seen = ProcessID(thread?.rawValue ?? pid.rawValue)
    folder = "\(root)/\(seen)"
    statusPath = "\(root)/\(pid)/status"
    inAppPatterns = inApp
    unwinder = Unwinder(seen, cache: cache, frameLimit: frameLimit, procRoot: root)
    let files = ModuleFiles()
    self.files = files
    symbolizer = Symbolizer(root: Self.fileRoot(folder, root)) { files.open($0) }
  }

  /// Where the files of the process are: its own root, which goes with it, only where it is not ours.
  private static func fileRoot(_ folder: String, _ root: String) -> String {
    func link(_ path: String) -> [UInt8]? { try? Syscalls.readLink(path) }
    let isOurs =
      link("\(folder)/root") == Array("/".utf8)
      && link("\(folder)/ns/mnt") == link("\(root)/self/ns/mnt")
    return isOurs ? "/" : "\(folder)/root"
  }

  /// Only the addresses: quick, and enough to tell whether another capture would lead further.
  public func unwind(_ snapshot: StackSnapshot) -> UnwoundStack { unwinder.unwind(snapshot) }

  /// How often code of the process has been found to be other than before.
  public var codeChanges: Int { unwinder.codeChanges }

  /// Forgets the map, and which program it is: after an exec.
  public func refreshMap() {
    rule = nil
    lookForNewCode()
  }

  /// Reads the map anew: code may have been unloaded and other code have taken its place. Where a
  /// program counter is in no mapping that happens by itself.
  public func lookForNewCode() {
    // Without a map (the process is gone) the old one stays.
    try? unwinder.refreshMap()
  }

  /// Names the frames of all snapshots together, so that each file is searched once.
  ///
  /// - Parameters:
  ///   - lines: file, line and inlined functions too, within this time; nil for names only.
  ///   - ofSystem: lines of the system's modules as well, which nobody reads and which take most of
  ///     the time where debug files are installed.
  /// - Returns: one for each snapshot, in their order.
  public func resolve(
    _ snapshots: [StackSnapshot], lines: TimeBudget? = nil, ofSystem: Bool = false
  ) -> [ResolvedStack] {
    resolve(snapshots.map { ($0, unwinder.unwind($0)) }, lines: lines, ofSystem: ofSystem)
  }

  /// As `resolve`, of snapshots that were unwound already.
  public func resolve(
    _ stacks: [(snapshot: StackSnapshot, unwound: UnwoundStack)], lines: TimeBudget? = nil,
    ofSystem: Bool = false
  ) -> [ResolvedStack] {
    // Threads that wait for work all have the same stack; it is named once.
    var indices: [StackKey: Int] = [:]
    var different: [[PlacedFrame]] = []
    let numbers = stacks.map { entry -> Int in
      let frames = entry.unwound.stack.frames
      let key = StackKey(frames)
      if let known = indices[key] { return known }
      indices[key] = different.count
      different.append(places(of: frames))
      return different.count - 1
    }
    let named = name(different, lines: lines, ofSystem: ofSystem)
    return zip(stacks, numbers).map { entry, index in
      ResolvedStack(
        tid: entry.snapshot.tid, takenAt: entry.snapshot.takenAt,
        stopTime: entry.snapshot.stopTime, frames: named[index],
        truncation: entry.unwound.stack.truncation, missingAddress: entry.unwound.missingAddress)
    }
  }

  /// Where frames belong by the map as it is now. Who names them later gets the names of the code that
  /// was there, also if other code has taken its place by then.
  public func places(of frames: [RawFrame]) -> [PlacedFrame] {
    frames.map { PlacedFrame($0, place(of: $0)) }
  }

  /// Names frames whose places are known; as `resolve`, with one result for each stack.
  public func name(
    _ stacks: [[PlacedFrame]], lines: TimeBudget? = nil, ofSystem: Bool = false
  ) -> [[Summary.Frame]] {
    openPerfMap(for: stacks)
    let rule = inAppRule()
    var named = symbolizer.symbolize(stacks, lines: lines) {
      ofSystem || rule.isInApp($0.path)
    }
    var known: [String?: Bool] = [:]
    for stack in named.stacks.indices {
      for frame in named.stacks[stack].indices {
        let module = named.stacks[stack][frame].module
        let isInApp = known[module] ?? rule.isInApp(module)
        known[module] = isInApp
        named.stacks[stack][frame].inApp = isInApp
      }
    }
    linesOmitted.merge(named.linesOmitted) { _, new in new }
    isPerfMapCut = isPerfMapCut || named.isPerfMapCut
    return named.stacks
  }

  /// Reads which program the process runs while it is there: whose code a frame is hangs on it.
  func learnProgram() { _ = inAppRule() }

  private func inAppRule() -> InAppRule {
    if let rule { return rule }
    let link = (try? Syscalls.readLink("\(folder)/exe")) ?? []
    let made = InAppRule(
      executable: SafeText.decode(Self.withoutMark(link)), patterns: inAppPatterns)
    rule = made
    return made
  }

  /// The kernel adds this to the name of an executable that was deleted or replaced.
  private static func withoutMark(_ link: [UInt8]) -> [UInt8] {
    let mark = Array(" (deleted)".utf8)
    return link.suffix(mark.count) == mark[...] ? link.dropLast(mark.count) : link
  }

  private func place(of frame: RawFrame) -> PlacedFrame.Place {
    let address = frame.programCounter
    // A return address may be the first of the next mapping.
    let lookup = PlacedFrame.lookup(address, frame)
    guard let place = unwinder.space.place(of: lookup) else { return .memory(Self.unmapped) }
    switch place.module.kind {
    case .anonymous: return .memory("[anon]")
    case .special: return .memory(SafeText.decode(place.module.path))
    case .file, .vdso:
      let module = files.module(of: place)
      let inFile = place.bias.map { lookup &- $0 } ?? place.fileOffset
      return .module(module, address: inFile &+ (address &- lookup))
    }
  }

  /// The process writes its map while it runs: looked at anew each time there is code without a file.
  private func openPerfMap(for stacks: [[PlacedFrame]]) {
    let hasMemory = stacks.joined().contains {
      if case .memory = $0.place { true } else { false }
    }
    guard hasMemory, let bytes = try? InputFile.read(statusPath, limit: 64 << 10),
      let user = (try? TaskStatus(bytes.span))?.effectiveUser
    else { return }
    let inner = (try? TaskStatus.namespaceIDs(bytes.span))?.last ?? pid.rawValue
    symbolizer.perfMap = PerfMap.open(
      folder: folder, innerPID: inner, user: user, known: symbolizer.perfMap)
  }
}

@available(*, unavailable) extension StackResolver: Sendable {}

/// Two stacks with the same key have the same frames.
private struct StackKey: Hashable {
  let frames: [RawFrame]

  init(_ frames: [RawFrame]) { self.frames = frames }

  func hash(into hasher: inout Hasher) {
    for frame in frames { hasher.combine(frame.programCounter) }
  }
}

/// The files that unwinding opened, for whoever reads symbols in them: the very same ones, also if
/// they were deleted or replaced.
private final class ModuleFiles {
  /// Eight times what the symbolizer keeps; those that are asked for come again.
  private var files = BoundedCache<SymbolModule, ModuleFile>(limit: 8 * Symbolizer.moduleLimit)

  func module(of place: CodePlace) -> SymbolModule {
    let path = SafeText.decode(place.module.path)
    let identity = place.file?.identity
    let module = SymbolModule(
      path: path, device: identity?.device ?? 0, inode: identity?.inode ?? place.module.inode,
      size: identity?.size ?? 0, modified: identity?.modified ?? 0)
    if let file = place.file {
      files[module] = file
    }
    return module
  }

  func open(_ module: SymbolModule) -> SymbolFile? {
    guard let file = files[module] else { return nil }
    if let raw = file.rawDescriptor { return try? SymbolFile(copying: raw) }
    return file.read(at: 0, count: file.identity.size).map { SymbolFile(memory: $0) }
  }
}
