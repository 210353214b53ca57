// What /proc says of one thread while it is captured, through files that stay open.
// They belong to that thread for good: when it has ended they fail, and never tell of a stranger.

/// The open files of one thread.
struct CaptureFiles: ~Copyable {
  let pid: ProcessID
  let tid: ThreadID
  private let syscall: FileDescriptor
  /// Closed in `deinit`; -1 where the kernel has none.
  private let schedstat: Int32
  private var buffer = [UInt8](repeating: 0, count: 256)

  /// - Parameter folder: /proc/<pid>/task, kept open.
  init(
    _ pid: ProcessID, _ tid: ThreadID, in folder: borrowing FileDescriptor
  ) throws(CaptureRefusal) {
    self.pid = pid
    self.tid = tid
    do {
      syscall = try Syscalls.open("\(tid)/syscall", below: folder, flags: 0)
    } catch {
      throw CaptureRefusal(error)
    }
    schedstat = (try? Syscalls.open("\(tid)/schedstat", below: folder, flags: 0))?.release() ?? -1
  }

  deinit { if schedstat >= 0 { _ = FileDescriptor(owning: schedstat) } }

  var line: Int32 { syscall.raw }

  /// The syscall file's content.
  mutating func readLine() throws(CaptureRefusal) -> [UInt8] {
    do {
      let count = try Syscalls.read(syscall.raw, at: 0, into: &buffer)
      return Array(buffer[..<count])
    } catch {
      throw CaptureRefusal(error)
    }
  }

  /// How often it was put on a CPU: unchanged means that it has not run. nil or always 0 where the
  /// kernel does not count, and then an unchanged syscall line has to do.
  mutating func slices() -> UInt64? {
    guard schedstat >= 0, let count = try? Syscalls.read(schedstat, at: 0, into: &buffer) else {
      return nil
    }
    return try? SchedStat(buffer.span.extracting(0..<count)).timeslices
  }

  /// Its stat file; nil when it has ended.
  func stat() -> TaskStat? {
    guard let bytes = try? InputFile.read("/proc/\(pid)/task/\(tid)/stat", limit: 4096) else {
      return nil
    }
    return try? TaskStat(bytes.span)
  }

  /// Who traces it; nil for nobody, and when it has ended.
  func tracer() -> ProcessID? {
    guard let bytes = try? InputFile.read("/proc/\(pid)/task/\(tid)/status", limit: 16384),
      let tracer = try? TaskStatus(bytes.span).tracer, tracer.rawValue != 0
    else { return nil }
    return tracer
  }

  /// Whether a descriptor is a socket; true where that cannot be learnt, as the careful answer.
  func isSocket(_ descriptor: UInt64) -> Bool {
    guard let link = try? Syscalls.readLink("/proc/\(pid)/task/\(tid)/fd/\(descriptor)") else {
      return true
    }
    return link.starts(with: "socket:".utf8)
  }
}

extension CaptureRefusal {
  init(_ error: SystemError) {
    self = error.isGone ? .gone : error.isNotPermitted ? .notPermitted : .failed(error)
  }
}
