// The tables of a history file. Others may read them too: Docs/ci.md says what stands in them.

/// Runs in an SQLite file, in the order in which they were appended.
///
/// Written in WAL mode, so that readers do not wait; writers wait for each other.
struct HistoryFile: ~Copyable {
  /// `user_version` of the file.
  static let version: Int64 = 1
  /// `application_id` of the file: "pwhi".
  static let application: Int64 = 0x7077_6869

  private let database: Database

  private static let tables = [
    """
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, started_at TEXT NOT NULL,
      commit_id TEXT, branch TEXT, program TEXT NOT NULL, failed INTEGER NOT NULL,
      verdict TEXT NOT NULL, summary BLOB NOT NULL)
    """,
    "CREATE INDEX runs_of_branch ON runs (branch, program, id)",
    """
    CREATE TABLE metrics (
      run INTEGER NOT NULL REFERENCES runs (id), key TEXT NOT NULL, value REAL NOT NULL,
      PRIMARY KEY (run, key)) WITHOUT ROWID
    """,
    """
    CREATE TABLE labels (
      run INTEGER NOT NULL REFERENCES runs (id), key TEXT NOT NULL, value TEXT NOT NULL,
      PRIMARY KEY (run, key)) WITHOUT ROWID
    """,
    "PRAGMA application_id = \(application)",
    "PRAGMA user_version = \(version)",
  ]

  /// Opens a history to write to; makes it if there is no file, or an empty one.
  init(writing path: String) throws(DatabaseError) {
    try Self.checkKind(path)
    database = try Self.made(path)
  }

  /// Opens a history to read.
  init(reading path: String) throws(DatabaseError) {
    try Self.checkKind(path)
    database = try Self.checked(path)
  }

  private static func made(_ path: String) throws(DatabaseError) -> Database {
    let database = try opened(path)
    // Asked for in one transaction: two first users must not both make it.
    try database.run("BEGIN IMMEDIATE")
    guard try isEmpty(database) else {
      try check(database)
      try database.run("ROLLBACK")
      return database
    }
    for table in tables { try database.run(table) }
    try database.run("COMMIT")
    // Others may be at it by now, and some file systems cannot: the file is whole all the same.
    _ = try? database.run("PRAGMA journal_mode = WAL")
    return database
  }

  /// SQLite tries once more for reading only, and then tells of the file that is not there.
  private static func opened(_ path: String) throws(DatabaseError) -> Database {
    do throws(DatabaseError) {
      return try Database(path, creates: true)
    } catch {
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      guard error.isUnopened, (try? Syscalls.status(path)) == nil,
        (try? Syscalls.status(folder)) != nil
      else { throw error }
      throw DatabaseError(code: error.code, reason: "its folder may not be written to")
    }
  }

  private static func checked(_ path: String) throws(DatabaseError) -> Database {
    do throws(DatabaseError) {
      return try checked(path, isFixed: false)
    } catch {
      // Without permission to write beside it WAL mode cannot be used. Nobody else can write, either,
      // unless a log says so.
      guard error.isUnopened, (try? Syscalls.status(path + "-wal")) == nil else { throw error }
      return try checked(path, isFixed: true)
    }
  }

  private static func checked(_ path: String, isFixed: Bool) throws(DatabaseError) -> Database {
    let database = try Database(path, creates: false, isFixed: isFixed)
    try check(database)
    return database
  }

  /// Appends runs, all or none. A run that is there already keeps its place; its verdict is replaced
  /// and labels are added.
  borrowing func append(
    _ runs: [(run: HistoryRun, summary: [UInt8])]
  ) throws(DatabaseError) {
    try database.run("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      for (run, summary) in runs { try insert(run, summary) }
      try database.run("COMMIT")
    } catch {
      _ = try? database.run("ROLLBACK")
      throw error
    }
  }

  private borrowing func insert(_ run: HistoryRun, _ summary: [UInt8]) throws(DatabaseError) {
    let row = try database.run(
      """
      INSERT INTO runs
        (identity, started_at, commit_id, branch, program, failed, verdict, summary)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (identity) DO UPDATE SET verdict = excluded.verdict RETURNING id
      """,
      [
        .text(run.identity), .text(run.startedAt), .init(run.origin.commit),
        .init(run.origin.branch), .text(run.program), .integer(run.hasFailed ? 1 : 0),
        .text(run.verdict.rawValue), .blob(summary),
      ])
    guard let id = row.first?.first else { return }
    for (key, value) in run.metrics {
      try database.run(
        "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?)", [id, .text(key), .real(value)])
    }
    for (key, value) in run.origin.labels {
      try database.run(
        "INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", [id, .text(key), .text(value)])
    }
  }

