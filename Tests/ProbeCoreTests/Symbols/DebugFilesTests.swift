import Testing

@testable import ProbeCore

struct DebugFilesTests {
  @Test func `a static function of a stripped file is found by build-id below the root`() throws {
    let built = Compiled()
    built.compile()
    let hidden = try #require(built.addresses()["hidden"])
    let file = try #require(try ELFImage(SymbolFile.open(built.path("a"))))
    let hex = try #require(file.buildID).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    let folder = "usr/lib/debug/.build-id/\(hex[0])"
    let name = hex.dropFirst().joined() + ".debug"
    built.shell(
      "mkdir -p \(folder) && objcopy --only-keep-debug a \(folder)/\(name) && strip a")
    #expect(built.name(hidden) == nil)
    let module = built.module(root: built.folder)
    #expect(module.resolve([hidden])[hidden]?.symbol?.name == Array("hidden".utf8))
  }

  @Test func `a debug file by link is taken if the build-id is the same`() throws {
    let built = Compiled()
    built.compile()
    let hidden = try #require(built.addresses()["hidden"])
    built.shell(
      "objcopy --only-keep-debug a a.debug && strip a && objcopy --add-gnu-debuglink=a.debug a")
    #expect(built.name(hidden) == "hidden")
    built.shell("mkdir .debug && mv a.debug .debug/")
    #expect(built.name(hidden) == "hidden")
  }

  @Test func `a debug file of another build is refused`() throws {
    let built = Compiled()
    built.compile()
    built.compile("-O2 -DOTHER", into: "other")
    let hidden = try #require(built.addresses()["hidden"])
    built.shell(
      """
      objcopy --only-keep-debug a a.debug && strip a && objcopy --add-gnu-debuglink=a.debug a && \
      objcopy --only-keep-debug other a.debug
      """)
    #expect(built.name(hidden) == nil)
  }

  @Test func `without build-ids the checksum decides`() throws {
    let built = Compiled()
    built.compile("-Wl,--build-id=none")
    let hidden = try #require(built.addresses()["hidden"])
    built.shell(
      "objcopy --only-keep-debug a a.debug && strip a && objcopy --add-gnu-debuglink=a.debug a")
    #expect(built.name(hidden) == "hidden")
    built.shell("printf x >> a.debug")
    #expect(built.name(hidden) == nil)
  }

  @Test func `a link that leads to another folder is none`() throws {
    let built = Compiled()
    built.compile()
    built.shell(
      """
      strip a && printf '../b.debug\\0\\0\\1\\2\\3\\4' > link && \
      objcopy --add-section .gnu_debuglink=link a
      """)
    let image = try #require(try ELFImage(SymbolFile.open(built.path("a"))))
    #expect(image.section(".gnu_debuglink") != nil)
    #expect(DebugFiles.link(in: image) == nil)
  }

  @Test func `names come out of the packed table of a stripped file`() throws {
    let built = Compiled()
    built.compile()
    let hidden = try #require(built.addresses()["hidden"])
    built.shell(
      """
      objcopy -S --keep-symbol=hidden a mini && strip -o bare a && xz mini && \
      objcopy --add-section .gnu_debugdata=mini.xz bare packed
      """)
    #expect(built.name(hidden, in: "bare") == nil)
    #expect(built.name(hidden, in: "packed") == "hidden")
  }

  @Test func `a packed table that unpacks to gigabytes is refused`() {
    let built = Compiled()
    built.shell("head -c 300000000 /dev/zero | xz -T1 -1 > bomb.xz")
    let bomb = (try? SymbolFile.open(built.path("bomb.xz")))?.read(at: 0, count: 1 << 20) ?? []
    #expect(bomb.count > 1000)
    #expect(SymbolFile.unpack(bomb, limit: 64 << 20) == nil)
    #expect(SymbolFile.unpack(Array(bomb.dropLast(8)), limit: 64 << 20) == nil)
    #expect(SymbolFile.unpack([], limit: 64 << 20) == nil)
  }
}
