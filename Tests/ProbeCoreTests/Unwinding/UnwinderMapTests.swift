@unsafe @preconcurrency internal import Glibc
internal import Testing

@testable import ProbeCore

/// Stacks of three words: enough to see by which map and file they were walked.
@Suite struct UnwinderMapTests {
  /// A process whose map and file change under us.
  // Its closures hold it, so it lives as long as the test process; there are five.
  private final class Scene {
    var map = ""
    var builder = ELFBuilder()
    var reads = 0

    lazy var space = AddressSpace(
      cache: ModuleCache(), pageSize: 4096,
      readMap: { [self] () throws(SystemError) in
        reads += 1
        return Array(map.utf8)
      },
      opener: { [self] module, _ in
        ModuleFile(memory: builder.bytes, number: module.inode)
      })
  }

  private static let stack = "7ffe0000-7fff0000 rw-p 00000000 00:00 0 [stack]\n"

  private func line(_ start: UInt64, inode: Int) -> String {
    let range = String(start, radix: 16) + "-" + String(start + 0x2000, radix: 16)
    return range + " r-xp 00000000 08:02 \(inode) /lib/a.so\n"
  }

  /// At the function's first byte, with `words` on the stack.
  private func snapshot(_ counter: UInt64, _ words: [UInt64]) -> StackSnapshot {
    var bytes = Bytes()
    for word in words { bytes.add(word, 8) }
    return StackSnapshot(
      tid: ThreadID(1), takenAt: Instant(nanoseconds: 0), stopTime: .zero,
      registers: RegisterFile(
        machine: .x86_64, stackPointer: 0x7ffe_8000, programCounter: counter),
      regions: [MemoryRegion(start: 0x7ffe_8000, bytes: bytes.bytes)])
  }

  @Test func `the map is read when it is first needed, and when a counter is outside`() {
    let scene = Scene()
    scene.map = line(0x1_0000_0000, inode: 1) + Self.stack
    let unwinder = Unwinder(scene.space)
    #expect(scene.reads == 0)
    let first = unwinder.unwind(snapshot(0x1_0000_1000, [0]))
    #expect(first.stack.truncation == nil && first.stack.frames.count == 1)
    #expect(scene.reads == 1)
    scene.map = line(0x1_0000_0000, inode: 1) + line(0x2_0000_0000, inode: 2) + Self.stack
    let second = unwinder.unwind(snapshot(0x2_0000_1000, [0]))
    #expect(second.stack.truncation == nil)
    #expect(scene.reads == 2)
    // A damaged stack or a counter in nowhere must not make us read for each frame.
    _ = unwinder.unwind(snapshot(0x3_0000_1000, [0x4_0000_0000]))
    #expect(scene.reads == 3)
  }

  @Test func `other code in the same place is unwound by its own tables after a refresh`() throws {
    let scene = Scene()
    scene.map = line(0x1_0000_0000, inode: 1) + Self.stack
    let unwinder = Unwinder(scene.space)
    let words: [UInt64] = [0x1_0000_1011, 0x1_0000_1021, 0, 0]
    #expect(unwinder.unwind(snapshot(0x1_0000_1000, words)).stack.frames.count == 2)
    // The new function has one more word on its stack from its first byte on.
    scene.builder.instructions = [0x0e, 16]
    scene.map = line(0x1_0000_0000, inode: 2) + Self.stack
    try unwinder.refreshMap()
    let frames = unwinder.unwind(snapshot(0x1_0000_1000, words)).stack.frames
    #expect(frames.map(\.programCounter) == [0x1_0000_1000, 0x1_0000_1021])
  }

  @Test func `a file that was written into is read anew after a refresh, in the same place`() throws
  {
    let folder = Launching.temporaryDirectory()
    defer { Launching.removeDirectory(folder) }
    let path = folder + "/a.so"
    func write(_ builder: ELFBuilder) throws {
      let file = try Syscalls.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
      try Syscalls.writeAll(file.raw, builder.bytes)
    }
    var builder = ELFBuilder()
    try write(builder)
    let inode = try Syscalls.status(path).inode
    let map = line(0x1_0000_0000, inode: Int(inode)) + Self.stack
    let space = AddressSpace(
      cache: ModuleCache(), pageSize: 4096,
      readMap: { () throws(SystemError) in Array(map.utf8) },
      opener: { _, _ in
        // A mapping that is in no map_files, so that the path has to do.
        try? ModuleFile.open(
          OwnProcess.pid,
          ModuleLocation(
            start: 1 << 60, end: 1 << 61, deviceMajor: 0, deviceMinor: 0, inode: inode,
            path: Array(path.utf8)))
      })
    let unwinder = Unwinder(space)
    let words: [UInt64] = [0x1_0000_1011, 0x1_0000_1021, 0, 0]
    #expect(unwinder.unwind(snapshot(0x1_0000_1000, words)).stack.frames.count == 2)
    try unwinder.refreshMap()
    let changes = unwinder.codeChanges
    // The new function has one more word on its stack from its first byte on.
    builder.instructions = [0x0e, 16]
    try write(builder)
    try unwinder.refreshMap()
    #expect(unwinder.codeChanges == changes + 1)
    let frames = unwinder.unwind(snapshot(0x1_0000_1000, words)).stack.frames
    #expect(frames.map(\.programCounter) == [0x1_0000_1000, 0x1_0000_1021])
  }

  @Test func `the empty map of a process at its end does not replace what was known`() throws {
    let scene = Scene()
    scene.map = line(0x1_0000_0000, inode: 1) + Self.stack
    let unwinder = Unwinder(scene.space)
    #expect(unwinder.unwind(snapshot(0x1_0000_1000, [0])).stack.truncation == nil)
    scene.map = ""
    #expect(throws: SystemError.self) { try unwinder.refreshMap() }
    #expect(unwinder.unwind(snapshot(0x1_0000_1000, [0])).stack.truncation == nil)
  }

  @Test func `a return address in no code is a damaged stack`() {
    let scene = Scene()
    scene.map = line(0x1_0000_0000, inode: 1) + Self.stack
    let result = Unwinder(scene.space).unwind(snapshot(0x1_0000_1000, [0x1234_5678, 0]))
    #expect(result.stack.frames.map(\.programCounter) == [0x1_0000_1000])
    #expect(result.stack.truncation == .noProgress)
  }

  @Test func `without any map the innermost frame is all there is`() {
    let result = Unwinder(Scene().space).unwind(snapshot(0x1_0000_1000, [0]))
    #expect(result.stack.frames.map(\.programCounter) == [0x1_0000_1000])
    #expect(result.stack.truncation == .noUnwindInfo)
  }

  @Test func `an async Swift function's mark on the saved frame pointer is taken off`() {
    let scene = Scene()
    scene.map = line(0x1_0000_0000, inode: 1) + Self.stack
    // In the function's body the frame is rbp + 16; rbp is the tagged 0x7ffe8000.
    var snapshot = snapshot(0x1_0000_1010, [0, 0, 0])
    snapshot.registers[6] = 1 << 60 | 0x7ffe_8000
    let result = Unwinder(scene.space).unwind(snapshot)
    #expect(result.stack.truncation == nil)
    #expect(result.stack.frames.count == 1)
  }
}
