// From copies of stacks to events: unwound at once, while the target lives; named only when the turn
// has turned out to be a stall, and written when a later probe has confirmed that it was that turn.

/// The stacks of one target. Belongs to pw-recorder.
final class StackKeeper {
  /// A stack by addresses that is not known to belong to a stall yet.
  private struct Waiting {
    var order: CaptureOrder
    /// Without its memory.
    var snapshot: StackSnapshot
    var unwound: UnwoundStack
    /// Its frames, by the code that was there then.
    var frames: [PlacedFrame]
    var wait: WaitReading?
    /// The frames of those that hold it up, by their place in the chain.
    var holders: [Int: [PlacedFrame]] = [:]
  }

  /// A whole stack of a blocked thread: while nothing of it changes, it needs no other stop.
  private struct Known {
    var snapshot: StackSnapshot
    var unwound: UnwoundStack
    var frames: [PlacedFrame]
    /// Of the resolver: with other code the same bytes are another stack.
    var codeChanges: Int
  }

  /// Stacks that wait; the oldest give way. Chosen: three turns' captures.
  private static let capacity = 3 * CaptureSchedule.limit
  /// Of a stall captured without hurry; deeper recursion is cut. Chosen.
  private static let frameLimit = 1000
  /// How often unconfirmed stacks are looked at: a probe comes that often.
  static let lookAgain = Nanoseconds.milliseconds(30)

  private let desk: CaptureDesk
  let resolver: StackResolver
  private var executable: String?
  private var waiting: [Waiting] = []
  private var known: [ThreadID: Known] = [:]
  private var places = CodePlaces()
  private var waitsForProbe = false
  /// The turn whose first copy came last, and from when on the map may be read again.
  private var lastTurn: (tid: ThreadID, start: Instant)?
  private var nextLook = Instant(nanoseconds: 0)
  /// Lines for the live view, apart from those at the end. Chosen.
  private let liveLines = TimeBudget(total: .seconds(1))

  init(_ pid: ProcessID, desk: CaptureDesk) {
    self.desk = desk
    resolver = StackResolver(pid, inApp: desk.inAppPatterns, frameLimit: Self.frameLimit)
  }

  /// Whether to look again soon, without waiting for anything.
  var isHurried: Bool { waitsForProbe }

  /// Takes copies in.
  func take(_ copies: [CapturedStack]) {
    for copy in copies { take(copy) }
  }

  private func take(_ copy: CapturedStack) {
    let order = copy.order
    lookForNewCode(order)
    let (unwound, frames) = unwind(copy)
    var snapshot = copy.snapshot
    snapshot.regions = []
    var new = Waiting(
      order: order, snapshot: snapshot, unwound: unwound, frames: frames, wait: copy.wait)
    new.holders = copy.holders.mapValues { resolver.places(of: resolver.unwind($0).stack.frames) }
    if let old = waiting.firstIndex(where: { $0.order.number == order.replaces }) {
      // It may have been caught at another place meanwhile, deeper down.
      if isBetter(unwound, than: waiting[old].unwound) {
        new.wait = waiting[old].wait
        new.holders = waiting[old].holders
        waiting[old] = new
      }
    } else {
      waiting.append(new)
      if waiting.count > Self.capacity { waiting.removeFirst() }
    }
    guard order.replaces == nil, let request = Self.better(copy, unwound) else { return }
    desk.order(
      CaptureOrder(tid: order.tid, turn: order.turn, request: request, replaces: order.number))
  }

  /// Once a turn, as long as that takes less than a hundredth of the time: code may have been unloaded
  /// since the turn before, and other code have taken its place (plug-ins).
  private func lookForNewCode(_ order: CaptureOrder) {
    if let lastTurn, lastTurn == (order.tid, order.turn) { return }
    lastTurn = (order.tid, order.turn)
    let now = Clock.now()
    guard now >= nextLook else { return }
    resolver.lookForNewCode()
    nextLook = now + (Clock.now() - now) * 100
  }

  private func unwind(_ copy: CapturedStack) -> (unwound: UnwoundStack, frames: [PlacedFrame]) {
    let snapshot = copy.snapshot
    let unwound = resolver.unwind(snapshot)
    // The first look at the process is also the time to learn which program it is.
    if executable == nil { resolver.learnProgram() }
    if unwound.stack.truncation == .unknownRegister, let known = known[snapshot.tid],
      known.codeChanges == resolver.codeChanges, known.snapshot.isSamePlace(as: snapshot)
    {
      return (known.unwound, known.frames)
    }
    let frames = resolver.places(of: unwound.stack.frames)
    if copy.order.request.needsRegisters, unwound.stack.truncation == nil {
      known[snapshot.tid] = Known(
        snapshot: snapshot, unwound: unwound, frames: frames, codeChanges: resolver.codeChanges)
    }
    return (unwound, frames)
  }

