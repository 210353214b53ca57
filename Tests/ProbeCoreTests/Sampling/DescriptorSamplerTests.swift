import Glibc
import Testing

@testable import ProbeCore

@Suite struct DescriptorSamplerTests {
  /// What one look tells: a number, and what is said of how it was counted.
  private func look(
    _ sampler: inout DescriptorSampler, _ source: borrowing ProcSource, isSlow: Bool = true
  ) -> (count: Int?, standing: String?) {
    var out = ByteWriter()
    let frames = sampler.look(isSlow: isSlow, at: Script.at(1), source, into: &out)
    var told: (count: Int?, standing: String?)
    let all = events(&out)
    #expect(frames == all.count)
    for event in all {
      switch event {
      case .descriptors(let reading): told.count = reading.count
      case .capability(DescriptorsReading.capability, let value): told.standing = value
      default: Issue.record("\(event)")
      }
    }
    return told
  }

  private func tree(_ count: Int) -> ScratchProc {
    let tree = ScratchProc()
    tree.makeDirectory("500/fd")
    for number in 0..<count { tree.write("500/fd/\(number)", "") }
    return tree
  }

  @Test func `entries are counted, and told when they are other ones`() {
    let tree = tree(3)
    let source = tree.source
    var sampler = DescriptorSampler()
    #expect(look(&sampler, source) == (3, "yes"))
    #expect(look(&sampler, source) == (nil, nil))
    tree.write("500/fd/77", "")
    // Listing is not for every tick.
    #expect(look(&sampler, source, isSlow: false) == (nil, nil))
    #expect(look(&sampler, source) == (4, nil))
    tree.remove("500/fd/77")
    tree.remove("500/fd/1")
    #expect(look(&sampler, source) == (2, nil))
  }

  @Test func `a process without any, on its way out, is no news`() {
    let tree = tree(2)
    let source = tree.source
    var sampler = DescriptorSampler()
    #expect(look(&sampler, source).count == 2)
    tree.remove("500/fd/0")
    tree.remove("500/fd/1")
    #expect(look(&sampler, source) == (nil, nil))
    var late = DescriptorSampler()
    #expect(look(&late, ProcSource(root: tree.root, pid: ProcessID(501))) == (nil, nil))
  }

  @Test func `a folder that cannot be read is said once`() {
    let tree = ScratchProc()
    tree.write("500/fd", "no folder")
    let source = tree.source
    var sampler = DescriptorSampler()
    #expect(look(&sampler, source).standing?.contains("500/fd cannot be read") == true)
    #expect(look(&sampler, source) == (nil, nil))
  }

  @Test func `very many are not listed to their end`() throws {
    let tree = tree(3000)
    var list = try NumberedDirectory("\(tree.root)/500/fd")
    var numbers: [Int32] = []
    try list.list(into: &numbers, limit: 10)
    #expect(numbers.count >= 10 && numbers.count < 3000)
    try list.list(into: &numbers)
    #expect(numbers.count == 3000)
  }

  @Test func `the number of a living process is that of its folder's entries`() throws {
    let request = try Launching.request("/bin/sh", "-c", "exec 7</dev/null 8</dev/null; sleep 60")
    let running = try request.hold().release()
    defer {
      try? running.signal(SIGKILL)
      _ = try? running.reap()
    }
    var list = try NumberedDirectory("/proc/\(running.pid)/fd")
    var numbers: [Int32] = []
    let ready = try Launching.eventually {
      try list.list(into: &numbers)
      return numbers.contains(8) ? true : nil
    }
    try #require(ready == true)
    var sampler = DescriptorSampler()
    let source = ProcSource(root: "/proc", pid: running.pid)
    #expect(look(&sampler, source) == (numbers.count, "yes"))
  }

  @Test(
    arguments: [
      ("6.2.0", true), ("6.18.44-x", true), ("7.0", true), ("6.1.119", false), ("5.4.0-rc2", false),
      ("6.2-rc1", true), ("", false), ("x.y", false), ("6", false), ("10.0.1", true),
    ])
  func `releases are compared as numbers`(release: String, isNew: Bool) {
    #expect(HostInfo.isRelease(release, atLeast: 6, 2) == isNew)
  }
}
