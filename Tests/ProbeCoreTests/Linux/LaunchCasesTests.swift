// Programs that cannot be run, or only as a shell would: the kind, the code and the words for each.

import Glibc
import Testing

@testable import ProbeCore

@Suite struct LaunchCasesTests {
  /// One line of launch_cases.sh.
  private struct Case {
    var name: String
    var exit: Int32
    var why: String

    init?(_ line: Substring) {
      func field(_ key: String, until end: Character) -> Substring? {
        guard let start = line.firstRange(of: "\"\(key)\":") else { return nil }
        let rest = line[start.upperBound...]
        return end == "\"" ? rest.dropFirst().prefix { $0 != end } : rest.prefix { $0 != end }
      }
      guard let name = field("argv0", until: "\""), let why = field("why", until: "\""),
        let exit = field("exit", until: ",").flatMap({ Int32($0) })
      else { return nil }
      self.name = String(name)
      self.exit = exit
      self.why = String(why)
    }
  }

  @Test func `every case has the exit code of a shell, and its message names the file`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let list = directory + ".cases"
    defer { _ = unsafe unlink(list) }
    let script = Launching.target("launch_cases.sh")
    #expect(
      Launching.runPlainly(["/bin/sh", "-c", "\"$0\" \"$1\" > \"$2\"", script, directory, list])
        == .code(0))
    let cases = Launching.contents(list).split(separator: "\n").compactMap { Case($0) }
    #expect(cases.count == 13)
    for one in cases {
      var name = one.name
      var environment = LaunchRequest.Environment.inherited
      if name.hasPrefix("PATH=") {
        let parts = name.split(separator: " ", maxSplits: 1)
        environment = .exactly([Array(parts[0].utf8)])
        name = String(parts[1])
      }
      do {
        let status = try Launching.run(Launching.request(name, environment: environment)).status
        #expect(status == .code(one.exit), "\(one.name): \(one.why)")
      } catch let error as LaunchError {
        #expect(error.kind.exitCode == one.exit, "\(one.name): \(one.why): \(error.message)")
        #expect(error.message.contains("'\(name)'"), "\(error.message)")
        #expect(!error.message.contains("\n"))
      }
    }
    #expect(!Launching.exists(directory + "/pwned"))
    #expect(!Launching.exists("pwned"))
  }

  @Test func `a missing interpreter is named`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let path = directory + "/badinterp"
    write("#!/no/such/interp -x\n", to: path, mode: 0o755)
    let direct = failure(of: try Launching.request(path))
    #expect(direct?.kind == .notFound)
    #expect(direct?.interpreter == "/no/such/interp")
    #expect(direct?.message.contains("'/no/such/interp'") == true)

    // The same file through PATH, and as the interpreter of another one.
    let found = failure(
      of: try Launching.request(
        "badinterp", environment: .exactly([Array("PATH=/bin:\(directory)".utf8)])))
    #expect(found?.kind == .notFound)
    #expect(found?.path == path)
    #expect(found?.interpreter == "/no/such/interp")
    write("#!\(path)\n", to: directory + "/second", mode: 0o755)
    #expect(
      failure(of: try Launching.request(directory + "/second"))?.interpreter == "/no/such/interp")
  }

  @Test func `a missing ELF loader is named`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let path = directory + "/ls"
    // The loader's name is replaced in place by one of the same length.
    let change = "LC_ALL=C sed 's,/lib64/ld-,/nolib/ld-,' /bin/ls > \"$0\"; chmod +x \"$0\""
    _ = Launching.runPlainly(["/bin/sh", "-c", change, path])
    let error = failure(of: try Launching.request(path))
    #expect(error?.kind == .notFound)
    #expect(error?.interpreter?.hasPrefix("/nolib/ld-") == true)
  }

  @Test func `an interpreter that cannot be executed makes 126 and is named`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    write("text", to: directory + "/interp", mode: 0o644)
    write("#!\(directory)/interp\n", to: directory + "/script", mode: 0o755)
    let error = failure(of: try Launching.request(directory + "/script"))
    #expect(error?.kind == .notRunnable)
    #expect(error?.interpreter == directory + "/interp")
  }

  @Test func `a file without permission is remembered when PATH has nothing better`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    _ = unsafe mkdir(directory + "/a", 0o755)
    _ = unsafe mkdir(directory + "/b", 0o755)
    write("exit 0", to: directory + "/a/tool", mode: 0o644)
    let path = "PATH=\(directory)/a:\(directory)/none:\(directory)/b"
    let environment = LaunchRequest.Environment.exactly([Array(path.utf8)])
    let error = failure(of: try Launching.request("tool", environment: environment))
    #expect(error?.kind == .notRunnable)
    #expect(error?.cause == .noExecutePermission)
    #expect(error?.path == directory + "/a/tool")
    write("#!/bin/sh\nexit 6\n", to: directory + "/b/tool", mode: 0o755)
    #expect(
      try Launching.run(Launching.request("tool", environment: environment)).status == .code(6))
  }

  @Test func `text without a first line gets its own path and arguments from sh`() throws {
    let directory = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(directory) }
    let path = directory + "/text"
    write("test \"$0\" = '\(path)' && test \"$*\" = 'a b' && exit 5\n", to: path, mode: 0o755)
    #expect(try Launching.run(Launching.request(path, "a", "b")).status == .code(5))
  }

  @Test func `words of the target cannot reach the terminal raw`() throws {
    let error = failure(of: try Launching.request("/no/\u{1b}[2J\nfile"))
    #expect(error?.message.contains("'/no/\\x1b[2J\\nfile'") == true)
  }

  @Test func `a failed launch leaves no process`() throws {
    let held = try Launching.request("/no/such/program").hold()
    let pid = held.pid.rawValue
    do {
      _ = try held.release()
      Issue.record("a program that does not exist was executed")
    } catch {
      #expect(error.kind == .notFound)
    }
    #expect(Launching.isGone(pid))
  }

  private func failure(of request: LaunchRequest) -> LaunchError? {
    do throws(LaunchError) {
      _ = try request.hold().release()
      return nil
    } catch {
      return error
    }
  }

  private func write(_ text: String, to path: String, mode: mode_t) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    precondition(file >= 0)
    var bytes = Array(text.utf8)
    let count = unsafe Glibc.write(file, &bytes, bytes.count)
    precondition(count == bytes.count)
    close(file)
  }
}
