// Forks, exits and execs of a process and its descendants, told by the kernel (perf_event_open).
// Safety: a ring is mapped and unmapped only here; records are copied out into our own array, and are
// parsed there with bounds checks.

internal import CProbe
internal import Glibc

/// One thing that happened to a process below the watched one.
enum TaskRecord: Equatable, Sendable {
  case forked(pid: ProcessID, parent: ProcessID, at: Instant)
  case exited(pid: ProcessID, at: Instant)
  /// The program or thread named itself; of a leader it is the process's name.
  case named(pid: ProcessID, name: [UInt8])
  /// The kernel had no room for this many records.
  case lost(Int)
}

/// The task records of everything that a thread forks from now on, in any depth.
@safe struct TaskRecords: ~Copyable {
  private var rings: [cprobe_ring] = unsafe []
  private let counter: Int32
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// Opens one ring a CPU (an inheriting event cannot have one for all) and a CPU-time counter.
  ///
  /// - Throws: EACCES or EPERM where perf events are not permitted, ENOSYS or EMFILE elsewhere.
  init(_ pid: ProcessID, cpus: Int) throws(SystemError) {
    counter = cprobe_perf_open_cpu(pid.rawValue)
    guard counter >= 0 else { throw SystemError(call: "perf_event_open", code: -counter) }
    for cpu in 0..<cpus {
      var ring = unsafe cprobe_ring()
      // 16 pages hold 1300 records: 13000 forks a second on each CPU at ten reads a second.
      let result = unsafe cprobe_perf_open_tasks(pid.rawValue, Int32(cpu), 16, &ring)
      // A CPU that is off line takes no events.
      if result == -ENODEV { continue }
      guard result == 0 else {
        unsafe Self.close(&rings)
        _ = FileDescriptor(owning: counter)
        throw SystemError(call: "perf_event_open", code: -result)
      }
      unsafe rings.append(ring)
    }
  }

  deinit {
    var open = unsafe rings
    unsafe Self.close(&open)
    _ = FileDescriptor(owning: counter)
  }

  private static func close(_ rings: inout [cprobe_ring]) {
    for index in unsafe rings.indices { unsafe cprobe_ring_close(&rings[index]) }
  }

  /// CPU time of the watched thread and of everything forked from it, exited ones included.
  func cpu() -> Nanoseconds? {
    let value = cprobe_perf_read(counter)
    return value >= 0 ? Nanoseconds(value) : nil
  }

  /// What happened since the last call, in no strict order between CPUs.
  mutating func take() -> [TaskRecord] {
    var records: [TaskRecord] = []
    for index in unsafe rings.indices {
      while true {
        let count = unsafe buffer.withUnsafeMutableBufferPointer { space in
          // An array with content has an address.
          unsafe space.baseAddress.map { unsafe cprobe_ring_take(&rings[index], $0, space.count) }
            ?? 0
        }
        if count == 0 { break }
        Self.parse(buffer[..<count], into: &records)
      }
    }
    return records
  }

  /// Takes records apart (enum perf_event_type in linux/perf_event.h).
  static func parse(_ bytes: ArraySlice<UInt8>, into records: inout [TaskRecord]) {
    func word(_ at: Int) -> UInt32 {
      guard at + 4 <= bytes.endIndex else { return 0 }
      return (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
    }
    func long(_ at: Int) -> UInt64 { UInt64(word(at)) | UInt64(word(at + 4)) << 32 }
    func shortest(_ kind: UInt32) -> Int { kind == 2 ? 24 : kind == 3 ? 16 : 32 }
    var at = bytes.startIndex
    while at + 8 <= bytes.endIndex {
      let size = Int(bytes[at + 6]) | Int(bytes[at + 7]) << 8
      guard size >= 8, at + size <= bytes.endIndex else { return }
      let body = at + 8
      let pid = ProcessID(Int32(bitPattern: word(body)))
      // A record too short for its kind is none of ours.
      switch size >= shortest(word(at)) ? word(at) : 0 {
      case 2: records.append(.lost(Int(clamping: long(body + 8))))
      case 3 where word(body) == word(body + 4):
        let name = bytes[(body + 8)..<(at + size)].prefix { $0 != 0 }
        records.append(.named(pid: pid, name: Array(name)))
      case 4 where word(body) == word(body + 8):
        records.append(
          .exited(pid: pid, at: Instant(nanoseconds: Int64(clamping: long(body + 16)))))
      case 7 where word(body) != word(body + 4):
        records.append(
          .forked(
            pid: pid, parent: ProcessID(Int32(bitPattern: word(body + 4))),
            at: Instant(nanoseconds: Int64(clamping: long(body + 16)))))
      default: break
      }
      at += size
    }
  }
}
