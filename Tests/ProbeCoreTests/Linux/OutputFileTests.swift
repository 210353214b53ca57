internal import FoundationEssentials
@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

final class OutputFileTests {
  private let folder = Launching.temporaryDirectory()

  deinit { Launching.removeDirectory(folder) }

  private func put(_ name: String, _ text: String) throws {
    let file = try Syscalls.open(
      "\(folder)/\(name)", flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try Syscalls.writeAll(file.raw, Array(text.utf8))
  }

  private func write(_ path: String, _ text: String) throws {
    let file = try OutputFile(path)
    try file.append(Array(text.utf8))
    try file.commit()
  }

  private func names() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted() ?? []
  }

  private func text(_ name: String) -> String { Launching.contents("\(folder)/\(name)") }

  @Test func `the new content is there only when all of it is`() throws {
    try put("a", "old")
    let file = try OutputFile("\(folder)/a")
    try file.append(Array("new ".utf8))
    #expect(text("a") == "old")
    try file.append(Array("content".utf8))
    #expect(text("a") == "old")
    try file.commit()
    #expect(text("a") == "new content")
    #expect(names() == ["a"])
  }

  @Test func `dropped without a commit, nothing is left and nothing has changed`() throws {
    try put("a", "old")
    do {
      let file = try OutputFile("\(folder)/a")
      try file.append([1, 2, 3])
      #expect(text("a") == "old" && names().contains("a"))
    }
    do { _ = try OutputFile("\(folder)/new") }
    #expect(names() == ["a"] && text("a") == "old")
  }

  @Test func `a link stays a link, also one to nothing yet`() throws {
    try put("real", "old")
    for (link, target) in [("near", "real"), ("far", "\(folder)/real"), ("free", "not-yet")] {
      #expect(Launching.runPlainly(["/bin/ln", "-s", target, "\(folder)/\(link)"]) == .code(0))
    }
    try write("\(folder)/near", "one")
    #expect(text("real") == "one")
    try write("\(folder)/far", "two")
    #expect(text("real") == "two")
    try write("\(folder)/free", "three")
    #expect(text("not-yet") == "three")
    for link in ["near", "far", "free"] {
      #expect(throws: Never.self) { try Syscalls.readLink("\(folder)/\(link)") }
    }
    #expect(names() == ["far", "free", "near", "not-yet", "real"])
  }

