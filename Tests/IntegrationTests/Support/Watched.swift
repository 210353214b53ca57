// perfwatch under test: where it is, and runs of it with all that it left behind.

internal import FoundationEssentials
internal import Testing

@testable internal import ProbeCore

enum Perfwatch {
  /// `PERFWATCH`, else the debug build beside the test bundle.
  static let path: String = {
    if let path = Environment.value("PERFWATCH"), !path.isEmpty { return path }
    let link = (try? Syscalls.readLink("/proc/self/exe")) ?? []
    let beside =
      "/"
      + String(decoding: link, as: UTF8.self).split(separator: "/").dropLast()
      .joined(separator: "/") + "/perfwatch"
    return Scratch.exists(beside) ? beside : repository + "/.build/debug/perfwatch"
  }()

  static let repository =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  static let tests = repository + "/Tests"

  /// What make says where the targets cannot be built.
  struct Unbuilt: Error { var output: String }

  /// Tests/Targets/bin, built on first use.
  static let targets: Task<String, any Error> = Task {
    let folder = tests + "/Targets"
    let built = try await Command(["/usr/bin/make", "-s", "-C", folder]).run(in: Scratch())
    // No `#require`: its error is recorded in the first test only, and the others would pass.
    guard built.status == .code(0) else { throw Unbuilt(output: built.error) }
    return folder + "/bin"
  }

  static func target(_ name: String) async throws -> String { try await targets.value + "/" + name }

  static func command(_ words: [String]) -> Command { Command([path] + words) }
}

/// One run of `perfwatch run`, with the files that it and the target wrote.
struct Watched: Sendable {
  var finished: Finished
  var truth: Truth
  var folder: Scratch

  /// Runs a target by its name (or any program by its path) under perfwatch.
  ///
  /// - Parameters:
  ///   - options: of `perfwatch run`, beside `--summary`.
  ///   - change: a last change to the command.
  init(
    _ target: String, _ arguments: [String] = [], options: [String] = [],
    change: (inout Command) -> Void = { _ in }
  ) async throws {
    let program = target.contains("/") ? target : try await Perfwatch.target(target)
    let folder = try Scratch()
    var command = Perfwatch.command(
      ["run", "--summary", folder["summary.json"]] + options + ["--", program] + arguments)
    command.environment["TARGET_TRUTH"] = folder["truth"]
    change(&command)
    finished = try await command.run(in: folder)
    truth = Truth(folder["truth"])
    self.folder = folder
  }

  var summary: Summary {
    get throws { try Self.summary(folder["summary.json"]) }
  }

  static func summary(_ path: String) throws -> Summary {
    let bytes = Scratch.bytes(path)
    try #require(!bytes.isEmpty, "no summary in \(path)")
    return try JSONDecoder().decode(Summary.self, from: Data(bytes))
  }
}

/// A target that runs by itself, for perfwatch to attach to.
struct Target: Sendable {
  let running: Running
  let folder: Scratch

  /// Starts it and waits until it has said that it is there.
  init(
    _ name: String, _ arguments: [String] = [], ready: String = "start", through: [String] = []
  ) async throws {
    let program = name.contains("/") ? name : try await Perfwatch.target(name)
    folder = try Scratch()
    var command = Command(through + [program] + arguments)
    command.environment["TARGET_TRUTH"] = folder["truth"]
    running = try command.start(in: folder)
    let truth = folder["truth"]
    try await eventually("\(name) says '\(ready)'") {
      Truth(truth).lines.contains { $0.ev == ready }
    }
  }

  var truth: Truth { Truth(folder["truth"]) }
  var pid: Int32 { running.pid.rawValue }
  var isAlive: Bool { Process.isAlive(pid) }

  /// Ends it if it has not ended by itself.
  func end() async throws {
    running.killGroup()
    _ = try await running.finish()
  }

  /// Attaches perfwatch until it lets go or the target ends.
  func attach(_ options: [String]) async throws -> (finished: Finished, summary: Summary) {
    let path = folder.unique("summary")
    let finished = try await Perfwatch.command(
      ["attach", "--summary", path] + options + ["\(pid)"]
    ).run(in: folder)
    return (finished, try Watched.summary(path))
  }
}
