// Runs a program the way a shell does and captures exactly what came of it.
// Safety: pointers handed to the C library are to local values or to arrays borrowed for the call.

internal import Dispatch
@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable internal import ProbeCore

typealias Ending = ProbeCore.ExitStatus

/// A program to run. Its words are passed on as they are; no shell is in between.
struct Command: Sendable {
  enum Stream: Sendable {
    /// Into a file that is read at the end.
    case captured
    case closed
    case path(String)
    /// A pipe that nobody reads: every write fails.
    case brokenPipe
  }

  var words: [String]
  /// Changes to the environment; nil removes a variable.
  var environment: [String: String?] = [:]
  var input = "/dev/null"
  var output = Stream.captured
  var error = Stream.captured
  /// After this the whole group is killed and the test has failed.
  var limit = Nanoseconds.seconds(30)

  init(_ words: [String]) { self.words = words }

  /// Starts it in a process group of its own, with default signals and nothing blocked.
  func start(in folder: Scratch) throws -> Running {
    let stem = folder.unique("run")
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    let pipe = try BrokenPipe()
    for (number, stream) in [(Int32(1), output), (2, error)] {
      switch stream {
      case .captured:
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, number, "\(stem).\(number)", flags, 0o600)
      case .closed: unsafe posix_spawn_file_actions_addclose(&actions, number)
      case .path(let path):
        unsafe posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY, 0)
      case .brokenPipe: unsafe posix_spawn_file_actions_adddup2(&actions, pipe.writer, number)
      }
    }
    // What other tests have open at this moment is none of the program's business.
    for number in Int32(3)..<64 {
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    }

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var pid: pid_t = 0
    let result = unsafe withCStrings(words.map { Array($0.utf8) }) { arguments in
      unsafe withCStrings(variables()) { variables in
        unsafe posix_spawn(
          &pid, words[0], &actions, &attributes, arguments.baseAddress!, variables.baseAddress)
      }
    }
    try #require(result == 0, "posix_spawn \(words[0]): \(result)")
    return Running(
      pid: ProcessID(pid), stem: stem, limit: limit, name: words.joined(separator: " "))
  }

  /// Runs it to its end without holding up a thread of the test runner.
  func run(in folder: Scratch) async throws -> Finished {
    try await start(in: folder).finish()
  }

  private func variables() -> [[UInt8]] {
    var result: [[UInt8]] = []
    var place = unsafe environ
    while let variable = unsafe place.pointee {
      let text = unsafe String(cString: variable)
      if environment[String(text.prefix { $0 != "=" })] == nil { result.append(Array(text.utf8)) }
      unsafe place += 1
    }
    for (name, value) in environment {
      if let value { result.append(Array("\(name)=\(value)".utf8)) }
    }
    return result
  }
}

/// The writing end of a pipe whose reader is gone.
private struct BrokenPipe: ~Copyable {
  let writer: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    close(ends[0])
    writer = ends[1]
    _ = fcntl(writer, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(writer) }
}

/// A program that was started.
struct Running: Sendable {
  let pid: ProcessID
  fileprivate let stem: String
  fileprivate let limit: Nanoseconds
  fileprivate let name: String

  var errorSoFar: String { Scratch.text("\(stem).2") }

  func signal(_ number: Int32) { kill(pid.rawValue, number) }

  /// Ends the program and everything that is still in its group.
  func killGroup() { kill(-pid.rawValue, SIGKILL) }

  /// Waits for the end, off the test runner's threads.
  func finish() async throws -> Finished {
    let started = Clock.now()
    let status = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: wait()) }
    }
    return Finished(
      status: status.ending, hasCore: status.hasCore, isTimedOut: status.isTimedOut,
      output: Scratch.bytes("\(stem).1"), error: Scratch.text("\(stem).2"),
      time: Clock.now() - started)
  }

  private func wait() -> (ending: Ending, hasCore: Bool, isTimedOut: Bool) {
    var isTimedOut = false
    if let handle = try? PidFD(pid) {
      var set = PollSet([handle.raw])
      let deadline = Clock.now() + limit
      while !set.isReady(0), !isTimedOut {
        set.wait(deadline - Clock.now())
        isTimedOut = !set.isReady(0) && Clock.now() >= deadline
      }
      if isTimedOut {
        Issue.record("not over after \(limit.inSeconds) s: \(name)\n\(errorSoFar)")
        killGroup()
      }
    }
    var status: Int32 = 0
    while unsafe waitpid(pid.rawValue, &status, 0) < 0 && errno == EINTR {}
    return (Ending(waitStatus: status), status & 0x80 != 0, isTimedOut)
  }
}

/// What became of a program.
struct Finished: Sendable {
  var status: Ending
  var hasCore: Bool
  var isTimedOut: Bool
  var output: [UInt8]
  var error: String
  var time: Nanoseconds

  var text: String { String(decoding: output, as: UTF8.self) }
}
