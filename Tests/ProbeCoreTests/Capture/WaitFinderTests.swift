// The waits of our own test process: threads that we park ourselves are found with their objects.

@unsafe @preconcurrency import Glibc
import Testing

@testable import ProbeCore

@Suite struct WaitFinderTests {
  private let own = OwnProcess.pid

  @Test func `a thread that is not in a call has no wait`() {
    var finder = WaitFinder(own)
    let tid = ThreadID(own.rawValue)
    #expect(finder.find(tid, .running, at: Clock.now()) == nil)
    #expect(
      finder.find(tid, .outside(stackPointer: 1, programCounter: 2), at: Clock.now()) == nil)
  }

  @Test func `a wait that is over when it was looked at is dropped`() {
    // The line is one that no thread of ours is in.
    let call = SyscallLine.Call(
      number: 0,
      arguments: .init(first: 0, second: 1, third: 2, fourth: 3, fifth: 4, sixth: 5),
      stackPointer: 12345, programCounter: 67890)
    var finder = WaitFinder(own)
    #expect(finder.find(ThreadID(own.rawValue), .inside(call), at: Clock.now()) == nil)
  }

  @Test func `a process is told by name and redacted command, one that is gone is not`() {
    let process = Neighbours.process(own)
    #expect(process?.pid == own.rawValue && process?.name.isEmpty == false)
    #expect(Neighbours.process(ProcessID(.max)) == nil)
  }

  @Test func `a child counts only if it was started since the turn began`() throws {
    let begin = Clock.now()
    let near = Neighbours(own, OwnProcess.thread)
    let child = Launching.spawn(["/bin/sleep", "20"])
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    #expect(near.child(startedSince: begin) != nil)
    #expect(near.child(startedSince: Clock.now() + .seconds(1)) == nil)
  }

  /// Between connect and accept the kernel knows the other end, but not whose it is.
  @Test func `who accepts a connection late is found at the next look`() throws {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer {
      close(server)
      close(client)
    }
    // Loopback, any port.
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(server, $0, size) == 0 && listen(server, 1) == 0
          && getsockname(server, $0, &size) == 0 && connect(client, $0, size) == 0
      }
    }
    try #require(isConnected)
    let link = SafeText.decode(try Syscalls.readLink("/proc/self/fd/\(client)"))
    let inode = try #require(UInt64(link.dropFirst(8).dropLast()))
    let peers = SocketPeers(own)
    var object = WaitObject(.socket)
    peers.describe(inode, seenFrom: OwnProcess.thread, &object)
    #expect(object.peer?.hasPrefix("127.0.0.1:") == true && object.process == nil)
    let accepted = accept(server, nil, nil)
    defer { close(accepted) }
    peers.describe(inode, seenFrom: OwnProcess.thread, &object)
    #expect(object.process?.pid == own.rawValue)
  }

  @Test func `nobody holds an object that does not exist`() {
    let near = Neighbours(own, ThreadID(own.rawValue))
    #expect(near.holder(of: "pipe:[18446744073709551615]", .writing) == nil)
  }
}
