import Testing

@testable import ProbeCore

@Suite struct CmdlineTests {
  @Test func `arguments end in NUL and may hold anything else`() throws {
    let line = try Cmdline(of: Fixture.oddNames.process("cmdline"))
    #expect(
      line.arguments == [
        Array("odd) (name\n\u{1b}[31m".utf8),
        Array("--x=".utf8) + [0xff] + Array("<script>alert(1)</script>".utf8),
        Array("--password=hunter2".utf8),
      ])
    #expect(!line.isTitle)
  }

  @Test func `a title padded with NULs is one text`() throws {
    // redis writes "redis-server 127.0.0.1:18098" over its arguments and pads to their old length.
    let bytes = try Fixture.redis.process("cmdline")
    #expect(bytes.last == 0 && bytes.filter { $0 == 0 }.count == 37)
    let line = Cmdline(of: bytes)
    #expect(line.arguments == [Array("redis-server 127.0.0.1:18098".utf8)])
    #expect(line.isTitle)
  }

  @Test func `a title without NUL is one text`() {
    let line = Cmdline(of: Array("postgres: writer".utf8))
    #expect(line.arguments == [Array("postgres: writer".utf8)])
    #expect(line.isTitle)
  }

  @Test func `empty arguments of a plain program stay`() {
    let line = Cmdline(of: Array("prog\0\0x\0\0".utf8))
    #expect(line.arguments == [Array("prog".utf8), [], Array("x".utf8), []])
    #expect(!line.isTitle)
  }

  @Test(arguments: [Fixture.kthreadd, .zombie, .leaderExit])
  func `tasks without memory have no arguments`(_ fixture: Fixture) throws {
    #expect(try Cmdline(of: fixture.process("cmdline")).arguments == [])
  }
}

@Suite struct CGroupPathTests {
  @Test func `both versions at once`() throws {
    let lines = try CGroupPath.parse(of: Fixture.redis.process("cgroup"))
    #expect(lines.count == 10)
    #expect(lines.first?.controllers == [Array("name=systemd".utf8)])
    let memory = lines.first { $0.controllers == [Array("memory".utf8)] }
    #expect(memory?.hierarchy == 4)
    #expect(memory?.path == Array("/demo".utf8))
    #expect(lines.filter(\.isVersion2).map(\.path) == [Array("/".utf8)])
  }

  @Test func `controllers that share a hierarchy and a path with colons`() throws {
    let lines = try CGroupPath.parse(of: Array("3:cpu,cpuacct:/a:b c (deleted)\n".utf8))
    #expect(lines.count == 1)
    #expect(lines.first?.controllers == [Array("cpu".utf8), Array("cpuacct".utf8)])
    #expect(lines.first?.path == Array("/a:b c (deleted)".utf8))
  }

  @Test(arguments: ["x::/\n", "0:/\n", "0::x\n", "0::/", "0\n", ":\n"])
  func `other text throws`(_ text: String) {
    #expect(throws: ProcParseError.self) { try CGroupPath.parse(of: Array(text.utf8)) }
  }
}

@Suite struct MapsLineTests {
  static let sample = """
    55d008dd7000-55d008dd9000 r-xp 00001000 fe:00 1234                       /usr/bin/a b
    7f9bd5516000-7f9bd5518000 rw-s 00000000 00:01 77                         /memfd:x (deleted)
    7f9bd5518000-7f9bd5519000 ---p 00000000 00:00 0 
    7ffd87c53000-7ffd87c74000 rw-p 00000000 00:00 0                          [stack]
    7ffd87d00000-7ffd87d01000 r--p 00000000 fe:00 9                          /tmp/new\\012line
    7ffd87d01000-7ffd87d02000 r--p 00000000 fe:00 8                          /tmp/a (deleted) b

    """

  private func lines(_ text: String) throws -> [MapsLine] {
    let bytes = Array(text.utf8)
    var position = 0
    var result: [MapsLine] = []
    while let line = try MapsLine.next(of: bytes, at: &position) { result.append(line) }
    return result
  }

  @Test func `addresses, permissions, offset, device and inode`() throws {
    let line = try #require(try lines(Self.sample).first)
    #expect(line.start == 0x55d0_08dd_7000)
    #expect(line.end == 0x55d0_08dd_9000)
    #expect(line.isReadable && !line.isWritable && line.isExecutable && !line.isShared)
    #expect(line.offset == 0x1000)
    #expect([line.deviceMajor, line.deviceMinor] == [0xfe, 0])
    #expect(line.inode == 1234)
    #expect(line.path == Array("/usr/bin/a b".utf8))
  }

  @Test func `anonymous and named memory`() throws {
    let all = try lines(Self.sample)
    #expect(all.count == 6)
    #expect(all[2].path == [] && all[2].inode == 0 && !all[2].isReadable)
    #expect(all[3].path == Array("[stack]".utf8))
    #expect(all[1].isShared && all[1].isWritable)
  }

  @Test func `a mark of deletion counts only at the end`() throws {
    let all = try lines(Self.sample)
    #expect(all[1].isMarkedDeleted)
    #expect(all[1].path == Array("/memfd:x (deleted)".utf8))
    #expect(all[1].pathWithoutMark == Array("/memfd:x".utf8))
    #expect(!all[5].isMarkedDeleted)
    #expect(all[5].pathWithoutMark == Array("/tmp/a (deleted) b".utf8))
  }

  @Test func `an escaped newline is one again and other backslashes stay`() throws {
    #expect(try lines(Self.sample)[4].path == Array("/tmp/new\nline".utf8))
    let text = "1000-2000 r--p 00000000 fe:00 9 /a\\b\\01\\\\012\n"
    #expect(try lines(text).first?.path == Array("/a\\b\\01\\\n".utf8))
  }

  @Test func `a cut line throws and keeps the position`() {
    let bytes = Array("1000-2000 r--p 00000000 fe:00 9 /a".utf8)
    var position = 0
    #expect(throws: ProcParseError.self) { try MapsLine.next(of: bytes, at: &position) }
    #expect(position == 0)
  }

  @Test(arguments: ["2000-1000 r--p 0 0:0 0\n", "1000-2000 rwx 0 0:0 0\n", "1000 2000\n", "\n"])
  func `other text throws`(_ text: String) {
    #expect(throws: ProcParseError.self) { try lines(text) }
  }
}
