internal import Testing

@testable import ProbeCore

struct MountTableTests {
  private let table = Array(
    """
    proc /proc proc rw 0 0
    cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0
    cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0
    cgroup2 /sys/fs/cgroup/uni\\040fied cgroup2 rw 0 0
    cut /x
    """.utf8)

  @Test func `a mount is found by type, and by an option among its options`() {
    #expect(MountTable.place(type: "proc", option: nil, in: table) == "/proc")
    #expect(MountTable.place(type: "cgroup", option: nil, in: table) == "/sys/fs/cgroup/cpu")
    #expect(
      MountTable.place(type: "cgroup", option: "freezer", in: table) == "/sys/fs/cgroup/freezer")
    #expect(MountTable.place(type: "cgroup", option: "freeze", in: table) == nil)
    #expect(MountTable.place(type: "tracefs", option: nil, in: table) == nil)
  }

  @Test func `a blank in a path is written as octal digits`() {
    #expect(
      MountTable.place(type: "cgroup2", option: nil, in: table) == "/sys/fs/cgroup/uni fied")
    let odd = Array("a /x\\134y\\9z\\04 t o 0 0".utf8)
    #expect(MountTable.place(type: "t", option: "o", in: odd) == "/x\\y\\9z\\04")
  }

  @Test func `the process file system is mounted here`() {
    #expect(MountTable.place(type: "proc") == "/proc")
  }
}
