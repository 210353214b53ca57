import Testing

@testable import ProbeCore

@Suite struct LimitsTests {
  private func limits(
    duration: Int64? = nil, timeout: Int64? = nil, killAfter: Int64 = 5000
  ) -> Limits {
    var configuration = WatchConfiguration(build: .init(version: "1", commit: nil))
    configuration.duration = duration.map { .milliseconds($0) }
    configuration.timeout = timeout.map { .milliseconds($0) }
    configuration.killAfter = .milliseconds(killAfter)
    return Limits(configuration, start: Script.origin)
  }

  @Test func `without limits nothing is ever due`() throws {
    let control = try WatchControl()
    var limits = limits()
    #expect(limits.next == nil)
    #expect(limits.due(at: Instant(nanoseconds: .max), control).isEmpty)
    #expect(!control.read { $0.stopsWatching })
    #expect(limits.reason(or: .exit, exited: true) == .exit)
    #expect(limits.reason(or: .interrupt, exited: false) == .interrupt)
  }

  @Test func `a duration ends the watching and leaves the target alone`() throws {
    let control = try WatchControl()
    var limits = limits(duration: 1000)
    #expect(limits.next == Script.at(1000))
    #expect(limits.due(at: Script.at(999), control).isEmpty)
    #expect(!control.read { $0.stopsWatching } && !limits.hasStoppedWatching)
    #expect(limits.due(at: Script.at(1000), control).isEmpty)
    #expect(control.read { $0.stopsWatching } && limits.hasStoppedWatching)
    #expect(limits.next == nil)
    #expect(limits.reason(or: .exit, exited: false) == .duration)
    // If the target ended in the same moment, that is how it ended.
    #expect(limits.reason(or: .exit, exited: true) == .exit)
  }

  @Test func `a time-out asks first and kills later, once each`() throws {
    let control = try WatchControl()
    var limits = limits(timeout: 1000, killAfter: 300)
    #expect(limits.due(at: Script.at(999), control).isEmpty)
    #expect(limits.due(at: Script.at(1010), control) == [SignalNumber.terminate])
    #expect(limits.next == Script.at(1310))
    #expect(limits.due(at: Script.at(1309), control).isEmpty)
    #expect(limits.due(at: Script.at(1310), control) == [SignalNumber.kill])
    #expect(limits.next == nil)
    #expect(limits.due(at: Script.at(9999), control).isEmpty)
    #expect(limits.reason(or: .exit, exited: true) == .timeout)
    #expect(!control.read { $0.stopsWatching })
  }

  @Test func `no grace means both signals at once`() throws {
    let control = try WatchControl()
    var limits = limits(timeout: 10, killAfter: 0)
    #expect(
      limits.due(at: Script.at(10), control) == [SignalNumber.terminate, SignalNumber.kill])
  }

  @Test func `the nearest deadline comes first`() throws {
    let control = try WatchControl()
    var limits = limits(duration: 500, timeout: 300)
    #expect(limits.next == Script.at(300))
    #expect(limits.due(at: Script.at(300), control) == [SignalNumber.terminate])
    #expect(limits.next == Script.at(500))
    #expect(limits.due(at: Script.at(500), control).isEmpty)
    #expect(limits.reason(or: .exit, exited: false) == .timeout)
  }

  @Test func `stopping for another reason takes the duration away and wakes the poller`() throws {
    let control = try WatchControl()
    var limits = limits(duration: 500)
    limits.stopWatching(control)
    #expect(limits.next == nil && limits.hasStoppedWatching)
    #expect(control.read { $0.stopsWatching })
    var bell = PollSet([control.pollerBell.descriptor.raw])
    bell.wait(.zero)
    #expect(bell.isReady(0))
    #expect(limits.reason(or: .detach, exited: false) == .detach)
  }

  @Test func `a limit of centuries is never due`() throws {
    let control = try WatchControl()
    var configuration = WatchConfiguration(build: .init(version: "1", commit: nil))
    configuration.duration = Nanoseconds(.max)
    configuration.timeout = Nanoseconds(.max)
    var limits = Limits(configuration, start: Script.origin)
    #expect(limits.due(at: Script.at(1_000_000), control).isEmpty)
    #expect(!limits.hasStoppedWatching)
  }
}
