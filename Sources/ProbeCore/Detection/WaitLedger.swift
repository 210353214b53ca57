// Where a watched thread's off-CPU time goes, call by call and object by object, over the whole run.
// From the probes and records that are taken anyway: nothing is read for it.

/// Sums up the waits of one thread. Bounded in size, and done with a probe in a few comparisons.
///
/// How much the thread was blocked between two probes the counters tell exactly: the time that passed
/// less its CPU time and its time ready for a CPU. What is left to find out is on what it was blocked.
/// In one sleep at both probes: on that. Else, with records of context switches, the ends of the sleeps
/// that the probes fell into are known. Sleeps in between that no probe saw are shared out like those of
/// their length that were seen: how often a probe falls into a kind of sleep is in proportion to the time
/// that goes to it. Without records the two probes share the time.
struct WaitLedger: Sendable {
  /// What a row is of.
  struct Key: Sendable, Equatable {
    /// The kernel's number of the call; below zero for what is no call.
    var call: Int32
    var category: WaitCategory
    var handle: UInt64?
    /// What the descriptor was, where that was read.
    var link: [UInt8]?
    /// The user's registers at the call, where callers are told apart.
    var site: WaitSite?

    /// Blocked outside of a system call.
    static let pageFault = Key(call: -1, category: .pageFault)
    /// By a signal, a debugger, the freezer.
    static let stopped = Key(call: -2, category: .other)
  }

  struct Row: Sendable, Equatable {
    let key: Key
    /// Surely spent there.
    var exact = Nanoseconds.zero
    /// Its share of time between probes that saw different things.
    var sampled = Nanoseconds.zero
    /// Sum of the squares of these, in ns^2.
    var squares = 0.0
    /// Probes that fell into sleeps short enough to be missed by others, and the time they stand for.
    var hits = 0
    var hitTime = Nanoseconds.zero
    /// Sleeps that were seen, and the longest of them as far as it was seen.
    var seen = 0
    var longest = Nanoseconds.zero
    /// It has grown since it was last told.
    var isNews = true
  }

  private struct Sleep: Sendable {
    var row: Int
    var length = Nanoseconds.zero
    /// From the probe before it to the first in it.
    var before = Nanoseconds.zero
    var probes = 1
    /// Begin and end come from records.
    var isRecorded = false
  }

  /// Rows of a thread. Chosen: more than anybody reads; later objects go to their call's common row.
  static let capacity = 48
  /// Counters of a running thread may be this old; see `AwayTime.counterLag`.
  private static let lag = Nanoseconds.milliseconds(10)

  /// Records of context switches tell where each sleep was.
  var tellsPlaces = false
  /// Calls from different functions are rows of their own.
  var keepsSites = false
  private(set) var rows: [Row] = []
  /// Asleep where no probe was.
  private(set) var unseen = Nanoseconds.zero
  /// All that went to rows and to `unseen`.
  private(set) var blocked = Nanoseconds.zero
  private(set) var since: Instant?
  private(set) var last: ThreadProbe?
  /// Blocked by the counters, and not yet shared out; below zero where counters lagged behind.
  private var owed = Nanoseconds.zero
  private var sleep: Sleep?
  /// By the kernel's records since the last probe: time in calls, by row.
  private var recorded: [(row: Int, time: Nanoseconds)] = []
  private var entered: (row: Int, at: Instant)?

  // MARK: Probes

  /// A probe; the records up to it must have been added.
  mutating func take(_ probe: ThreadProbe) {
    guard probe.state != .unknown else { return }
    guard let last, probe.at > last.at else {
      if last == nil { begin(probe) }
      return
    }
    let passed = probe.at - last.at
    owed += passed - (probe.cpu - last.cpu) - (probe.runDelay - last.runDelay)
    let slept = min(max(.zero, owed), passed)
    owed -= slept
    blocked += slept
    if !recorded.isEmpty || entered != nil {
      share(slept, recordsUntil: probe, passed: passed)
    } else if probe.slices == last.slices, sleep != nil {
      sleep?.length += slept
      sleep?.probes += probe.isAsleep ? 1 : 0
      if !probe.isAsleep { endSleep(passed) }
    } else if let span = probe.switches {
      share(slept, span, probe, passed: passed)
    } else {
      shareEvenly(slept, probe, passed: passed)
    }
    self.last = probe
  }