  private func isBetter(_ new: UnwoundStack, than old: UnwoundStack) -> Bool {
    new.stack.truncation == nil || new.stack.frames.count > old.stack.frames.count
  }

  /// What another capture would have to ask for to lead further; nil if it would not.
  private static func better(_ copy: CapturedStack, _ unwound: UnwoundStack) -> CaptureRequest? {
    var request = copy.order.request
    switch unwound.stack.truncation {
    case .unknownRegister: request.needsRegisters = true
    case .copyLimit:
      guard let missing = unwound.missingAddress else { return nil }
      let largest = CopyExtent(stackBytes: 1 << 20)
      let start = copy.snapshot.registers.stackPointer
      if missing >= start, missing - start < UInt64(largest.stackBytes) {
        request.extent = largest
      } else {
        request.extent.extraRegionAt = missing
      }
    case .noUnwindInfo, .frameLimit, .noProgress, nil: return nil
    }
    return request == copy.order.request ? nil : request
  }

  // MARK: Telling

  /// Writes the events of all stacks that are known by now to belong to a stall, and forgets those that
  /// do not.
  ///
  /// - Parameter wantsLines: somebody looks while the stall lasts.
  func tell(_ state: SessionState, wantsLines: Bool, into out: inout ByteWriter) {
    if state.executable != executable {
      if executable != nil { forgetCode() }
      executable = state.executable
    }
    waitsForProbe = false
    guard !waiting.isEmpty else { return }
    var told: [Waiting] = []
    waiting.removeAll { stack in
      switch fate(of: stack, state.stalls) {
      case .tell:
        told.append(stack)
        return true
      case .drop: return true
      case .keep: return false
      }
    }
    write(told, into: &out)
    if wantsLines, !told.isEmpty { addLines(liveLines, isLast: false, into: &out) }
    desk.helpersSpent(resolver.helperCPU)
  }

  private enum Fate { case tell, keep, drop }

  private func fate(of stack: Waiting, _ stalls: StallAccount) -> Fate {
    let (tid, time) = (stack.order.tid, stack.snapshot.takenAt)
    let witness = desk.witness(tid, time)
    switch stalls.moment(tid, time) {
    case .past: return .drop
    case .open: return .keep
    case .inOpenStall:
      if witness == .awaited { waitsForProbe = true }
      return witness == .seen ? .tell : .keep
    case .inStall(let stall):
      // Where the end is known exactly, or nothing came after it, the time alone tells.
      let isExact = stall.error <= .milliseconds(1) || stall.kind == .exit
      return witness == .seen || isExact ? .tell : .drop
    }
  }

  /// Tells of the places of these frames, as far as that was not done.
  private func tell(placesOf frames: some Sequence<PlacedFrame>, into out: inout ByteWriter) {
    let first = places.count
    for frame in frames { places.add(frame) }
    name(Array(first..<places.count), lines: nil, into: &out)
  }

  /// Numbers of the places of stacks that belong to no stall; tells of new ones.
  func numbers(of stacks: [[PlacedFrame]], into out: inout ByteWriter) -> [[Int]] {
    // The first look at the process is also the time to learn which program it is.
    if executable == nil { resolver.learnProgram() }
    tell(placesOf: stacks.joined(), into: &out)
    defer { places.forgetMoving() }
    return stacks.map { frames in frames.compactMap { places.number(of: $0) } }
  }

  private func write(_ stacks: [Waiting], into out: inout ByteWriter) {
    tell(
      placesOf: stacks.flatMap { stack in ([stack.frames] + stack.holders.values).joined() },
      into: &out)
    for stack in stacks {
      let numbers = stack.frames.compactMap { places.number(of: $0) }
      // Of a program that has executed another one meanwhile: nobody knows any more what ran there.
      if let outermost = numbers.last, places.isUnmapped(outermost) { continue }
      EventCodec.encode(
        .stack(
          StackReading(
            tid: stack.order.tid, at: stack.snapshot.takenAt, stopTime: stack.snapshot.stopTime,
            truncation: stack.unwound.stack.truncation, places: numbers)), into: &out)
      writeWait(stack, into: &out)
    }
    places.forgetMoving()
  }

