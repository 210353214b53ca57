// What the kernel tells of one open descriptor: its place in a file; what a ring of io_uring does.

/// /proc/<pid>/fdinfo/<descriptor>.
public struct DescriptorInfo: Sendable, Equatable {
  /// `pos`: bytes from the beginning of the file.
  public var position: UInt64?
  /// Of io_uring: operations that were handed in and have not ended.
  public var operations: Int?
  /// Of io_uring: the files that were registered with it, as links of /proc/<pid>/fd are.
  public var files: [String] = []

  /// Longer lists are cut. Chosen.
  private static let fileLimit = 16

  /// Reads what it knows; everything else is passed over, so any bytes are taken.
  public init(_ bytes: [UInt8]) {
    var submitted: UInt32?
    var ended: UInt32?
    var filesFollow = 0
    for line in SafeText.decode(bytes).split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1).map {
        $0.drop { $0 == " " || $0 == "\t" }
      }
      guard parts.count == 2 else { continue }
      if filesFollow > 0, line.first == " ", UInt32(parts[0]) != nil {
        filesFollow -= 1
        if files.count < Self.fileLimit { files.append(String(parts[1])) }
        continue
      }
      filesFollow = 0
      switch parts[0] {
      case "pos": position = UInt64(parts[1])
      // What the kernel has taken from the one queue, and put on the other; both only ever grow, and wrap.
      case "SqHead": submitted = UInt32(parts[1])
      case "CachedCqTail": ended = UInt32(parts[1])
      case "UserFiles": filesFollow = Int(parts[1]) ?? 0
      default: break
      }
    }
    // Operations that end more than once, or without a word, are counted wrong: then it is not told.
    if let submitted, let ended, case let count = submitted &- ended, count < 1 << 16 {
      operations = Int(count)
    }
  }
}
