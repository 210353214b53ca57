// Values over time in bounded space: when the list is full, neighbours are merged and the period doubles.
// A run of a minute and a run of a month give a series of the same size.

/// Collects what falls into evenly spaced buckets.
struct SeriesBuilder: Sendable, Equatable {
  /// Chosen: 600 points are more than a terminal or a plot is wide.
  static let capacity = 600
  /// Threads that may have a series of their own at a time; the summary shows the busiest of them.
  static let threadCapacity = 32

  private struct Bucket: Sendable, Equatable {
    var cpu = Nanoseconds.zero
    var covered = Nanoseconds.zero
    var footprint: UInt64?
    var threads: Int?
  }

  private struct ThreadValues: Sendable, Equatable {
    let account: Int
    var values: [Nanoseconds] = []
  }

  private(set) var period: Nanoseconds
  private let start: Instant
  private var buckets: [Bucket] = []
  /// At most `threadCapacity`.
  private var byThread: [ThreadValues] = []

  init(start: Instant, period: Nanoseconds) {
    self.start = start
    self.period = period
  }

  /// CPU used between two ticks; it counts where the later one falls.
  mutating func add(cpu: Nanoseconds, over length: Nanoseconds, threads: Int, at time: Instant) {
    let index = bucket(at: time)
    buckets[index].cpu += cpu
    buckets[index].covered += length
    buckets[index].threads = max(buckets[index].threads ?? 0, threads)
  }

  mutating func add(footprint: UInt64, at time: Instant) {
    let index = bucket(at: time)
    buckets[index].footprint = max(buckets[index].footprint ?? 0, footprint)
  }

  /// - Parameters:
  ///   - account: the number of the thread's account.
  ///   - isNotable: a thread without a series gets one only if it matters and there is room.
  mutating func add(cpu: Nanoseconds, account: Int, isNotable: Bool, at time: Instant) {
    let known = byThread.firstIndex { $0.account == account }
    guard known != nil || (isNotable && byThread.count < Self.threadCapacity) else { return }
    let index = bucket(at: time)
    let place = known ?? byThread.count
    if known == nil { byThread.append(ThreadValues(account: account)) }
    while byThread[place].values.count <= index { byThread[place].values.append(.zero) }
    byThread[place].values[index] += cpu
  }

  private mutating func bucket(at time: Instant) -> Int {
    var index = max(0, Int((time - start).rawValue / period.rawValue))
    while index >= Self.capacity {
      merge()
      index = Int((time - start).rawValue / period.rawValue)
    }
    while buckets.count <= index { buckets.append(Bucket()) }
    return index
  }

  private mutating func merge() {
    buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
      var left = buckets[index]
      guard index + 1 < buckets.count else { return left }
      let right = buckets[index + 1]
      left.cpu += right.cpu
      left.covered += right.covered
      left.footprint = [left.footprint, right.footprint].compactMap { $0 }.max()
      left.threads = [left.threads, right.threads].compactMap { $0 }.max()
      return left
    }
    for (place, entry) in byThread.enumerated() {
      let values = entry.values
      byThread[place].values = stride(from: 0, to: values.count, by: 2).map { index in
        index + 1 < values.count ? values[index] + values[index + 1] : values[index]
      }
    }
    period = period * 2
  }

  /// The last footprints, oldest first; one a bucket, the last known value where a bucket has none.
  func recentFootprint(_ count: Int) -> [UInt64] {
    buckets.suffix(count).compactMap(\.footprint)
  }

  /// The series for the summary.
  ///
  /// - Parameter threads: account, tid and name of the threads to show if they have a series.
  func series(threads: [(account: Int, tid: Int32, name: String)]) -> Summary.Series {
    Summary.Series(
      period: period, startMonotonic: start.nanoseconds,
      cpuPercent: buckets.map { percent($0.cpu, of: $0.covered) },
      footprint: buckets.map(\.footprint), threads: buckets.map(\.threads),
      perThreadCPU: threads.compactMap { thread in
        guard let values = byThread.first(where: { $0.account == thread.account })?.values else {
          return nil
        }
        let padded = values + Array(repeating: .zero, count: max(0, buckets.count - values.count))
        return Summary.ThreadSeries(
          tid: thread.tid, name: thread.name,
          values: zip(padded, buckets).map { percent($0, of: $1.covered) })
      })
  }

  private func percent(_ cpu: Nanoseconds, of length: Nanoseconds) -> Double? {
    length > .zero ? Percent.of(cpu, length) : nil
  }
}

/// Shares of one core.
enum Percent {
  /// `part` of `whole` in percent, to a hundredth: more digits than that are noise.
  static func of(_ part: Nanoseconds, _ whole: Nanoseconds) -> Double {
    (Double(part.rawValue) / Double(whole.rawValue) * 10_000).rounded() / 100
  }
}
