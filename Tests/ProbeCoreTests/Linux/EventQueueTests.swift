import Testing

@testable import ProbeCore

@Suite struct EventQueueTests {
  private func writer(_ count: Int) -> ByteWriter {
    var out = ByteWriter()
    for _ in 0..<count { out.put(byte: 7) }
    return out
  }

  @Test func `what was written comes out once and in order`() {
    let queue = EventQueue()
    queue.append(.stopped(true, at: Script.at(1)))
    queue.append(.stopped(false, at: Script.at(2)))
    var batch: [UInt8] = [9, 9]
    #expect(queue.take(into: &batch, waitingAtMost: .seconds(5)))
    var out = ByteWriter()
    EventCodec.encode(.stopped(true, at: Script.at(1)), into: &out)
    EventCodec.encode(.stopped(false, at: Script.at(2)), into: &out)
    #expect(batch == out.bytes)
    #expect(queue.take(into: &batch, waitingAtMost: .zero))
    #expect(batch.isEmpty)
  }

  @Test func `what does not fit is dropped whole and counted, and the writer is emptied`() {
    let queue = EventQueue(limit: 100)
    var out = writer(60)
    queue.append(&out, frames: 2)
    #expect(out.count == 0)
    out = writer(41)
    queue.append(&out, frames: 3)
    #expect(out.count == 0 && queue.droppedCount == 3)
    out = writer(40)
    queue.append(&out, frames: 1)
    #expect(queue.droppedCount == 3)
    var batch: [UInt8] = []
    #expect(queue.take(into: &batch, waitingAtMost: .zero))
    #expect(batch.count == 100)
    // With room again, events come through again.
    out = writer(100)
    queue.append(&out)
    #expect(queue.take(into: &batch, waitingAtMost: .zero) && batch.count == 100)
    #expect(queue.droppedCount == 3)
  }

  @Test(arguments: [("urgent", 1), ("wake", 0), ("much", 2), ("close", 0)])
  func `a reader that waits is woken by what cannot wait`(kind: String, frames: Int) throws {
    let queue = EventQueue(limit: 80)
    let thread = try OSThread(name: "writer") {
      var out = ByteWriter()
      for _ in 0..<(kind == "much" ? 11 : 1) { out.put(byte: 7) }
      switch kind {
      case "urgent": queue.append(&out, isUrgent: true)
      case "much": queue.append(&out)  // more than an eighth of the room
      case "wake": queue.wake()
      default: queue.close()
      }
    }
    let before = Clock.now()
    var batch: [UInt8] = []
    let isOpen = queue.take(into: &batch, waitingAtMost: .seconds(60))
    #expect(Clock.now() - before < .seconds(30))
    #expect(isOpen == (kind != "close"))
    thread.join()
  }

  @Test func `ordinary events do not wake the reader`() {
    let queue = EventQueue()
    var out = writer(10)
    queue.append(&out)
    var batch: [UInt8] = []
    let before = Clock.now()
    #expect(queue.take(into: &batch, waitingAtMost: .milliseconds(30)))
    #expect(Clock.now() - before >= .milliseconds(30))
    #expect(batch.count == 10)
  }

  @Test func `a closed queue gives what is left and then its end`() {
    let queue = EventQueue()
    var out = writer(10)
    queue.append(&out)
    queue.close()
    var batch: [UInt8] = []
    #expect(queue.take(into: &batch, waitingAtMost: .seconds(60)))
    #expect(batch.count == 10)
    #expect(!queue.take(into: &batch, waitingAtMost: .seconds(60)))
    #expect(batch.isEmpty)
  }

  @Test func `several writers and one reader lose and mix nothing`() throws {
    let queue = EventQueue()
    func start(_ number: Int32) throws -> OSThread {
      try OSThread(name: "writer") {
        for index in 0..<2000 {
          queue.append(.threadEnded(ThreadID(number), at: Instant(nanoseconds: Int64(index))))
        }
      }
    }
    let one = try start(1)
    let two = try start(2)
    var next: [Int32: Int64] = [1: 0, 2: 0]
    var batch: [UInt8] = []
    while next.values.reduce(0, +) < 4000, queue.take(into: &batch, waitingAtMost: .seconds(10)) {
      var reader = ByteReader(batch)
      while case .threadEnded(let tid, let at)? = try EventCodec.decode(&reader) {
        #expect(next[tid.rawValue] == at.nanoseconds)
        next[tid.rawValue] = at.nanoseconds + 1
      }
    }
    one.join()
    two.join()
    #expect(next == [1: 2000, 2: 2000])
    #expect(queue.droppedCount == 0)
  }
}
