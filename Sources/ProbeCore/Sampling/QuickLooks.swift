// Looks between full ticks: noted at once, written as ticks together.

/// The looks that were noted since the last full tick.
struct QuickLooks: ~Copyable {
  var ticks = QuickTicks()
  private var threadCount = 0
  private var changed: [Int] = []

  /// From now on looks are noted as long as these threads, the first ones, explain the clock. Not while
  /// one of them may still give itself a name.
  mutating func arm(_ hot: ArraySlice<ThreadSlot>, clock: Nanoseconds, statm: Int32) {
    guard hot.allSatisfy({ $0.nameChecks == 0 }) else { return }
    threadCount = hot.count
    let known = hot.reduce(Nanoseconds.zero) { $0 + $1.cpu }
    ticks.arm(clock: clock, rest: clock - known, statm: statm)
    for slot in hot { ticks.add(file: slot.file) }
  }

  /// When the oldest look was taken.
  var oldest: Instant? { ticks.noteCount > 0 ? ticks.note(0).at : nil }

  /// The process clock at the last one.
  var lastClock: Nanoseconds? {
    ticks.noteCount > 0 ? ticks.note(ticks.noteCount - 1).clock : nil
  }

  /// Writes the looks as ticks, and forgets them.
  ///
  /// - Parameters:
  ///   - slots: all threads, in the order that they had when it was armed.
  ///   - memory: holds for looks at which no page had come or gone.
  /// - Returns: how many events were written.
  mutating func write(
    _ slots: inout [ThreadSlot], memory: MemoryReading?, into out: inout ByteWriter
  ) -> Int {
    var frames = 0
    for number in 0..<ticks.noteCount {
      let note = ticks.note(number)
      changed.removeAll(keepingCapacity: true)
      for place in 0..<(note.ran ? threadCount : 0) {
        let reading = ticks.reading(number, thread: place)
        guard reading.cpu != slots[place].cpu || reading.runDelay != slots[place].runDelay else {
          continue
        }
        slots[place].cpu = reading.cpu
        slots[place].runDelay = reading.runDelay
        slots[place].needsDetail = true
        changed.append(place)
      }
      slots.writeTick(
        at: note.at, late: note.late, skipped: note.skipped, clock: note.clock, changed, into: &out)
      frames += 1
      guard note.ran, !note.hasNewPages, var same = memory else { continue }
      same.at = note.at
      EventCodec.encode(.memory(same), into: &out)
      frames += 1
    }
    ticks.forget()
    return frames
  }
}
