// Events of waits and of thread alarms with every value there.

@testable import ProbeCore

enum WaitSamples {
  static let profile = WaitProfileReading(
    tid: ThreadID(42), length: .seconds(4), blocked: .seconds(3), unseen: .milliseconds(7),
    rows: [
      .init(
        number: 0, call: "poll", category: .idle, exact: .seconds(2), seen: 60,
        longest: .milliseconds(30)),
      .init(
        number: 47, call: "read", category: .pipe, object: "pipe from x\u{1b} (pid 1)",
        exact: Nanoseconds(1), sampled: Nanoseconds(2), sampledError: Nanoseconds(3), hits: 4,
        hitTime: Nanoseconds(5), seen: 6, longest: Nanoseconds(.max)),
    ])

  static let stack = WaitStackReading(
    tid: ThreadID(42), row: 47, places: [1, 2], truncation: .copyLimit)

  static let alarm: ThreadAlarmReading = {
    var alarm = ThreadAlarmReading(
      number: 1, at: Script.at(600), reason: .limit, limit: 64, threads: 70)
    alarm.peak = 81
    alarm.grown = (from: 1, since: Script.at(500))
    alarm.endedAt = Script.at(900)
    alarm.watched = ThreadID(42)
    alarm.before = .init(.milliseconds(1), over: .milliseconds(500))
    alarm.during = .init(.milliseconds(40), over: .milliseconds(400))
    return alarm
  }()

  static let parked: ParkedReading = {
    var wait = WaitReading(
      tid: ThreadID(43), at: Script.at(650), call: "futex", object: WaitObject(.lock))
    wait.object.lock = "mutex"
    wait.chain = [WaitLink(tid: ThreadID(42), name: "ma\u{1b}in", call: nil, object: nil)]
    return ParkedReading(
      alarm: 1, at: Script.at(650), looked: 64, blocked: 62,
      groups: [
        .init(count: 60, call: "futex", places: [1, 2], truncation: .copyLimit),
        .init(count: 2, call: nil, places: []),
      ],
      objects: [.init(count: 58, wait: wait)])
  }()
}
