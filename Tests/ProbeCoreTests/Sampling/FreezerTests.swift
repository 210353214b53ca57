internal import Testing

@testable import ProbeCore

struct FreezerTests {
  @Test(arguments: [
    ("0::/app/web\n", "app/web/cgroup.events", "populated 1\nfrozen 1\n", true),
    ("0::/app/web\n", "app/web/cgroup.events", "populated 1\nfrozen 0\n", false),
    ("0::/app/web\n", "app/web/cgroup.events", "", false),
    ("0::/\n", "other", "frozen 1\n", false),
    ("7:cpu,freezer:/box\n0::/\n", "box/freezer.state", "FROZEN\n", true),
    ("7:freezer:/box\n0::/\n", "box/freezer.state", "FREEZING\n", false),
    ("7:freezer:/box\n0::/\n", "box/freezer.state", "THAWED\n", false),
    ("7:freezers:/box\n", "box/freezer.state", "FROZEN\n", false),
    ("damaged", "box/freezer.state", "FROZEN\n", false),
  ])
  func `a thread is frozen when its group says so, of either version`(
    groups: String, file: String, content: String, expected: Bool
  ) {
    let tree = ScratchProc()
    tree.write("500/cgroup", groups)
    let groupRoot = tree.root + "/groups"
    tree.makeDirectory("groups/" + (file.split(separator: "/").dropLast().joined(separator: "/")))
    tree.write("groups/" + file, content)
    var source = tree.source
    let isFrozen = Freezer(version1: groupRoot, version2: groupRoot).isFrozen(&source)
    #expect(isFrozen == expected)
    let isFrozenUnmounted = Freezer(version1: nil, version2: nil).isFrozen(&source)
    #expect(!isFrozenUnmounted)
  }
}
