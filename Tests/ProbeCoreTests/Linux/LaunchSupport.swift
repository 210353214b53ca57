// What the launch tests share: the built targets, a plain run to compare with, files, a deadline.

@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

/// Helpers of the launch tests; static, because the body of an exit test has no instance.
enum Launching {
  /// Tests/Targets/bin, built on first use.
  static let targets: String = {
    let tests = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let folder = "/" + tests + "/Targets"
    let status = runPlainly(["/bin/sh", "-c", "exec make -s -C \"$0\" >&2", folder])
    precondition(status == .code(0), "make -C \(folder) failed; a C compiler and make are needed")
    return folder + "/bin"
  }()

  static func target(_ name: String) -> String { targets + "/" + name }

  /// Starts a command by posix_spawn, which passes everything of the calling thread on.
  static func spawn(_ command: [String]) -> Int32 {
    var pid: pid_t = 0
    let result = unsafe withCStrings(command.map { Array($0.utf8) }) { arguments in
      unsafe posix_spawn(&pid, command[0], nil, nil, arguments.baseAddress!, environ)
    }
    precondition(result == 0, "posix_spawn \(command[0]): \(result)")
    return pid
  }

  /// The same, until its end.
  static func runPlainly(_ command: [String]) -> ProbeCore.ExitStatus {
    let pid = spawn(command)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
  }

  /// A request for a command of words, with no signal blocked: tests run on Dispatch threads, which
  /// block nearly all of them.
  static func request(
    _ words: String..., environment: LaunchRequest.Environment = .inherited
  ) throws -> LaunchRequest {
    var inherited = try InheritedState.capture()
    inherited.signalMask = SignalMask(rawValue: 0)
    return LaunchRequest(
      command: words.map { Array($0.utf8) }, environment: environment, inherited: inherited)
  }

  /// Launches, waits and reaps.
  static func run(_ request: LaunchRequest) throws -> RunningTarget.Reaped {
    try request.hold().release().reap()
  }

  /// A fresh directory under /tmp.
  static func temporaryDirectory() -> String {
    var template = Array("/tmp/perfwatch-launchXXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer {
      unsafe mkdtemp($0.baseAddress!) != nil
    }
    precondition(made, "mkdtemp: \(errno)")
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func removeDirectory(_ directory: String) {
    _ = runPlainly(["/bin/rm", "-rf", directory])
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Whether no process of this number is left, not even a zombie.
  static func isGone(_ pid: Int32) -> Bool { kill(pid, 0) == -1 && errno == ESRCH }

  /// A whole file as text; empty where it is not there.
  static func contents(_ path: String) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes: [UInt8] = []
    while true {
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
        count = unsafe max(0, read(file, buffer.baseAddress, buffer.count))
      }
      if chunk.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk
    }
  }

  /// Asks again and again until the answer is there; nil after ten seconds.
  static func eventually<Answer>(_ answer: () throws -> Answer?) rethrows -> Answer? {
    for _ in 0..<10_000 {
      if let found = try answer() { return found }
      usleep(1_000)
    }
    return nil
  }

  /// CLOCK_MONOTONIC in seconds.
  static func monotonicSeconds() -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
