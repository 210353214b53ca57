// The forked helper that runs libdw and the demanglers on what may be hostile, seen from our side:
// started, read until it is done or out of time, and ended in any case.
// Safety: arrays are lent for the call that starts the helper, which has its own copy after the fork.
// The helper runs C only. Answers are read into our own array and taken apart with bounds checks.

internal import CProbe
internal import Glibc

/// One answer of the helper about one name or address.
struct HelperAnswer: Equatable {
  enum Kind: UInt16 {
    case name = 1
    case inlined = 2
    case function = 3
    case done = 4
    case noDebug = 5
  }

  var index: Int
  var kind: Kind
  var isCut: Bool
  var line: Int?
  var name: [UInt8]
  var file: [UInt8]
}

/// Runs the helper.
enum SymbolHelper {
  /// How a run went.
  struct Outcome {
    var answers: [HelperAnswer] = []
    /// It said all that it had to say.
    var isComplete = false
    /// The time was over, or the caller did not want to wait any more.
    var isStopped = false
    /// CPU that the helper used; not part of our own clock.
    var cpu = Nanoseconds.zero
  }

  /// Bytes of answers that are read at most in one run (chosen).
  static let answerLimit = 8 << 20

  /// Demangles. Names must not hold a NUL.
  ///
  /// - Throws: the error of fork(2) or pipe(2).
  static func demangle(
    _ names: [[UInt8]], limit: Int, until deadline: Instant
  ) throws(SystemError) -> Outcome {
    var text: [CChar] = []
    for name in names {
      text.append(contentsOf: name.lazy.map { CChar(bitPattern: $0) })
      text.append(0)
    }
    var helper = cprobe_helper()
    let result = unsafe text.withUnsafeBufferPointer { space in
      unsafe space.baseAddress.map {
        unsafe cprobe_demangle_start($0, space.count, names.count, limit, &helper)
      } ?? -EINVAL
    }
    guard result == 0 else { throw SystemError(call: "fork", code: -result) }
    return collect(helper, until: deadline) { false }
  }

  /// Looks lines up in the file's DWARF, addresses in the order given; those that came in time.
  ///
  /// - Parameter isCancelled: asked every 20 ms.
  /// - Throws: the error of fork(2) or pipe(2).
  static func lines(
    _ descriptor: Int32, _ addresses: [UInt64], limit: Int, until deadline: Instant,
    isCancelled: () -> Bool
  ) throws(SystemError) -> Outcome {
    var helper = cprobe_helper()
    let result = unsafe addresses.withUnsafeBufferPointer { space in
      unsafe space.baseAddress.map {
        unsafe cprobe_lines_start(descriptor, $0, space.count, limit, &helper)
      } ?? -EINVAL
    }
    guard result == 0 else { throw SystemError(call: "fork", code: -result) }
    return collect(helper, until: deadline, isCancelled: isCancelled)
  }

  private static func collect(
    _ started: cprobe_helper, until deadline: Instant, isCancelled: () -> Bool
  ) -> Outcome {
    var helper = started
    var outcome = Outcome()
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 32 << 10)
    var wait = PollSet([helper.pipe])
    var isOpen = true
    while isOpen {
      let rest = deadline - Clock.now()
      guard rest > .zero, !isCancelled(), bytes.count < answerLimit else {
        outcome.isStopped = true
        break
      }
      wait.wait(min(rest, Nanoseconds(20_000_000)))
      guard wait.isReady(0) else { continue }
      // Nothing to read after all (EAGAIN) is asked again; any other error is an end.
      do throws(SystemError) {
        let count = try Syscalls.read(helper.pipe, into: &buffer)
        bytes.append(contentsOf: buffer[..<count])
        isOpen = count > 0
      } catch {
        isOpen = error.code == EAGAIN
      }
    }
    var status: Int32 = 0
    let microseconds = unsafe cprobe_helper_end(&helper, &status)
    outcome.cpu = Nanoseconds(microseconds * 1000)
    outcome.isComplete = !outcome.isStopped && status == 0
    outcome.answers = parse(bytes)
    return outcome
  }

  /// Takes answers apart; a last one that is not whole is left out.
  static func parse(_ bytes: [UInt8]) -> [HelperAnswer] {
    func number(_ at: Int, _ size: Int) -> Int {
      (0..<size).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
    }
    let headSize = MemoryLayout<cprobe_answer>.size
    var answers: [HelperAnswer] = []
    var at = 0
    while at + headSize <= bytes.count {
      let name = number(at + 12, 4)
      let file = number(at + 16, 4)
      let body = at + headSize
      guard name + file <= bytes.count - body,
        let kind = HelperAnswer.Kind(rawValue: UInt16(number(at + 4, 2)))
      else { break }
      let line = number(at + 8, 4)
      answers.append(
        HelperAnswer(
          index: number(at, 4), kind: kind, isCut: number(at + 6, 2) != 0,
          line: line > 0 ? line : nil, name: Array(bytes[body..<body + name]),
          file: Array(bytes[body + name..<body + name + file])))
      at = body + name + file
    }
    return answers
  }
}