  private mutating func begin(_ probe: ThreadProbe) {
    since = probe.at
    last = probe
    startSleep(probe, .zero)
  }

  /// The thread did not sleep through, and records of its switches tell when it did what.
  private mutating func share(
    _ slept: Nanoseconds, _ span: SwitchSpan, _ probe: ThreadProbe, passed: Nanoseconds
  ) {
    let from = probe.at + (.zero - passed)
    var tail = sleep == nil ? .zero : max(.zero, (span.wokeAt ?? from) - from)
    var head = Nanoseconds.zero
    if probe.isAsleep { head = max(.zero, probe.at - max(from, span.asleepSince ?? probe.at)) }
    var hidden = span.hidden?.asleep ?? .zero
    // Records count what it waited for a CPU after it was woken to the sleep; the counters do not.
    head = min(head, slept)
    let known = tail + hidden
    if known > slept - head, known > .zero {
      let part = (slept - head).inSeconds / known.inSeconds
      tail = tail.scaled(part)
      hidden = slept - head - tail
    }
    // Counters of a running thread are older than the probe: what they claim too much they claim less
    // the next time.
    let rest = slept - head - tail - hidden
    let late = min(rest, max(.zero, Self.lag - max(.zero, owed)))
    owed += late
    blocked -= late
    let home = passHome(span, hidden)
    unseen += hidden - home + rest - late
    sleep?.length += tail
    if sleep?.isRecorded == true, span.wokeAt == nil { sleep?.isRecorded = false }
    endSleep(passed)
    startSleep(probe, passed)
    sleep?.length = head
    sleep?.isRecorded = span.asleepSince != nil
    // It stands for no others where all are known.
    if tellsPlaces, (span.hidden?.count ?? 0) == (span.hidden?.homes ?? 0) {
      sleep?.isRecorded = false
    }
  }

  /// Of the sleeps that no probe saw, those that are known to be at home.
  private mutating func passHome(_ span: SwitchSpan, _ asleep: Nanoseconds) -> Nanoseconds {
    guard let hidden = span.hidden, let home = hidden.home, hidden.asleep > .zero else {
      return .zero
    }
    let time = asleep.scaled(hidden.atHome.inSeconds / hidden.asleep.inSeconds)
    let row = row(of: home)
    rows[row].exact += time
    rows[row].seen += hidden.homes
    rows[row].isNews = true
    return time
  }

  /// Nothing but the two probes tells.
  private mutating func shareEvenly(
    _ slept: Nanoseconds, _ probe: ThreadProbe, passed: Nanoseconds
  ) {
    let before = sleep?.row
    endSleep(passed)
    startSleep(probe, passed)
    switch (before, sleep?.row) {
    case (nil, nil): unseen += slept
    case (let row?, nil), (nil, let row?): sample(slept, row)
    case (let row?, let other?) where row == other: sample(slept, row)
    case (let row?, let other?):
      sample(slept / 2, row)
      sample(slept - slept / 2, other)
    }
  }

  private mutating func sample(_ time: Nanoseconds, _ row: Int) {
    rows[row].sampled += time
    rows[row].squares += Double(time.rawValue) * Double(time.rawValue)
    rows[row].isNews = true
  }

  // MARK: Sleeps

  private mutating func startSleep(_ probe: ThreadProbe, _ before: Nanoseconds) {
    sleep = row(of: probe.state).map { Sleep(row: $0, before: before) }
    if let sleep {
      rows[sleep.row].seen += 1
      rows[sleep.row].isNews = true
    }
  }

