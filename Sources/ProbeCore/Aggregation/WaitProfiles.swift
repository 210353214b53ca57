// Waits of watched threads over the run: what was counted becomes times with errors.

/// Folds what is told of waits. Bounded, whatever a recording says.
struct WaitProfiles: Sendable, Equatable {
  /// Threads, and rows of each.
  static let capacity = 64
  static let rowCapacity = 128

  private struct Thread: Sendable, Equatable {
    var reading: WaitProfileReading
    var rows: [Int: WaitProfileReading.Row] = [:]
  }

  private var threads: [Thread] = []

  mutating func add(_ reading: WaitProfileReading) {
    let place: Int
    if let known = threads.firstIndex(where: { $0.reading.tid == reading.tid }) {
      place = known
    } else {
      guard threads.count < Self.capacity else { return }
      place = threads.count
      threads.append(Thread(reading: reading))
    }
    threads[place].reading = reading
    threads[place].reading.rows = []
    for row in reading.rows
    where threads[place].rows[row.number] != nil || threads[place].rows.count < Self.rowCapacity {
      threads[place].rows[row.number] = row
    }
  }

  func rows(names: (ThreadID) -> String) -> [Summary.WaitProfile] {
    threads.map { thread in
      let reading = thread.reading
      var (rows, unseen) = Self.shared(thread.rows.values.map { $0 }, unseen: reading.unseen)
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
    _ rows: [WaitProfileReading.Row], unseen: Nanoseconds
  ) -> (rows: [Summary.WaitRow], unseen: Nanoseconds) {
    let hitTime = rows.reduce(0.0) { $0 + $1.hitTime.inSeconds }
    let hits = Double(rows.reduce(0) { $0 + $1.hits })
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
      return Summary.WaitRow(
        call: row.call, kind: row.category.word, object: row.object,
        time: row.exact + row.sampled + share, error: Nanoseconds(seconds: error),
        seen: row.seen, longest: row.longest)
    }
    return (merged(result), left < .microseconds(1) * Int64(rows.count) && hitTime > 0 ? .zero : left)
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
    }
    return result
  }
}

extension Nanoseconds {
  /// Stops at the largest one: a damaged recording may hold any numbers.
  fileprivate init(seconds: Double) {
    self.init(seconds.isFinite ? Int64(min(max(seconds, 0), 9e9) * 1e9) : 0)
  }

  fileprivate func part(_ part: Double) -> Nanoseconds { Nanoseconds(seconds: inSeconds * part) }
}
