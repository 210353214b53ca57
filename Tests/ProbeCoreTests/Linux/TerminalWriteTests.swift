import Glibc
import Testing

@testable import ProbeCore

@Suite struct TerminalWriteTests {
  private func pair() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  @Test(.timeLimit(.minutes(1))) func `a full pipe takes what it can and holds nobody up`() throws {
    let ends = try pair()
    defer {
      close(ends.read)
      close(ends.write)
    }
    let line = String(repeating: "0123456789abcde\n", count: 64)  // 1 KiB
    var whole = 0
    while Terminal.writeIfReady(ends.write, line) { whole += 1 }
    // A pipe holds 64 KiB, less where the user has many; it blocks (no O_NONBLOCK), we did not.
    #expect(whole >= 1 && whole <= 64)
    #expect(!Terminal.writeIfReady(ends.write, "more"))
    #expect(!PollSet.isWritable(ends.write))
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    #expect(try Syscalls.read(ends.read, into: &buffer) >= whole * 1024)
    #expect(Terminal.writeIfReady(ends.write, "again"))
  }

  @Test func `more than a pipe holds is cut, not waited for`() throws {
    let ends = try pair()
    defer {
      close(ends.read)
      close(ends.write)
    }
    #expect(!Terminal.writeIfReady(ends.write, String(repeating: "x", count: 1 << 20)))
    #expect(Terminal.writeIfReady(ends.write, ""))
  }

  @Test func `a reader that is gone and a closed descriptor are no failure of ours`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_IGN)
      var ends: [Int32] = [0, 0]
      #expect(unsafe pipe(&ends) == 0)
      close(ends[0])
      #expect(!Terminal.writeIfReady(ends[1], "x"))
      #expect(!Terminal.write(ends[1], [1]))
      close(ends[1])
      #expect(!Terminal.writeIfReady(ends[1], "x"))
      #expect(!Terminal.write(ends[1], [1]))
      #expect(!Terminal.isTerminal(ends[1]) && Terminal.size(ends[1]) == nil)
      #expect(!Terminal.isSame(ends[1], ends[1]))
    }
  }

  @Test func `a terminal is told from a pipe, by size and by identity`() async {
    await #expect(processExitsWith: .success) {
      // TIOCSPTLCK and TIOCGPTN: unlock the other end and learn its number.
      let main = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var lock: Int32 = 0
      var number: Int32 = 0
      guard main >= 0, unsafe ioctl(main, 0x4004_5431, &lock) == 0,
        unsafe ioctl(main, 0x8004_5430, &number) == 0
      else {
        print("skipped: no pseudo-terminals here")
        return
      }
      let path = "/dev/pts/\(number)"
      let one = try Syscalls.open(path, flags: O_RDWR | O_NOCTTY)
      let two = try Syscalls.open(path, flags: O_RDWR | O_NOCTTY)
      #expect(Terminal.isTerminal(one.raw) && Terminal.isSame(one.raw, two.raw))
      #expect(Terminal.size(one.raw) == nil)  // 0 x 0: nobody has set it
      var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
      #expect(unsafe ioctl(one.raw, UInt(TIOCSWINSZ), &size) == 0)
      #expect(Terminal.size(one.raw)?.columns == 100 && Terminal.size(one.raw)?.rows == 30)
      #expect(Terminal.isForeground(one.raw))  // not ours: nobody's background
      let null = try Syscalls.open("/dev/null", flags: O_RDWR)
      #expect(!Terminal.isTerminal(null.raw) && !Terminal.isSame(one.raw, null.raw))
    }
  }
}
