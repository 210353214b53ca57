// SQLite, as little of it as we need: text in, values out, one error type.
// Safety: the handle and each statement are used by their owner only and closed once by it. SQLite
// copies what is bound (SQLITE_TRANSIENT), and what a column lends is copied before the next step.

internal import CSQLite
internal import Glibc

/// What SQLite could not do.
public struct DatabaseError: Error, Sendable, Equatable {
  /// SQLite's primary result code.
  var code: Int32
  /// One clause, for people.
  public var reason: String

  var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
  var isUnopened: Bool { code == SQLITE_CANTOPEN || code == SQLITE_READONLY }
}

/// A value of a table.
enum DatabaseValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  var real: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .null, .text, .blob: nil
    }
  }
  var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
}

/// An open database file.
@safe struct Database: ~Copyable {
  /// How long a statement waits for others that write. Chosen: they are done in milliseconds.
  static let patience = Nanoseconds.seconds(10)

  private let handle: OpaquePointer

  /// sqlite3_open_v2. A file that may only be read is opened for that.
  ///
  /// - Parameters:
  ///   - creates: make the file if it is not there.
  ///   - isFixed: nobody changes the file while we read, so that nothing beside it is needed.
  init(_ path: String, creates: Bool, isFixed: Bool = false) throws(DatabaseError) {
    var opened: OpaquePointer?
    // No name may mean something else to SQLite, as `:memory:` does.
    var name = path.hasPrefix("/") ? path : "./" + path
    var flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE
    if creates { flags |= SQLITE_OPEN_CREATE }
    if isFixed {
      flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:" + Self.escaped(name) + "?immutable=1"
    }
    let result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
    guard let handle = unsafe opened else {
      throw DatabaseError(code: result, reason: "no memory is left")
    }
    guard result == SQLITE_OK else {
      let error = unsafe Self.error(result, handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = unsafe handle
    unsafe sqlite3_busy_timeout(handle, Int32(Self.patience.rawValue / 1_000_000))
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Runs one statement.
  ///
  /// - Parameter values: for its question marks, in their order.
  /// - Returns: the rows that it gives.
  @discardableResult
  borrowing func run(
    _ sql: String, _ values: [DatabaseValue] = []
  ) throws(DatabaseError) -> [[DatabaseValue]] {
    var prepared: OpaquePointer?
    let result = unsafe sqlite3_prepare_v2(handle, sql, -1, &prepared, nil)
    guard result == SQLITE_OK, let statement = unsafe prepared else {
      throw unsafe Self.error(result, handle)
    }
    defer { unsafe sqlite3_finalize(statement) }
    for (index, value) in values.enumerated() {
      let bound = unsafe Self.bind(value, at: Int32(index + 1), of: statement)
      guard bound == SQLITE_OK else { throw unsafe Self.error(bound, handle) }
    }
    var rows: [[DatabaseValue]] = []
    while true {
      switch unsafe sqlite3_step(statement) {
      case SQLITE_ROW:
        let count = unsafe sqlite3_column_count(statement)
        rows.append((0..<count).map { unsafe Self.column($0, of: statement) })
      case SQLITE_DONE: return rows
      case let failure: throw unsafe Self.error(failure, handle)
      }
    }
  }

  private static func bind(
    _ value: DatabaseValue, at index: Int32, of statement: OpaquePointer
  ) -> Int32 {
    let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return unsafe sqlite3_bind_null(statement, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
    case .real(let number): return unsafe sqlite3_bind_double(statement, index, number)
    case .text(let text):
      return unsafe sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copied)
    case .blob(let bytes):
      return unsafe bytes.withUnsafeBytes { space in
        unsafe sqlite3_bind_blob64(
          statement, index, space.baseAddress, sqlite3_uint64(space.count), copied)
      }
    }
  }

  private static func column(_ index: Int32, of statement: OpaquePointer) -> DatabaseValue {
    switch unsafe sqlite3_column_type(statement, index) {
    case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, index))
    case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(statement, index))
    case SQLITE_TEXT, SQLITE_BLOB:
      let isText = unsafe sqlite3_column_type(statement, index) == SQLITE_TEXT
      let start = unsafe sqlite3_column_blob(statement, index)
      let count = Int(unsafe sqlite3_column_bytes(statement, index))
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
      return isText ? .text(SafeText.decode(bytes)) : .blob(bytes)
    default: return .null
    }
  }

  private static func error(_ result: Int32, _ handle: OpaquePointer) -> DatabaseError {
    let code = result & 0xff
    let system = unsafe sqlite3_system_errno(handle)
    let reason: String
    switch code {
    case SQLITE_BUSY, SQLITE_LOCKED: reason = "another process writes it and does not end"
    case SQLITE_NOTADB: reason = "it is no history of perfwatch"
    case SQLITE_CORRUPT: reason = "it is damaged"
    case SQLITE_READONLY: reason = "it may only be read"
    case SQLITE_FULL: reason = SystemError(call: "write", code: ENOSPC).reason
    case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM:
      reason =
        system > 0
        ? SystemError(call: "open", code: system).reason : "it cannot be opened"
    default: reason = unsafe SafeText.terminal(String(cString: sqlite3_errmsg(handle)))
    }
    return DatabaseError(code: code, reason: reason)
  }

  /// A path as it stands in a URI.
  private static func escaped(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      let isPlain =
        byte > 0x20 && byte < 0x7f
        && ![UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%")].contains(byte)
      text +=
        isPlain
        ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return text
  }
}
