// The sentence names the largest part with its object, the blocker says who is to be looked at.

import Testing

@testable import ProbeCore

@Suite struct StallStoryTests {
  private func frame(_ name: String, inApp: Bool = true) -> Summary.Frame {
    Summary.Frame(
      function: name, module: inApp ? "/app" : "/lib/libc.so.6", offset: "0x1", found: .cfi,
      inApp: inApp)
  }

  /// A stall of 300 ms with one stack and one wait.
  private func story(
    _ path: WritableKeyPath<Summary.CauseParts, Nanoseconds>, _ reading: WaitReading?,
    frames: [Summary.Frame] = [], holders: [[Summary.Frame]] = [],
    surroundings: StallSurroundings? = nil, kind: StallKind = .stall,
    change: (inout Summary.CauseParts) -> Void = { _ in }
  ) -> StallStory {
    var parts = Summary.CauseParts()
    parts[keyPath: path] = .milliseconds(300)
    change(&parts)
    let stall = StallReading(
      id: 1, tid: ThreadID(10), kind: kind, start: Instant(nanoseconds: 0),
      duration: .milliseconds(300), error: .zero, observer: .kernel, certainty: .exact,
      parts: parts)
    let stack = Summary.Stack(
      at: .milliseconds(100), weight: .milliseconds(300), stopTime: .zero, truncated: nil,
      frames: frames)
    let waits = reading.map {
      [SeenWait($0, at: .milliseconds(100), weight: .milliseconds(300), holders: holders)]
    }
    return StallStory(
      stall: stall, thread: "main", stacks: [stack], waits: waits ?? [], surroundings: surroundings)
  }

  private func wait(
    _ call: String, _ kind: WaitObject.Kind, _ change: (inout WaitObject) -> Void = { _ in }
  ) -> WaitReading {
    var object = WaitObject(kind)
    change(&object)
    return WaitReading(
      tid: ThreadID(10), at: Instant(nanoseconds: 100_000_000), call: call, object: object)
  }

  private func link(_ tid: Int32, _ name: String, _ kind: WaitObject.Kind? = nil) -> WaitLink {
    WaitLink(
      tid: ThreadID(tid), name: name, call: kind.map { $0 == .lock ? "futex" : "read" },
      object: kind.map { WaitObject($0) })
  }

  private let process = NeighbourProcess(pid: 99, name: "peer", command: "peer --x")

