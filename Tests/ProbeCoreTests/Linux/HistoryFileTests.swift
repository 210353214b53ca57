import Testing

@testable import ProbeCore

@Suite struct HistoryFileTests {
  static func run(
    _ number: Int, branch: String? = "main", metrics: [String: Double] = ["wall": 1],
    change: (inout HistoryRun) -> Void = { _ in }
  ) -> HistoryRun {
    var run = HistoryRun(
      identity: "run \(number)", startedAt: "2026-11-\(number + 10)T00:00:00.000Z",
      origin: RunOrigin(commit: "c\(number)", branch: branch), program: "test",
      hasFailed: false, verdict: .pass, metrics: metrics)
    change(&run)
    return run
  }

  static func append(_ runs: [HistoryRun], to path: String) throws {
    try HistoryFile(writing: path).append(runs.map { ($0, Array($0.identity.utf8)) })
  }

  /// Why a history cannot be read; nil when it can.
  static func readReason(_ path: String) -> String? {
    do throws(DatabaseError) {
      _ = try HistoryFile(reading: path)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Why it cannot be written to.
  static func writeReason(_ path: String) -> String? {
    do throws(DatabaseError) {
      try HistoryFile(writing: path).append([])
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func `runs come back as they went in, oldest first, the last so many`() throws {
    let folder = try ScratchFolder()
    let path = folder["history"]
    var labelled = Self.run(1, metrics: ["wall": 0, "cpu.seconds": 0.1 + 0.2])
    labelled.origin.labels = [("a", "1"), ("b", "x=y \u{e9}")]
    let others = [Self.run(2, branch: nil, metrics: [:]), Self.run(3)]
    try Self.append([labelled], to: path)
    try Self.append(others, to: path)
    let history = try HistoryFile(reading: path)
    #expect(try history.runs(HistoryFilter()) == [labelled] + others)
    var filter = HistoryFilter()
    filter.count = 2
    #expect(try history.runs(filter) == others)
    filter.branch = "main"
    #expect(try history.runs(filter).map(\.identity) == ["run 1", "run 3"])
    filter.labels = [("b", "x=y \u{e9}"), ("a", "1")]
    #expect(try history.runs(filter) == [labelled])
    filter.labels.append(("a", "2"))
    #expect(try history.runs(filter).isEmpty)
  }

  @Test func `a run is there once, with its last verdict and all its labels`() throws {
    let folder = try ScratchFolder()
    let path = folder["history"]
    var run = Self.run(1)
    run.origin.labels = [("a", "1")]
    try Self.append([run, Self.run(2)], to: path)
    run.verdict = .fail
    run.origin.labels = [("b", "2")]
    try Self.append([run], to: path)
    let runs = try HistoryFile(reading: path).runs(HistoryFilter())
    #expect(runs.map(\.identity) == ["run 1", "run 2"])
    #expect(runs[0].verdict == .fail)
    #expect(runs[0].origin.labels.map(\.key) == ["a", "b"])
  }

  @Test func `baselines are of runs that ended well`() throws {
    let folder = try ScratchFolder()
    let path = folder["history"]
    try Self.append(
      [
        Self.run(1), Self.run(2) { $0.verdict = .fail }, Self.run(3) { $0.hasFailed = true },
        Self.run(4) { $0.verdict = .indeterminate }, Self.run(5) { $0.verdict = .none },
        Self.run(6) { $0.program = "other" },
      ], to: path)
    var filter = HistoryFilter()
    filter.isBaseline = true
    filter.program = "test"
    let texts = try HistoryFile(reading: path).summaries(filter)
    #expect(texts.map { String(decoding: $0, as: UTF8.self) } == ["run 1", "run 4", "run 5"])
  }

  @Test func `readers and writers in WAL mode leave one file`() throws {
    let folder = try ScratchFolder()
    let path = folder["a#b?c%20 \u{e9}"]
    try Self.append([Self.run(1)], to: path)
    #expect(try Database(path, creates: false).run("PRAGMA journal_mode") == [[.text("wal")]])
    #expect(try HistoryFile(reading: path).runs(HistoryFilter()).count == 1)
    #expect(folder.names == ["a#b?c%20 \u{e9}"])
    // As where nothing can be written beside it.
    let fixed = try Database(path, creates: false, isFixed: true)
    #expect(try fixed.run("SELECT count(*) FROM runs") == [[.integer(1)]])
  }

  @Test func `what is no history is left alone, with a reason`() throws {
    let folder = try ScratchFolder()
    let path = folder["file"]
    func reasons() -> [String?] { [Self.readReason(path), Self.writeReason(path)] }
    #expect(Self.readReason(path) == "No such file or directory")
    #expect(!folder.names.contains("file"))
    try folder.write("file", Array(repeating: UInt8(ascii: "x"), count: 5000))
    #expect(reasons().allSatisfy { $0 == "it is no history of perfwatch" })
    #expect(try InputFile.read(path) == Array(repeating: UInt8(ascii: "x"), count: 5000))
    try folder.write("file", [])
    #expect(Self.readReason(path) == "it holds no runs yet")
    do {
      let foreign = try Database(path, creates: true)
      try foreign.run("CREATE TABLE runs (id)")
    }
    #expect(reasons().allSatisfy { $0 == "it is no history of perfwatch" })
    let later = folder["later"]
    try Self.append([Self.run(1)], to: later)
    do {
      let changed = try Database(later, creates: false)
      try changed.run("PRAGMA user_version = 2")
    }
    let version = "its format is version 2, and this perfwatch knows version 1"
    #expect(Self.writeReason(later) == version)
    #expect(Self.readReason(later) == version)
    #expect(Self.writeReason("/tmp") == "it is a folder")
    #expect(Self.writeReason("/dev/null") == "it is no regular file")
    #expect(Self.writeReason("/no/such/x") == "No such file or directory")
  }

  @Test func `runs that cannot all be written are not written at all`() throws {
    let folder = try ScratchFolder()
    let path = folder["history"]
    try Self.append([Self.run(1)], to: path)
    do {
      let rigged = try Database(path, creates: false)
      try rigged.run(
        "CREATE TRIGGER no BEFORE INSERT ON runs WHEN NEW.identity = 'run 3' "
          + "BEGIN SELECT RAISE(ABORT, 'full'); END")
    }
    #expect(throws: DatabaseError.self) {
      try Self.append([Self.run(2), Self.run(3)], to: path)
    }
    #expect(
      try HistoryFile(reading: path).runs(HistoryFilter()).map(\.identity) == ["run 1"])
  }
}