  private func writeWait(_ stack: Waiting, into out: inout ByteWriter) {
    guard var wait = stack.wait else { return }
    wait.at = stack.snapshot.takenAt
    for (index, holder) in stack.holders where wait.chain.indices.contains(index) {
      wait.chain[index].places = holder.compactMap { places.number(of: $0) }
    }
    EventCodec.encode(.wait(wait), into: &out)
  }

  /// Names code places and tells of them.
  private func name(
    _ numbers: [Int], lines: TimeBudget?, ofSystem: Bool = false, into out: inout ByteWriter
  ) {
    guard !numbers.isEmpty else { return }
    let named = resolver.name(
      numbers.map { places.asStack($0) }, lines: lines, ofSystem: ofSystem)
    for (number, stack) in zip(numbers, named) {
      places.learn(number, stack, hasLines: lines != nil)
      EventCodec.encode(
        .codePlace(CodePlaceReading(number: number, frames: stack)), into: &out)
    }
  }

  /// Adds files and lines to the program's own code, as far as the time allows.
  ///
  /// Not to the system's, whose lines few can use: where Debian's debug files are installed, those of the
  /// C library alone took 60 ms (measured). Only where all code is the system's are they worth it.
  ///
  /// - Parameter isLast: no more places will come.
  func addLines(_ budget: TimeBudget, isLast: Bool, into out: inout ByteWriter) {
    name(places.withoutLines(isInApp: true), lines: budget, into: &out)
    if isLast, !places.hasInApp {
      name(places.withoutLines(isInApp: false), lines: budget, ofSystem: true, into: &out)
    }
    desk.helpersSpent(resolver.helperCPU)
  }

  /// Another program: addresses mean something else from now on.
  private func forgetCode() {
    resolver.refreshMap()
    known = [:]
    places.forgetAll()
  }
}

extension StackSnapshot {
  /// Nothing has changed on the stack: the thread did not run, or is where it was.
  fileprivate func isSamePlace(as other: StackSnapshot) -> Bool {
    registers.stackPointer == other.registers.stackPointer
      && registers.programCounter == other.registers.programCounter && regions == other.regions
  }
}

/// Code addresses that were told of, by number.
private struct CodePlaces {
  /// By the version of the file and the address in it: that stays true whatever is mapped where.
  private struct Key: Hashable {
    let place: PlacedFrame.Place
    /// In the process, for what has no file; else 0.
    let address: UInt64
    let isExact: Bool
    let source: FrameSource
  }

  private var numbers: [Key: Int] = [:]
  private var frames: [PlacedFrame] = []
  private var inApp: [Bool?] = []
  private var hasLines: [Bool] = []
  private var unmapped: Set<Int> = []
  /// Without a file: a JIT may put other code there.
  private var moving: [Int] = []
  /// Those before are of a program that is gone.
  private var firstCurrent = 0

  var count: Int { frames.count }

  func number(of frame: PlacedFrame) -> Int? { numbers[Self.key(frame)] }

  mutating func add(_ frame: PlacedFrame) {
    guard numbers[Self.key(frame)] == nil else { return }
    numbers[Self.key(frame)] = frames.count
    frames.append(frame)
    inApp.append(nil)
    hasLines.append(false)
  }

  mutating func learn(_ number: Int, _ named: [Summary.Frame], hasLines: Bool) {
    inApp[number] = named.last?.inApp
    self.hasLines[number] = hasLines
    if named.last?.module == StackResolver.unmapped { unmapped.insert(number) }
    if named.last?.module.map({ $0.hasPrefix("[") && $0 != "[vdso]" }) ?? true {
      moving.append(number)
      self.hasLines[number] = true
    }
  }

  func isUnmapped(_ number: Int) -> Bool { unmapped.contains(number) }

  /// The address as a stack of one frame.
  func asStack(_ number: Int) -> [PlacedFrame] { [frames[number]] }

  var hasInApp: Bool { inApp.contains(true) }

  func withoutLines(isInApp: Bool) -> [Int] {
    (firstCurrent..<frames.count).filter { !hasLines[$0] && (inApp[$0] ?? false) == isInApp }
  }

  mutating func forgetMoving() {
    for number in moving { numbers[Self.key(frames[number])] = nil }
    moving = []
  }

  mutating func forgetAll() {
    numbers = [:]
    moving = []
    firstCurrent = frames.count
  }

  private static func key(_ placed: PlacedFrame) -> Key {
    var address: UInt64 = 0
    if case .memory = placed.place { address = placed.frame.programCounter }
    return Key(
      place: placed.place, address: address, isExact: placed.frame.isExact,
      source: placed.frame.source)
  }
}
