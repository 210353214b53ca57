// Stacks of stalls: each goes to the stall in which it was taken, and stands for a part of its time.

/// Folds what captures tell. Bounded, whatever a recording says.
struct StackAccount: Sendable, Equatable {
  /// Different code addresses kept; frames of later ones are left out. Chosen.
  static let placeCapacity = 65_536
  /// Functions inlined at one address, and frames of a stack. Chosen: more than anybody reads.
  static let framesPerPlace = 64
  static let framesPerStack = 1024
  /// Stacks of one stall, and of stalls that go on. More than captures are made.
  static let capacity = 2 * CaptureSchedule.limit

  private(set) var places: [Int: [Summary.Frame]] = [:]
  /// Of stalls that go on, in order of arrival.
  private(set) var pending: [ThreadID: [StackReading]] = [:]
  /// By number of the stall.
  private(set) var kept: [Int: [StackReading]] = [:]

  mutating func add(_ place: CodePlaceReading) {
    guard places[place.number] != nil || places.count < Self.placeCapacity else { return }
    places[place.number] = Array(place.frames.prefix(Self.framesPerPlace))
  }

  /// Adds a stack to a stall that has ended.
  mutating func add(_ stack: StackReading, toStall id: Int) {
    Self.insert(stack, &kept[id, default: []])
  }

  /// Keeps a stack until the stall in which it was taken has ended.
  mutating func add(pending stack: StackReading) {
    guard pending[stack.tid] != nil || pending.count < StallAccount.capacity else { return }
    Self.insert(stack, &pending[stack.tid, default: []])
  }

  private static func insert(_ stack: StackReading, _ list: inout [StackReading]) {
    if let same = list.firstIndex(where: { $0.at == stack.at }) {
      list[same] = stack
    } else if list.count < capacity {
      list.append(stack)
    }
  }

  /// Gives a stall that has ended what was taken in it. What is left over from before is dropped.
  mutating func ended(_ stall: StallReading, isKept: Bool) {
    guard let waiting = pending.removeValue(forKey: stall.tid) else { return }
    if isKept {
      for stack in waiting where stall.contains(stack.at) { add(stack, toStall: stall.id) }
    }
    let later = waiting.filter { $0.at > stall.start + stall.duration }
    if !later.isEmpty { pending[stall.tid] = later }
  }

  mutating func retracted(_ tid: ThreadID) { pending[tid] = nil }

  mutating func dropped(stall id: Int) { kept[id] = nil }

  /// The frames of the last stack of a stall that goes on.
  func latest(_ tid: ThreadID, since start: Instant) -> [Summary.Frame]? {
    pending[tid]?.filter { $0.at >= start }.max { $0.at < $1.at }.map { frames($0) }
  }

  /// A stall's stacks in order of time, each with the time that it stands for: from half-way to the one
  /// before to half-way to the one after. They add up to the stall's length.
  func rows(_ stall: StallReading) -> [Summary.Stack] {
    let taken = (kept[stall.id] ?? []).sorted { $0.at < $1.at }
    var begin = Nanoseconds.zero
    return taken.indices.map { index in
      let stack = taken[index]
      let at = stack.at - stall.start
      let end =
        index + 1 < taken.count
        ? at + (taken[index + 1].at - stack.at) / 2 : stall.duration
      defer { begin = end }
      let frames = frames(stack)
      let isCut = frames.count == Self.framesPerStack && stack.truncation == nil
      return Summary.Stack(
        at: at, weight: end - begin, stopTime: stack.stopTime,
        truncated: isCut ? .frameLimit : stack.truncation, frames: frames)
    }
  }

  private func frames(_ stack: StackReading) -> [Summary.Frame] { frames(stack.places) }

  /// The frames of code places, innermost first.
  func frames(_ numbers: [Int]) -> [Summary.Frame] {
    var frames: [Summary.Frame] = []
    for number in numbers.prefix(Self.framesPerStack) {
      guard let place = places[number] else { continue }
      frames += place.prefix(Self.framesPerStack - frames.count)
    }
    return frames
  }
}

extension StallReading {
  /// Whether it went on at that time.
  func contains(_ time: Instant) -> Bool { time >= start && time <= start + duration }
}
