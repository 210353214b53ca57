// A /proc tree of our own making, whose files change between two looks.

internal import FoundationEssentials

@testable import ProbeCore

/// One process below a temporary root. Files are rewritten in place, as a kept descriptor sees it.
final class ScratchProc {
  let root: String
  let pid: Int32

  init(pid: Int32 = 500) {
    root = Launching.temporaryDirectory()
    self.pid = pid
    makeDirectory("\(pid)/task")
  }

  deinit { Launching.removeDirectory(root) }

  var source: ProcSource { ProcSource(root: root, pid: ProcessID(pid)) }

  func makeDirectory(_ path: String) {
    let made: Void? = try? FileManager.default.createDirectory(
      atPath: "\(root)/\(path)", withIntermediateDirectories: true)
    precondition(made != nil, "cannot make \(root)/\(path)")
  }

  /// Writes a file below the root without replacing it.
  func write(_ path: String, _ bytes: [UInt8]) {
    let full = "\(root)/\(path)"
    do {
      // O_WRONLY | O_CREAT | O_TRUNC.
      let file = try Syscalls.open(full, flags: 0o1101, mode: 0o644)
      try Syscalls.writeAll(file.raw, bytes)
    } catch {
      preconditionFailure("cannot write \(full): \(error.reason)")
    }
  }

  func write(_ path: String, _ text: String) { write(path, Array(text.utf8)) }

  func remove(_ path: String) { Launching.removeDirectory("\(root)/\(path)") }

  /// A thread with its counters in milliseconds.
  func thread(_ tid: Int32, _ name: String = "app", cpu: Int64, delay: Int64 = 0) {
    let folder = "\(pid)/task/\(tid)"
    makeDirectory(folder)
    write("\(folder)/schedstat", "\(cpu * 1_000_000) \(delay * 1_000_000) 5\n")
    write("\(folder)/comm", name + "\n")
    write("\(folder)/stat", Self.stat(tid, name, parent: 1))
    write("\(folder)/status", Self.status(tid, of: pid, name))
  }

  func end(_ tid: Int32) { remove("\(pid)/task/\(tid)") }

  /// Another process's files.
  func process(
    _ other: Int32, parent: Int32, name: String = "p", user: Int64 = 0, childUser: Int64 = 0,
    anonymousKilobytes: Int = 100
  ) {
    makeDirectory("\(other)/task")
    write("\(other)/stat", Self.stat(other, name, parent: parent, user: user, childUser: childUser))
    write("\(other)/status", Self.status(other, of: other, name, anonymous: anonymousKilobytes))
    write("\(other)/comm", name + "\n")
    write("\(other)/cmdline", name + "\0")
  }

  static func stat(
    _ tid: Int32, _ name: String, parent: Int32, user: Int64 = 0, childUser: Int64 = 0
  ) -> String {
    let tail = Array(repeating: "0", count: 30).joined(separator: " ")
    return "\(tid) (\(name)) S \(parent) \(tid) \(tid) 0 -1 4194304 10 0 0 0 \(user) 0 "
      + "\(childUser) 0 20 0 1 0 777 1000 100 \(tail)\n"
  }

  static func status(
    _ tid: Int32, of process: Int32, _ name: String, anonymous: Int? = 100
  ) -> String {
    let memory = anonymous.map {
      "VmHWM:\t\($0 + 50) kB\nVmRSS:\t\($0 + 20) kB\nRssAnon:\t\($0) kB\nRssFile:\t10 kB\n"
        + "RssShmem:\t8 kB\nVmPTE:\t4 kB\nVmSwap:\t2 kB\n"
    }
    let escaped = name.map { $0 == "\\" ? "\\\\" : $0 == "\n" ? "\\n" : String($0) }.joined()
    return "Name:\t\(escaped)\nState:\tS (sleeping)\nTgid:\t\(process)\nPid:\t\(tid)\n"
      + (memory ?? "") + "voluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t3\n"
  }
}

/// What a sampler wrote, as events.
func events(_ out: inout ByteWriter) -> [ProbeEvent] {
  var reader = ByteReader(out.bytes)
  var events: [ProbeEvent] = []
  while let event = try? EventCodec.decode(&reader) { events.append(event) }
  out.removeAll()
  return events
}

extension [ProbeEvent] {
  var lastTick: Tick? {
    compactMap { event in if case .tick(let tick) = event { tick } else { nil } }.last
  }
  var seen: [ThreadSeen] {
    compactMap { event in if case .threadSeen(let seen) = event { seen } else { nil } }
  }
  var endedThreads: [Int32] {
    compactMap { event in
      if case .threadEnded(let tid, _) = event { tid.rawValue } else { nil }
    }
  }
}
