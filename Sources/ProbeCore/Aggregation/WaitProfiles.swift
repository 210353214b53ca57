// Waits of watched threads over the run: what was counted becomes times with errors.

/// Folds what is told of waits. Bounded, whatever a recording says.
struct WaitProfiles: Sendable, Equatable {
  /// Threads, and rows of each.
  static let capacity = 64
  static let rowCapacity = 128
  /// Stacks of one row that are told. Chosen.
  static let stacksPerRow = 8

  private struct Thread: Sendable, Equatable {
    var reading: WaitProfileReading
    var rows: [Int: WaitProfileReading.Row] = [:]
    var stacks: [Int: WaitStackReading] = [:]
  }

  private var threads: [Thread] = []

  /// The place of a thread; nil if there is no room for it.
  private mutating func place(of tid: ThreadID) -> Int? {
    if let known = threads.firstIndex(where: { $0.reading.tid == tid }) { return known }
    guard threads.count < Self.capacity else { return nil }
    threads.append(
      Thread(
        reading: WaitProfileReading(
          tid: tid, length: .zero, blocked: .zero, unseen: .zero, rows: [])))
    return threads.count - 1
  }

  /// A stack may be told of before its row is.
  mutating func add(_ stack: WaitStackReading) {
    guard let place = place(of: stack.tid),
      threads[place].stacks[stack.row] != nil || threads[place].stacks.count < Self.rowCapacity
    else { return }
    threads[place].stacks[stack.row] = stack
  }

  mutating func add(_ reading: WaitProfileReading) {
    guard let place = place(of: reading.tid) else { return }
    threads[place].reading = reading
    threads[place].reading.rows = []
    for row in reading.rows
    where threads[place].rows[row.number] != nil || threads[place].rows.count < Self.rowCapacity {
      threads[place].rows[row.number] = row
    }
  }

  func rows(
    names: (ThreadID) -> String, frames: ([Int]) -> [Summary.Frame]
  ) -> [Summary.WaitProfile] {
    threads.map { thread in
      let reading = thread.reading
      var (rows, unseen) = Self.shared(
        thread.rows.values.sorted { $0.number < $1.number }, unseen: reading.unseen
      ) { number, time in
        thread.stacks[number].map {
          Summary.WaitStack(time: time, truncated: $0.truncation, frames: frames($0.places))
        }
      }
      // What is open at the last look is in a row already.
      let sum = rows.reduce(unseen) { $0 + $1.time }
      if sum < reading.blocked { unseen += reading.blocked - sum }
      rows.sort { ($1.time, $0.call, $0.object ?? "") < ($0.time, $1.call, $1.object ?? "") }
      return Summary.WaitProfile(
        tid: reading.tid.rawValue, name: names(reading.tid), length: reading.length,
        blocked: reading.blocked, unseen: unseen, rows: rows)
    }
  }

  /// The rows, each with its share of the sleeps that no probe fell into.
  private static func shared(
    _ rows: [WaitProfileReading.Row], unseen: Nanoseconds,
    stack: (Int, Nanoseconds) -> Summary.WaitStack?
  ) -> (rows: [Summary.WaitRow], unseen: Nanoseconds) {
    let hitTime = rows.reduce(0.0) { $0 + $1.hitTime.inSeconds }
    let hits = rows.reduce(0.0) { $0 + Double($1.hits) }
    var left = unseen
    let result = rows.map { row -> Summary.WaitRow in
      var share = Nanoseconds.zero
      var error = row.sampledError.inSeconds
      if hitTime > 0 {
        let part = row.hitTime.inSeconds / hitTime
        share = min(left, unseen.part(part))
        left -= share
        error += unseen.inSeconds * deviation(hits: Double(row.hits), of: hits)
      }
      let time = row.exact + row.sampled + share
      return Summary.WaitRow(
        call: row.call, kind: row.category.word, object: row.object, time: time,
        error: Nanoseconds(seconds: error), seen: row.seen, longest: row.longest,
        stacks: [stack(row.number, time)].compactMap { $0 })
    }
    return (
      merged(result), left < .microseconds(1) * Int64(rows.count) && hitTime > 0 ? .zero : left
    )
  }

  /// Two standard deviations of a share that was found by sampling, by Laplace's rule of succession: a
  /// single sample proves little.
  private static func deviation(hits: Double, of all: Double) -> Double {
    guard hits > 0 else { return 0 }
    let part = (hits + 1) / (all + 2)
    return 2 * (part * (1 - part) / (all + 3)).squareRoot()
  }

  /// Objects that have the same name (a lock at the same place of stacks that come and go, a file that was
  /// opened again) are one.
  private static func merged(_ rows: [Summary.WaitRow]) -> [Summary.WaitRow] {
    var result: [Summary.WaitRow] = []
    for row in rows {
      let same = result.firstIndex {
        $0.call == row.call && $0.object == row.object && $0.kind == row.kind
      }
      guard let place = same else {
        result.append(row)
        continue
      }
      result[place].time += row.time
      result[place].error += row.error
      result[place].seen = result[place].seen.saturatedAdding(row.seen)
      result[place].longest = max(result[place].longest, row.longest)
      add(row.stacks, to: &result[place].stacks)
    }
    return result
  }
}

extension WaitProfiles {
  /// The same functions on stacks of another depth are one.
  private static func add(_ stacks: [Summary.WaitStack], to all: inout [Summary.WaitStack]) {
    for stack in stacks {
      if let same = all.firstIndex(where: { $0.frames == stack.frames }) {
        all[same].time += stack.time
      } else {
        all.append(stack)
      }
    }
    all.sort { $0.time > $1.time }
    all = Array(all.prefix(stacksPerRow))
  }
}

extension Nanoseconds {
  /// Stops at the largest one: a damaged recording may hold any numbers.
  fileprivate init(seconds: Double) {
    self.init(seconds.isFinite ? Int64((min(max(seconds, 0), 9e9) * 1e9).rounded()) : 0)
  }

  fileprivate func part(_ part: Double) -> Nanoseconds { Nanoseconds(seconds: inSeconds * part) }
}