  /// Runs that the filter lets through, oldest first.
  borrowing func runs(_ filter: HistoryFilter) throws(DatabaseError) -> [HistoryRun] {
    let columns = "id, identity, started_at, commit_id, branch, program, failed, verdict"
    var runs: [HistoryRun] = []
    for row in try select(columns, filter) {
      var run = HistoryRun(
        identity: row[1].text ?? "", startedAt: row[2].text ?? "",
        origin: RunOrigin(commit: row[3].text, branch: row[4].text), program: row[5].text ?? "",
        hasFailed: row[6].integer != 0,
        verdict: VerdictResult(rawValue: row[7].text ?? "") ?? .none, metrics: [:])
      for pair in try database.run("SELECT key, value FROM metrics WHERE run = ?", [row[0]]) {
        // Others may have written to the file; no figure of ours is infinite.
        if let key = pair[0].text, let value = pair[1].real, value.isFinite {
          run.metrics[key] = value
        }
      }
      for pair in try database.run(
        "SELECT key, value FROM labels WHERE run = ? ORDER BY key", [row[0]])
      {
        if let key = pair[0].text, let value = pair[1].text {
          run.origin.labels.append((key, value))
        }
      }
      runs.append(run)
    }
    return runs
  }

  /// Summaries of the runs that the filter lets through, oldest first, as they were appended.
  borrowing func summaries(_ filter: HistoryFilter) throws(DatabaseError) -> [[UInt8]] {
    try select("summary", filter).compactMap { $0[0].blob }
  }

  private borrowing func select(
    _ columns: String, _ filter: HistoryFilter
  ) throws(DatabaseError) -> [[DatabaseValue]] {
    var conditions = ["1"]
    var values: [DatabaseValue] = []
    if let branch = filter.branch {
      conditions.append("branch = ?")
      values.append(.text(branch))
    }
    if let program = filter.program {
      conditions.append("program = ?")
      values.append(.text(program))
    }
    for (key, value) in filter.labels {
      conditions.append(
        "EXISTS (SELECT 1 FROM labels WHERE run = runs.id AND key = ? AND value = ?)")
      values += [.text(key), .text(value)]
    }
    if filter.isBaseline { conditions.append("failed = 0 AND verdict <> 'fail'") }
    values.append(.integer(Int64(filter.count)))
    let rows = try database.run(
      "SELECT \(columns) FROM runs WHERE \(conditions.joined(separator: " AND "))"
        + " ORDER BY id DESC LIMIT ?", values)
    return rows.reversed()
  }

  /// SQLite would take a pipe for a file, or wait for it.
  private static func checkKind(_ path: String) throws(DatabaseError) {
    guard let status = try? Syscalls.status(path), !status.isRegular else { return }
    throw DatabaseError(
      code: 0, reason: status.isDirectory ? "it is a folder" : "it is no regular file")
  }

  private static func number(
    _ pragma: String, _ database: borrowing Database
  ) throws(DatabaseError) -> Int64 {
    try database.run("PRAGMA \(pragma)").first?.first?.integer ?? 0
  }

  private static func isEmpty(_ database: borrowing Database) throws(DatabaseError) -> Bool {
    guard try number("application_id", database) == 0, try number("user_version", database) == 0
    else { return false }
    return try database.run("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty
  }

  /// - Throws: unless it is a history of this version; an empty file is one without runs.
  private static func check(_ database: borrowing Database) throws(DatabaseError) {
    if try isEmpty(database) { throw DatabaseError(code: 0, reason: "it holds no runs yet") }
    guard try number("application_id", database) == application else {
      throw DatabaseError(code: 0, reason: "it is no history of perfwatch")
    }
    let found = try number("user_version", database)
    guard found == version else {
      throw DatabaseError(
        code: 0,
        reason: "its format is version \(found), and this perfwatch knows version \(version)")
    }
  }
}
