import Glibc
import Testing

@testable import ProbeCore

@Suite struct TaskRecordsTests {
  /// A record of linux/perf_event.h: type, size, then 32-bit words or bytes.
  private func record(_ type: UInt32, _ words: [UInt32], tail: [UInt8] = []) -> [UInt8] {
    func bytes(_ word: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
    }
    let body = words.flatMap(bytes) + tail
    let size = UInt16(8 + body.count)
    return bytes(type) + [0, 0, UInt8(size & 0xff), UInt8(size >> 8)] + body
  }

  private func parse(_ bytes: [UInt8]) -> [TaskRecord] {
    var records: [TaskRecord] = []
    TaskRecords.parse(bytes[...], into: &records)
    return records
  }

  private var stream: [(bytes: [UInt8], means: TaskRecord?)] {
    let at = Instant(nanoseconds: 5 << 32 | 6)
    return [
      // FORK: pid, ppid, tid, ptid, time.
      (
        record(7, [50, 42, 50, 42, 6, 5]),
        .forked(pid: ProcessID(50), parent: ProcessID(42), at: at)
      ),
      (record(7, [42, 42, 51, 42, 6, 5]), nil),  // a thread
      // COMM: pid, tid, name.
      (
        record(3, [50, 50], tail: Array("a\n)\u{1b}\0\0\0\0".utf8)),
        .named(pid: ProcessID(50), name: Array("a\n)\u{1b}".utf8))
      ),
      (record(3, [50, 51], tail: Array("thread\0\0".utf8)), nil),
      (record(14, [1, 2, 3]), nil),  // a kind we do not ask for
      // LOST: id, count.
      (record(2, [9, 0, 7, 0]), .lost(7)),
      (record(2, [9, 0, .max, .max]), .lost(.max)),
      // EXIT: pid, ppid, tid, ptid, time; of a thread, and of a process.
      (record(4, [50, 42, 51, 42, 6, 5]), nil),
      (record(4, [50, 42, 50, 42, 6, 5]), .exited(pid: ProcessID(50), at: at)),
    ]
  }

  @Test func `each kind is taken apart`() {
    for (bytes, means) in stream { #expect(parse(bytes) == [means].compactMap { $0 }) }
    #expect(parse(stream.flatMap(\.bytes)) == stream.compactMap(\.means))
  }

  @Test func `a cut anywhere gives the whole records before it`() {
    let all = stream
    let bytes = all.flatMap(\.bytes)
    for count in 0...bytes.count {
      var left = count
      var expected: [TaskRecord] = []
      for (record, means) in all {
        guard left >= record.count else { break }
        left -= record.count
        if let means { expected.append(means) }
      }
      #expect(parse(Array(bytes.prefix(count))) == expected, "cut at \(count)")
    }
  }

  @Test func `records shorter than their kind, and wild bytes, are survived`() {
    for type in UInt32(0)...20 {
      for words in 0...6 {
        let short = record(type, Array(repeating: 0, count: words))
        _ = parse(short)
        // A short one does not hide what follows it.
        #expect(parse(short + record(2, [9, 0, 7, 0])).last == .lost(7))
      }
    }
    var dice = Dice(seed: 23)
    let good = stream.flatMap(\.bytes)
    for _ in 0..<5000 {
      var bytes = good
      for _ in 0...dice.below(8) {
        bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.next())
      }
      _ = parse(bytes)
    }
  }

  @Test func `a slice that does not begin at zero is read from where it begins`() {
    let bytes = [1, 2, 3] + record(2, [9, 0, 7, 0])
    var records: [TaskRecord] = []
    TaskRecords.parse(bytes[3...], into: &records)
    #expect(records == [.lost(7)])
  }

  @Test func `real forks are told with their parents, names and ends`() throws {
    do throws(SystemError) {
      _ = try TaskRecords(OwnProcess.pid, cpus: HostInfo.configuredCPUs)
    } catch {
      print("skipped: perf_event_open is refused: \(error.reason)")
      return
    }
    let held = try Launching.request(
      "/bin/sh", "-c", "/bin/sh -c '/bin/true; /bin/true'; : end"
    ).hold()
    let pid = held.pid
    var records = try TaskRecords(pid, cpus: HostInfo.configuredCPUs)
    let status = try held.release().reap().status
    #expect(status == .code(0))
    var news: [TaskRecord] = []
    _ = Launching.eventually { () -> Bool? in
      news += records.take()
      return news.contains { if case .exited(pid, _) = $0 { true } else { false } } ? true : nil
    }
    let forks = news.compactMap { record -> (Int32, Int32)? in
      if case .forked(let child, let parent, _) = record {
        (child.rawValue, parent.rawValue)
      } else {
        nil
      }
    }
    // The inner shell, and the two programs below it (a shell may exec the last one itself).
    #expect(forks.contains { $0.1 == pid.rawValue })
    let inner = try #require(forks.first { $0.1 == pid.rawValue }?.0)
    #expect(forks.contains { $0.1 == inner })
    let ends = news.count { if case .exited = $0 { true } else { false } }
    #expect(ends == forks.count + 1)
    #expect(news.contains { if case .named(_, Array("true".utf8)) = $0 { true } else { false } })
    let cpu = records.cpu()
    #expect(try #require(cpu) > .zero)
    let rest = records.take()
    #expect(rest.isEmpty)
  }
}