  /// - Parameter after: from the last probe in it to the first one behind it.
  private mutating func endSleep(_ after: Nanoseconds) {
    guard let ended = sleep else { return }
    sleep = nil
    let row = ended.row
    rows[row].isNews = true
    rows[row].longest = max(rows[row].longest, ended.length)
    let reach = (ended.before + after) / 2
    if ended.isRecorded, ended.probes == 1, ended.length < reach {
      // Others like it were missed. It stands for them.
      unseen += ended.length
      rows[row].hits += 1
      rows[row].hitTime += reach
    } else {
      rows[row].exact += ended.length
    }
  }

  private mutating func row(of state: ThreadProbe.State) -> Int? {
    switch state {
    case .running, .unknown: nil
    case .blocked: row(.pageFault)
    case .stopped: row(.stopped)
    case .waiting(let wait): row(of: wait)
    }
  }

  private mutating func row(of wait: Wait) -> Int {
    row(
      Key(
        call: wait.site.call, category: wait.category, handle: wait.handle, link: wait.link,
        site: keepsSites ? wait.site : nil))
  }

  private mutating func row(_ key: Key) -> Int {
    if let place = rows.firstIndex(where: { $0.key == key }) { return place }
    // Room is left for the common rows of calls.
    if rows.count >= Self.capacity, key.handle != nil || key.site != nil {
      return row(Key(call: key.call, category: key.category))
    }
    if rows.count >= 2 * Self.capacity { return rows.count - 1 }
    rows.append(Row(key: key))
    return rows.count - 1
  }

  // MARK: The kernel's records of calls

  /// What the kernel told of a call: when it began and ended.
  mutating func take(_ record: WaitRecord) {
    guard let last else { return }
    switch record.step {
    case .entered(let wait): entered = (row(of: wait), max(record.at, last.at))
    case .left:
      if let entered {
        add(recorded: max(.zero, record.at - max(entered.at, last.at)), entered.row)
        rows[entered.row].seen += 1
        rows[entered.row].longest = max(rows[entered.row].longest, record.at - entered.at)
      }
      entered = nil
    case .exiting, .lost: entered = nil
    }
  }

  private mutating func add(recorded time: Nanoseconds, _ row: Int) {
    if let place = recorded.firstIndex(where: { $0.row == row }) {
      recorded[place].time += time
    } else {
      recorded.append((row, time))
    }
  }

  /// Time in calls is cut to the time that the thread slept: it also computed and waited for a CPU there.
  private mutating func share(
    _ slept: Nanoseconds, recordsUntil probe: ThreadProbe, passed: Nanoseconds
  ) {
    let from = probe.at + (.zero - passed)
    if let entered {
      add(recorded: max(.zero, probe.at - max(entered.at, from)), entered.row)
    }
    let all = recorded.reduce(Nanoseconds.zero) { $0 + $1.time }
    let part = all > slept ? slept.inSeconds / all.inSeconds : 1
    var rest = slept
    for (row, time) in recorded {
      let taken = min(rest, time.scaled(part))
      rows[row].exact += taken
      rows[row].isNews = true
      rest -= taken
    }
    recorded.removeAll(keepingCapacity: true)
    // Calls that are not recorded: a probe may have been in one.
    let isElsewhere = entered == nil && probe.isAsleep
    if let row = sleep?.row ?? (isElsewhere ? row(of: probe.state) : nil) {
      sample(rest, row)
    } else {
      unseen += rest
    }
    endSleep(passed)
    if isElsewhere { startSleep(probe, passed) }
  }

  /// The row of the sleep that the last probe saw.
  var current: Int? { sleep?.row ?? entered?.row }

  // MARK: News

  /// Rows that have grown, by number; afterwards they count as told.
  mutating func takeNews() -> [(number: Int, row: Row)] {
    var news: [(number: Int, row: Row)] = []
    for place in rows.indices where rows[place].isNews || sleep?.row == place {
      rows[place].isNews = false
      var row = rows[place]
      if let sleep, sleep.row == place {
        row.exact += sleep.length
        row.longest = max(row.longest, sleep.length)
      }
      news.append((place, row))
    }
    return news
  }
}

extension Nanoseconds {
  fileprivate func scaled(_ part: Double) -> Nanoseconds {
    Nanoseconds(Int64((Double(rawValue) * part).rounded()))
  }
}