  @Test func `a name that another one laid out is neither followed nor overwritten`() throws {
    try put("victim", "precious")
    // The first two names that we would take: a file and a link to somebody's file.
    try put("a.\(getpid()).0.tmp", "theirs")
    #expect(
      Launching.runPlainly(["/bin/ln", "-s", "victim", "\(folder)/a.\(getpid()).1.tmp"]) == .code(0)
    )
    try write("\(folder)/a", "ours")
    #expect(text("a") == "ours" && text("victim") == "precious")
    #expect(text("a.\(getpid()).0.tmp") == "theirs")
  }

  @Test(arguments: [
    ("", ENOENT), ("/no/such/folder/file", ENOENT), ("/tmp", EISDIR), ("/tmp/", EISDIR),
    ("/dev/null/file", ENOTDIR),
  ])
  func `a name that cannot be written fails at once`(path: String, code: Int32) {
    let error = #expect(throws: SystemError.self) { _ = try OutputFile(path) }
    #expect(error?.code == code)
    #expect(error?.object == path)
  }

  @Test func `a full disk is an error with the user's name for the file`() throws {
    let file = try OutputFile("/dev/full")
    let error = #expect(throws: SystemError.self) { try file.append([1]) }
    #expect(error == SystemError(call: "write", object: "/dev/full", code: ENOSPC))
  }

  @Test func `a folder that goes away before the end keeps the error's name`() throws {
    #expect(Launching.runPlainly(["/bin/mkdir", "\(folder)/sub"]) == .code(0))
    let path = "\(folder)/sub/a"
    let file = try OutputFile(path)
    Launching.removeDirectory("\(folder)/sub")
    var error: SystemError?
    do throws(SystemError) { try file.commit() } catch let failure { error = failure }
    // The call is linkat or rename, as the file system has files without a name or not.
    #expect(error?.object == path && error?.code == ENOENT)
  }

  @Test func `a pipe with a name is written through`() throws {
    let path = "\(folder)/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    let reader = try Syscalls.open(path, flags: O_RDWR | O_NONBLOCK)
    try write(path, "through")
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = try Syscalls.read(reader.raw, into: &buffer)
    #expect(String(decoding: buffer[..<count], as: UTF8.self) == "through")
    #expect(names() == ["fifo"])
  }

  @Test func `a device is written through, and is one afterwards`() throws {
    try write("/dev/null", "gone")
    // A file put in its place would have what was written.
    #expect(try InputFile.read("/dev/null").isEmpty)
    let left = try Syscalls.open("/dev/null", flags: O_WRONLY)
    try Syscalls.writeAll(left.raw, [1])
    #expect(try InputFile.read("/dev/null").isEmpty)
  }

  @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
  func `the target's own output behind a descriptor is added to, never replaced`(path: String)
    async throws
  {
    let out = "\(folder)/out"
    try put("out", "")
    await #expect(processExitsWith: .success) { [path = path as String, out = out as String] in
      let file = try Syscalls.open(out, flags: O_WRONLY | O_APPEND)
      #expect(dup2(file.raw, 1) == 1)
      try Syscalls.writeAll(1, Array("the target's\n".utf8))
      let output = try OutputFile(path)
      try output.append(Array("ours\n".utf8))
      try output.commit()
      try Syscalls.writeAll(1, Array("and more\n".utf8))
    }
    // The testing library adds a few bytes of its own at the end of a process.
    #expect(text("out").hasPrefix("the target's\nours\nand more\n"))
    #expect(names() == ["out"])
  }

  @Test func `an output is handed over once`() throws {
    let carrier = SendableFile(try OutputFile("\(folder)/a"))
    var taken = 0
    for _ in 0..<3 {
      guard let file = carrier.take() else { continue }
      taken += 1
      try file.commit()
    }
    #expect(taken == 1)
    #expect(names() == ["a"])
  }

  @Test func `a pipe is read to its end, also from a writer that takes its time`() throws {
    let path = "\(folder)/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    for script in ["printf ab > fifo", "sleep 0.4; { printf a; sleep 0.3; printf b; } > fifo"] {
      let writer = "cd '\(folder)' && { { \(script); } & } 2>/dev/null"
      #expect(Launching.runPlainly(["/bin/sh", "-c", writer]) == .code(0))
      #expect(try InputFile.read(path) == Array("ab".utf8))
    }
    // Opened and closed without a byte: an empty file, at once.
    let empty = "cd '\(folder)' && { { sleep 0.3; : > fifo; } & }"
    #expect(Launching.runPlainly(["/bin/sh", "-c", empty]) == .code(0))
    #expect(try InputFile.read(path).isEmpty)
  }

  @Test func `a pipe that nobody writes to is given up`() throws {
    let path = "\(folder)/fifo"
    #expect(unsafe mkfifo(path, 0o600) == 0)
    var error: SystemError?
    do throws(SystemError) {
      _ = try InputFile.read(path, patience: .milliseconds(150))
    } catch let failure {
      error = failure
    }
    #expect(error == SystemError(call: SystemError.waitForWriter, object: path, code: ETIMEDOUT))
    #expect(error?.reason == "nobody writes to this pipe")
  }

  @Test func `a file is read whole, up to the limit`() throws {
    try put("in", String(repeating: "x", count: 200_000))
    #expect(try InputFile.read("\(folder)/in").count == 200_000)
    #expect(try InputFile.read("\(folder)/in", limit: 200_000).count == 200_000)
    let path = "\(folder)/in"
    #expect(throws: SystemError(call: "read", object: path, code: EFBIG)) {
      try InputFile.read(path, limit: 199_999)
    }
    #expect(throws: SystemError(call: "read", object: "/dev/zero", code: EFBIG)) {
      try InputFile.read("/dev/zero", limit: 1 << 20)
    }
    #expect(throws: SystemError(call: "read", object: folder, code: EISDIR)) {
      try InputFile.read(self.folder)
    }
    #expect(try InputFile.read("/dev/null").isEmpty)
    // A file of /proc says it is empty and is not.
    #expect(try !InputFile.read("/proc/self/stat").isEmpty)
  }
}
