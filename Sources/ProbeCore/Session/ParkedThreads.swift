// The threads of an alarm where they are parked: copied on pw-tracer, unwound and counted on pw-recorder.

/// A wish to know where threads are.
struct ParkedOrder: Sendable, Equatable {
  /// Number of the alarm.
  var alarm: Int
  var threads: [ThreadID]
}

/// What was found.
struct ParkedThreads: Sendable {
  struct Thread: Sendable {
    var snapshot: StackSnapshot
    /// nil outside of a call.
    var call: Int64?
    /// The lock or the descriptor that the call names; nil where it names none.
    var object: UInt64?
  }

  /// What several threads may wait for together.
  struct Object: Sendable {
    var call: Int64
    var handle: UInt64
    var count: Int
    var wait: WaitReading?
  }

  let order: ParkedOrder
  let at: Instant
  private(set) var threads: [Thread] = []
  private(set) var objects: [Object] = []
  /// On a CPU or ready for one, so that only a stop would tell where.
  var running = 0

  init(order: ParkedOrder, at: Instant) {
    self.order = order
    self.at = at
  }

  /// - Parameter find: what the thread waits for; asked once for each object.
  mutating func add(
    _ snapshot: StackSnapshot, _ line: SyscallLine, find: (Instant) -> FoundWait?
  ) {
    var thread = Thread(snapshot: snapshot)
    if case .inside(let call) = line {
      thread.call = call.number
      let number = Int32(truncatingIfNeeded: call.number)
      let names = WaitCalls.naming.contains(number) || WaitCalls.queues.contains(number)
      if names { thread.object = call.arguments.first }
      if let handle = thread.object { count(call.number, handle, find) }
    }
    threads.append(thread)
  }

  private mutating func count(
    _ call: Int64, _ handle: UInt64, _ find: (Instant) -> FoundWait?
  ) {
    if let place = objects.firstIndex(where: { $0.call == call && $0.handle == handle }) {
      objects[place].count += 1
    } else {
      objects.append(Object(call: call, handle: handle, count: 1))
    }
    // Not of every lock that one thread alone waits for.
    if let place = objects.firstIndex(where: { $0.call == call && $0.handle == handle }),
      objects[place].wait == nil, objects[place].count == 2
    {
      objects[place].wait = find(at)?.reading
    }
  }
}

extension StackKeeper {
  /// Counts threads with the same stack and tells of them.
  func tell(_ parked: ParkedThreads, into out: inout ByteWriter) {
    let unwound = parked.threads.map { resolver.unwind($0.snapshot).stack }
    let stacks = numbers(of: unwound.map { resolver.places(of: $0.frames) }, into: &out)
    var groups: [ParkedReading.Group] = []
    for (index, thread) in parked.threads.enumerated() {
      let call = thread.call.map { SystemCalls.name($0) }
      let isSame = { (group: ParkedReading.Group) in
        group.call == call && group.places == stacks[index]
      }
      if let place = groups.firstIndex(where: isSame) {
        groups[place].count += 1
      } else {
        groups.append(
          .init(
            count: 1, call: call, places: stacks[index], truncation: unwound[index].truncation))
      }
    }
    groups.sort { ($1.count, $0.call ?? "") < ($0.count, $1.call ?? "") }
    let objects = parked.objects.compactMap { object in
      object.wait.map { ParkedReading.Object(count: object.count, wait: $0) }
    }.sorted { $0.count > $1.count }
    EventCodec.encode(
      .parked(
        ParkedReading(
          alarm: parked.order.alarm, at: parked.at,
          looked: parked.threads.count + parked.running, blocked: parked.threads.count,
          groups: Array(groups.prefix(16)), objects: Array(objects.prefix(4)))), into: &out)
  }
}
