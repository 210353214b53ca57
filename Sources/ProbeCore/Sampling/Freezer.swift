// Is the target frozen by its control group (docker pause, systemd-run's freeze, a suspended desktop
// application)? Such a thread looks asleep where it was, and that time is nobody's stall.

/// Asks the control group's freezer, of version 1 and of version 2.
struct Freezer {
  /// Where the two hierarchies are mounted; nil where they are not.
  private let version1: String?
  private let version2: String?

  init() {
    self.init(
      version1: MountTable.place(type: "cgroup", option: "freezer"),
      version2: MountTable.place(type: "cgroup2"))
  }

  init(version1: String?, version2: String?) {
    self.version1 = version1
    self.version2 = version2
  }

  /// Whether the group that the process is in now, or one above it, is frozen. Sources:
  /// /proc/<pid>/cgroup; `frozen` of cgroup.events; freezer.state. A process can be moved, so nothing is
  /// kept open. False where nothing can be read.
  func isFrozen(_ source: inout ProcSource) -> Bool {
    guard version1 != nil || version2 != nil, let count = try? source.readOnce("cgroup"),
      let groups = try? CGroupPath.parse(source.buffer.span.extracting(0..<count))
    else { return false }
    return groups.contains { group in
      let path = String(decoding: group.path, as: UTF8.self)
      // The first group of version 2 has no events: it cannot be frozen.
      if group.isVersion2, let version2 {
        return holds(version2 + path + "/cgroup.events", "frozen 1")
      }
      if let version1, group.controllers.contains(where: { $0.elementsEqual("freezer".utf8) }) {
        return holds(version1 + path + "/freezer.state", "FROZEN")
      }
      return false
    }
  }

  private func holds(_ path: String, _ line: String) -> Bool {
    guard let bytes = try? InputFile.read(path, limit: 4096) else { return false }
    return bytes.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(line.utf8) }
  }
}
