// Every wait call of one thread with exact times and registers, told by the kernel's tracepoints.
// Safety: rings are mapped and unmapped only here; records are copied out into our own array, and are
// parsed there with bounds checks.

internal import CProbe
internal import Glibc

/// One step of a wait call as the tracepoints give it.
enum WaitTraceRecord: Equatable, Sendable {
  case entered(call: Int64, arguments: [UInt64], stackPointer: UInt64, programCounter: UInt64)
  case left(call: Int64)
  case lost(Int)
}

/// Where tracefs is and the numbers of the two tracepoints that we use.
struct TracePoints: Sendable, Equatable {
  let enter: UInt64
  let exit: UInt64

  /// Finds tracefs among the mounts; mounts nothing.
  ///
  /// - Throws: one line that says what is missing and how to get it.
  static func find() throws(ObserverProblem) -> TracePoints {
    guard let place = MountTable.place(type: "tracefs") else {
      throw ObserverProblem(
        "tracefs is not mounted; as root: mount -t tracefs tracefs /sys/kernel/tracing")
    }
    func number(_ name: String) throws(ObserverProblem) -> UInt64 {
      let path = "\(place)/events/raw_syscalls/\(name)/id"
      let bytes: [UInt8]
      do {
        bytes = try InputFile.read(path, limit: 64)
      } catch {
        throw ObserverProblem("\(path) cannot be read (\(error.reason)); run as root")
      }
      let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      guard let value = UInt64(text) else { throw ObserverProblem("\(path) holds no number") }
      return value
    }
    return TracePoints(enter: try number("sys_enter"), exit: try number("sys_exit"))
  }

  /// Opens them on the calling thread, to learn whether it is permitted.
  func test() throws(ObserverProblem) {
    do {
      _ = try WaitTrace(OwnProcess.thread, points: self, calls: [0])
    } catch {
      throw ObserverProblem(
        "the kernel does not permit tracepoints (\(error.call): \(error.reason)); "
          + "run as root or with CAP_PERFMON")
    }
  }
}

/// Why an observer cannot be had: one line with what to do.
public struct ObserverProblem: Error, Sendable, Equatable {
  public let message: String

  init(_ message: String) { self.message = message }
}

/// The wait calls of one thread from now on.
@safe struct WaitTrace: ~Copyable {
  private var rings: [cprobe_ring] = unsafe []
  private let points: TracePoints
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  /// - Parameter calls: the numbers of the calls to be told of.
  /// - Throws: EACCES or EPERM where it is not permitted; ESRCH when the thread is gone.
  init(_ tid: ThreadID, points: TracePoints, calls: [Int32]) throws(SystemError) {
    self.points = points
    let filter = calls.map { "id == \($0)" }.joined(separator: " || ")
    var first = unsafe cprobe_ring()
    // 64 pages hold 2000 waits: 80 000 a second at 40 reads a second. Chosen.
    try Self.check(
      unsafe cprobe_perf_open_tracepoint(tid.rawValue, points.enter, filter, 64, -1, &first), tid)
    var second = unsafe cprobe_ring()
    let result = unsafe cprobe_perf_open_tracepoint(
      tid.rawValue, points.exit, filter, 0, first.fd, &second)
    guard result == 0 else {
      unsafe cprobe_ring_close(&first)
      throw SystemError(call: "perf_event_open", object: "\(tid)", code: -result)
    }
    unsafe rings = [first, second]
  }

  deinit {
    var open = unsafe rings
    // The second event writes into the first one's ring, so it goes first.
    for index in unsafe open.indices.reversed() { unsafe cprobe_ring_close(&open[index]) }
  }

  private static func check(_ result: Int32, _ tid: ThreadID) throws(SystemError) {
    if result < 0 {
      throw SystemError(call: "perf_event_open", object: "\(tid)", code: -result)
    }
  }

  /// What happened since the last call, oldest first; as much as fits the buffer, so that a thread which
  /// waits faster than we read cannot hold us up. The rest comes next time, or is lost and reported so.
  ///
  /// - Returns: false when more is waiting.
  mutating func take(_ body: (Instant, WaitTraceRecord) -> Void) -> Bool {
    for _ in 0..<4 {
      let count = unsafe buffer.withUnsafeMutableBufferPointer { space in
        // An array with content has an address.
        unsafe space.baseAddress.map { unsafe cprobe_ring_take(&rings[0], $0, space.count) } ?? 0
      }
      if count == 0 { return true }
      Self.parse(buffer[..<count], points: points, body)
    }
    return false
  }

  /// Takes samples apart: time, raw fields of the tracepoint, then the two registers.
  static func parse(
    _ bytes: ArraySlice<UInt8>, points: TracePoints, _ body: (Instant, WaitTraceRecord) -> Void
  ) {
    func number(_ at: Int, _ size: Int) -> UInt64 {
      guard at + size <= bytes.endIndex else { return 0 }
      return (0..<size).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }
    var at = bytes.startIndex
    while at + 8 <= bytes.endIndex {
      let size = Int(number(at + 6, 2))
      guard size >= 8, at + size <= bytes.endIndex else { return }
      let end = at + size
      switch number(at, 4) {
      case 2: body(Instant(nanoseconds: 0), .lost(Int(clamping: number(at + 16, 8))))
      case 9:
        let time = Instant(nanoseconds: Int64(clamping: number(at + 8, 8)))
        let rawSize = Int(number(at + 16, 4))
        let raw = at + 20
        guard rawSize >= 16, raw + rawSize <= end else { break }
        let call = Int64(bitPattern: number(raw + 8, 8))
        if number(raw, 2) == points.exit {
          body(time, .left(call: call))
        } else if number(raw, 2) == points.enter, rawSize >= 64 {
          // Behind the raw bytes: the registers' ABI (0 when there are none), then SP and PC.
          let registers = raw + rawSize
          guard registers + 24 <= end, number(registers, 8) != 0 else { break }
          body(
            time,
            .entered(
              call: call, arguments: (0..<6).map { number(raw + 16 + 8 * $0, 8) },
              stackPointer: number(registers + 8, 8), programCounter: number(registers + 16, 8)))
        }
      default: break
      }
      at = end
    }
  }
}
