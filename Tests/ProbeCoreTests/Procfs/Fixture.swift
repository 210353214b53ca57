// A recorded /proc tree below Fixtures/, found from where this source file stands.

internal import FoundationEssentials

@testable import ProbeCore

/// One recorded process. Its README tells command, kernel and date; Scripts/record-proc.sh made it.
enum Fixture: String, CaseIterable {
  case pythonIdle = "python_idle"
  case nodeServer = "node_server"
  case redis
  case threads50
  case oddNames = "odd_names"
  case leaderExit = "leader_exit"
  case zombie
  case kthreadd
  case otherUser = "other_user"

  struct Missing: Error { let path: String }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures").path()

  var pid: Int32 {
    switch self {
    case .pythonIdle: 6661
    case .nodeServer: 6735
    case .redis: 6869
    case .threads50: 6984
    case .oddNames: 7143
    case .leaderExit: 7331
    case .zombie: 7446
    case .kthreadd: 2
    case .otherUser: 7597
    }
  }

  /// Bytes of a file below proc/.
  func machine(_ name: String) throws -> [UInt8] {
    let path = "\(Self.root)/\(rawValue)/proc/\(name)"
    guard let data = FileManager.default.contents(atPath: path) else { throw Missing(path: path) }
    return Array(data)
  }

  /// Bytes of a file below proc/<pid>/.
  func process(_ name: String) throws -> [UInt8] { try machine("\(pid)/\(name)") }

  /// Bytes of a file below proc/<pid>/task/<tid>/.
  func task(_ tid: Int32, _ name: String) throws -> [UInt8] { try process("task/\(tid)/\(name)") }

  /// Every recorded file: path below proc/ and bytes.
  func files() throws -> [(path: String, bytes: [UInt8])] {
    let base = "\(Self.root)/\(rawValue)/proc"
    var result: [(path: String, bytes: [UInt8])] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: base).sorted() {
      var isDirectory = false
      guard FileManager.default.fileExists(atPath: "\(base)/\(path)", isDirectory: &isDirectory),
        !isDirectory
      else { continue }
      result.append((path, try machine(path)))
    }
    return result
  }
}

/// xorshift64*: the same numbers on every run.
struct Dice {
  private var state: UInt64
  init(seed: UInt64) { state = seed | 1 }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func below(_ limit: Int) -> Int { limit > 0 ? Int(next() % UInt64(limit)) : 0 }
}