  @Test func `a lock names its holder and what that one did`() {
    var reading = wait("futex", .lock) { $0.lock = "mutex" }
    reading.chain = [link(11, "worker-3")]
    let story = story(
      \.lock, reading, holders: [[frame("memcpy", inApp: false), frame("compress_block")]])
    #expect(
      story.sentence
        == "300 ms waiting for a mutex held by thread worker-3 (tid 11), which was in compress_block"
    )
    #expect(story.blocker?.kind == "thread" && story.blocker?.tid == 11)
    #expect(story.blocker?.holders.map(\.doing) == ["in compress_block"])
    #expect(
      story.blocker?.chain == [
        "main (tid 10) waits for a mutex held by worker-3 (tid 11)", "worker-3 (tid 11) is running",
      ])
  }

  @Test func `a chain is told to its end, and what is not sure is called so`() {
    var reading = wait("futex", .lock) { $0.lock = "mutex" }
    reading.chain = [link(11, "a", .lock), link(12, "b", .pipe)]
    reading.isProbable = true
    let text = story(\.lock, reading).sentence
    #expect(
      text.contains("probably held by thread a (tid 11), which was waiting for a lock held by"))
    #expect(text.hasSuffix("held by thread b (tid 12), which was in read of a pipe"))
  }

  @Test func `a cycle is a deadlock with all its members`() {
    var reading = wait("futex", .lock) { $0.lock = "mutex" }
    reading.chain = [link(11, "a", .lock), link(12, "b", .lock)]
    reading.cycle = -1
    let whole = story(\.lock, reading)
    #expect(
      whole.sentence
        == "300 ms in a deadlock: this thread, thread a (tid 11) and thread b (tid 12) wait for each other"
    )
    #expect(whole.blocker?.kind == "deadlock" && whole.blocker?.holders.count == 2)
    #expect(whole.blocker?.chain.last == "b (tid 12) waits for a lock held by main (tid 10)")
    // The stalled thread waits for a member, but nobody waits for it.
    reading.cycle = 0
    #expect(
      story(\.lock, reading).sentence.contains("behind a deadlock: thread a (tid 11) and thread b"))
  }

  @Test func `a lock without a recorded owner says so, and what is no lock is not called one`() {
    let mutex = story(\.lock, wait("futex", .lock), frames: [frame("pthread_mutex_lock")])
    #expect(mutex.sentence == "300 ms waiting for a mutex; its owner is not recorded")
    #expect(mutex.blocker == nil)
    for (function, text) in [
      ("pthread_cond_wait", "waiting on a condition variable"),
      ("sem_wait", "waiting on a semaphore"),
      ("pthread_rwlock_wrlock", "waiting for a read-write lock; its owner is not recorded"),
    ] {
      let told = story(\.lock, wait("futex", .lock), frames: [frame(function, inApp: false)])
      #expect(told.sentence == "300 ms \(text)")
    }
  }

  @Test func `files, pipes, sockets, children and file locks are named`() {
    let process = process
    let cases: [(WritableKeyPath<Summary.CauseParts, Nanoseconds>, WaitReading, String, String)] = [
      (
        \.disk, wait("fsync", .file) { $0.path = "/var/lib/app.db" }, "in fsync of /var/lib/app.db",
        "file"
      ),
      (
        \.disk,
        wait("read", .file) {
          $0.path = "/tmp/x"
          $0.isDeleted = true
        }, "in read of /tmp/x (deleted)", "file"
      ),
      (
        \.pipe, wait("read", .pipe) { $0.process = process },
        "in read of a pipe, whose writing end peer (pid 99) has", "pipe"
      ),
      (
        \.socket, wait("connect", .socket) { $0.peer = "10.0.0.5:5432" },
        "in connect to 10.0.0.5:5432", "socket"
      ),
      (
        \.socket, wait("recvfrom", .socket) { $0.process = process },
        "in recvfrom from a socket of peer (pid 99)", "socket"
      ),
      (
        \.child, wait("wait4", .child) { $0.process = process },
        "waiting for child process peer (pid 99)", "child"
      ),
      (
        \.lock,
        wait("flock", .fileLock) {
          $0.path = "/run/x.lock"
          $0.process = process
        }, "waiting for a lock on /run/x.lock held by peer (pid 99)", "file"
      ),
    ]
    for (path, reading, text, kind) in cases {
      let story = story(path, reading)
      #expect(story.sentence == "300 ms \(text)")
      #expect(story.blocker?.kind == kind)
      #expect(story.blocker?.command == reading.object.process?.command)
    }
  }

  @Test func `names that others chose cannot write on the terminal`() {
    var reading = wait("futex", .lock) { $0.lock = "mutex" }
    reading.chain = [link(11, "a\u{1b}[2J")]
    let lock = story(\.lock, reading, holders: [[frame("f\u{202e}g")]])
    let file = story(\.disk, wait("read", .file) { $0.path = "/x\ny\u{1b}]0;z\u{7}" })
    for text in [lock.sentence, file.sentence] + (lock.blocker?.chain ?? []) {
      #expect(text == SafeText.terminal(text), "\(text)")
    }
  }

  @Test func `computing names the function, and page faults where they are a storm`() {
    let plain = story(\.cpuUser, nil, frames: [frame("parse_json"), frame("main")])
    #expect(plain.sentence == "300 ms computing in parse_json")
    var around = StallSurroundings(stall: 1, length: .milliseconds(300))
    around.minorFaults = 51_200
    let storm = story(
      \.cpuUser, nil, frames: [frame("fault_in")], surroundings: around,
      change: {
        $0.cpuUser = .milliseconds(60)
        $0.cpuSystem = .milliseconds(240)
      })
    #expect(
      storm.sentence
        == "300 ms touching new memory in fault_in: 51200 page faults, 80 % of its CPU time in the kernel"
    )
  }

  @Test func `shortage of memory is told with the pages, and of whom`() {
    var around = StallSurroundings(stall: 1, length: .milliseconds(200))
    around.majorFaults = 9
    around.memoryShortage = .milliseconds(160)
    let machine = story(\.pageFault, nil, frames: [frame("walk")], surroundings: around)
    #expect(
      machine.sentence
        == "300 ms waiting for pages of memory or files in walk: 9 major page faults, "
        + "while the machine was short of memory (80 % of the time)")
    around.groupMemoryShortage = .milliseconds(160)
    #expect(
      story(\.pageFault, nil, surroundings: around).sentence.contains("its control group was short")
    )
    around.memoryShortage = .milliseconds(20)
    #expect(!story(\.pageFault, nil, surroundings: around).sentence.contains("short"))
  }

  @Test func `of a file the place in it and in the kernel are told, and make no two waits of one`()
  {
    func reading(_ offset: UInt64) -> WaitReading {
      wait("read", .file) {
        $0.path = "/data/big"
        $0.offset = offset
        $0.kernelFunction = "folio_wait_bit_common"
      }
    }
    #expect(
      story(\.disk, reading(13_107_200)).sentence
        == "300 ms in read of /data/big at 12.5 MiB (in the kernel: folio_wait_bit_common)")
    #expect(reading(1).object.isSame(as: reading(2).object))
    let unknown = wait("ioctl", .other) { $0.kernelFunction = "drm_wait\u{1b}[2J" }
    #expect(
      story(\.otherWait, unknown).sentence == "300 ms in ioctl (in the kernel: drm_wait\\x1b[2J)")
  }

  @Test func `a ring is told with what it waits for`() {
    let ring = wait("io_uring_enter", .events) {
      $0.operations = 2
      $0.path = "/data/log"
    }
    #expect(
      story(\.otherWait, ring).sentence
        == "300 ms waiting for 2 operations of an io_uring with /data/log")
    let empty = wait("io_uring_enter", .events) { $0.operations = 0 }
    #expect(story(\.otherWait, empty).sentence == "300 ms waiting for events in io_uring_enter")
  }

  @Test func `a nested wait tells what it is for where that is one thing`() {
    let process = process
    func nested(_ reading: WaitReading) -> String {
      story(\.otherWait, reading, frames: [frame("spawn_and_wait")], kind: .nested).sentence
    }
    let child = wait("epoll_pwait", .events) { $0.process = process }
    #expect(
      nested(child) == "300 ms in a nested wait in spawn_and_wait for child process peer (pid 99), "
        + "which was started in it")
    #expect(story(\.otherWait, child).blocker?.kind == "child")
    #expect(
      nested(wait("poll", .socket) { $0.peer = "10.0.0.5:53" })
        == "300 ms in a nested wait in spawn_and_wait for the socket 10.0.0.5:53")
    #expect(
      nested(
        wait("poll", .socket) {
          $0.peer = "10.0.0.5:53"
          $0.others = 2
        }) == "300 ms in a nested wait in spawn_and_wait")
    #expect(
      nested(wait("epoll_wait", .events)) == "300 ms in a nested wait in spawn_and_wait")
  }

  @Test func `code made at run time is told as that, with what it called`() {
    func made() -> Summary.Frame {
      Summary.Frame(function: nil, module: "[anon]", offset: "0x1", found: .cfi, inApp: true)
    }
    let main = frame("main")
    #expect(
      story(\.cpuUser, nil, frames: [made(), made(), main]).sentence
        == "300 ms computing in code made at run time")
    #expect(
      story(\.cpuUser, nil, frames: [frame("gettimeofday", inApp: false), made(), main]).sentence
        == "300 ms computing in gettimeofday, called by code made at run time")
    #expect(
      story(\.cpuUser, nil, frames: [frame("parse"), made(), main]).sentence
        == "300 ms computing in parse")
  }

  @Test func `long names are told without their types`() {
    let name =
      "v8::internal::(anonymous namespace)::RawMatch<unsigned char>(v8::internal::Isolate*, int, int)"
    #expect(
      story(\.cpuUser, nil, frames: [frame(name)]).sentence
        == "300 ms computing in v8::internal::(anonymous namespace)::RawMatch")
    #expect(
      story(\.cpuUser, nil, frames: [frame("app::hold_it(int)")]).sentence
        == "300 ms computing in app::hold_it(int)")
  }

  /// Made by hand: no machine with a swap area was at hand to record one.
  @Test func `pages that come back from swap are counted, with the place that needed them`() {
    var around = StallSurroundings(stall: 1, length: .milliseconds(300))
    around.majorFaults = 412
    let swapped = story(
      \.pageFault, nil, frames: [frame("walk_heap"), frame("main")], surroundings: around)
    #expect(
      swapped.sentence
        == "300 ms waiting for pages of memory or files in walk_heap: 412 major page faults")
    #expect(swapped.blocker == nil)
  }

  @Test func `what waits for nothing that has a name is told by its place`() {
    let frames = [frame("clock_nanosleep", inApp: false), frame("retry"), frame("main")]
    #expect(
      story(\.sleep, wait("nanosleep", .sleep), frames: frames).sentence
        == "300 ms sleeping in retry")
    #expect(
      story(\.otherWait, wait("epoll_wait", .events), frames: frames).sentence
        == "300 ms waiting for events in epoll_wait in retry")
    #expect(
      story(\.disk, wait("fsync", .file) { $0.path = "/a" }, frames: frames).sentence
        == "300 ms in fsync of /a")
  }

  @Test(arguments: [
    ("take_gil", "Python's global interpreter lock (GIL)"),
    ("PyThread_acquire_lock_timed", "a lock of Python"),
  ])
  func `a language's own lock is told as that, whatever it is made of`(
    function: String, lock: String
  ) {
    let frames = [frame("pthread_cond_timedwait", inApp: false), frame(function), frame("eval")]
    #expect(
      story(\.lock, wait("futex", .lock), frames: frames).sentence
        == "300 ms waiting for \(lock); its owner is not recorded")
  }

  @Test func `a lock that a database waits for with events is told as one`() {
    let frames = [frame("WaitEventSetWait"), frame("WaitLatch"), frame("ProcSleep")]
    #expect(
      story(\.otherWait, wait("epoll_wait", .events), frames: frames).sentence
        == "300 ms waiting for a lock of PostgreSQL (on a row or a table); its owner is not recorded"
    )
  }

  @Test func `a second part that matters is told of as well`() {
    let two = story(
      \.sleep, wait("nanosleep", .sleep), frames: [],
      change: {
        $0.sleep = .milliseconds(200)
        $0.cpuUser = .milliseconds(100)
      })
    #expect(two.sentence == "200 ms sleeping; and 100 ms computing")
  }

  @Test func `without a CPU it is told who had them`() {
    var around = StallSurroundings(
      stall: 1, length: .milliseconds(300), processCPU: .milliseconds(500),
      threadCPU: .milliseconds(10))
    around.machineCPU = .milliseconds(600)
    #expect(
      story(\.runDelay, nil, surroundings: around).sentence.contains("other threads of the program")
    )
    around.machineCPU = .milliseconds(6000)
    #expect(
      story(\.runDelay, nil, surroundings: around).sentence.hasSuffix(
        "other processes had the CPUs"))
  }
}
