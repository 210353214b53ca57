import Testing

@testable import ProbeCore

/// Dumps made up for texts and JSON.
enum SampleDump {
  private static func frame(
    _ function: String?, _ module: String, _ offset: String, functionOffset: UInt64? = 0x1c,
    file: String? = nil, line: Int? = nil, inlined: Bool = false, inApp: Bool = false,
    found: FrameSource = .cfi
  ) -> Summary.Frame {
    Summary.Frame(
      function: function, functionOffset: functionOffset, module: module, offset: offset,
      file: file, line: line, inlined: inlined, found: found, inApp: inApp)
  }

  private static let start = [
    frame(
      "main", "/opt/app/bin/app", "0x1390", file: "/build/app/src/main.c", line: 28, inApp: true),
    frame("__libc_start_call_main", "/usr/lib/libc.so.6", "0x2724a", functionOffset: 0x7a),
    frame("_start", "/opt/app/bin/app", "0x1431", functionOffset: 0x21, inApp: true),
  ]

  private static let deep = (0..<50).flatMap { _ in
    [
      frame("even(int)", "/opt/app/bin/app", "0x2000", file: "r.cpp", line: 7, inApp: true),
      frame("odd(int)", "/opt/app/bin/app", "0x2040", file: "r.cpp", line: 8, inApp: true),
    ]
  }

  private static let lockWait = [
    frame(
      "__lll_lock_wait", "/usr/lib/libc.so.6", "0x8612b", functionOffset: 0x2b, found: .register),
    frame(
      "cache::update(std::map<std::string, std::vector<int>> const&)", "/opt/app/bin/app",
      "0x1c50", functionOffset: nil, file: "/build/app/src/a long folder name/cache.cpp", line: 19,
      inlined: true, inApp: true, found: .inline),
    frame("on_tick", "/opt/app/bin/app", "0x1c50", inApp: true),
  ]

  private static let workerStack = [
    frame("syscall", "/usr/lib/libc.so.6", "0x10a1b6", functionOffset: 0x56, found: .register),
    frame(nil, "[anon]", "0x7f0000001234", functionOffset: nil, found: .framePointer),
    frame("worker\u{1b}[31m", "/home/\u{e9}t\u{e9}/lib;x.so", "0x99", inApp: true),
  ]

  private static func wait(
    _ call: String, _ change: (inout DumpedThread.Wait) -> Void
  ) -> DumpedThread.Wait {
    var wait = DumpedThread.Wait(call: call)
    change(&wait)
    return wait
  }

  /// Main waits for a lock whose owner runs; workers wait; one could not be had.
  static let full: ThreadDump = {
    let workers = (0..<58).map { index in
      DumpedThread(
        tid: Int32(200 + index), name: "worker-\(index)", state: .sleeping,
        wait: wait("futex") { $0.address = "0x7f00\(index % 2)" }, stack: 2)
    }
    var cost = ThreadDump.Cost()
    cost.withoutStop = 60
    cost.stopped = 1
    cost.stops = 2
    cost.stopTotal = .microseconds(61)
    cost.stopLongest = .microseconds(38)
    cost.captureTime = .milliseconds(4)
    cost.time = .milliseconds(21)
    cost.cpu = .milliseconds(12)
    return ThreadDump(
      build: Summary.Build(version: "0.1.0", commit: nil),
      target: .init(pid: 100, name: "app", executable: "/opt/app/bin/app", threads: 64),
      takenAt: "2026-11-30T17:23:59.845Z", monotonic: Instant(nanoseconds: 1_000_000),
      threads: [
        DumpedThread(
          tid: 100, name: "app", state: .sleeping,
          wait: wait("futex") {
            $0.address = "0x5585a820a140"
            $0.owner = 102
          }, stack: 0),
        DumpedThread(
          tid: 102, name: "ho\nlder", state: .running, stack: 1, stopTime: .microseconds(61)),
        DumpedThread(
          tid: 103, name: "disk", state: .uninterruptible,
          wait: wait("fsync") {
            $0.descriptors = [.init(number: 7, object: "/var/lib/app/\u{202e}db")]
            $0.kernelFunction = "jbd2_log_wait_commit"
          }, stack: nil, missing: "it cannot be stopped now"),
        DumpedThread(
          tid: 104, name: "net", state: .sleeping,
          wait: wait("poll") {
            $0.descriptors = [
              .init(number: 3, object: "socket:[123]"), .init(number: 4, object: nil),
            ]
            $0.moreDescriptors = 12
            $0.timeout = .milliseconds(1500)
          }, stack: 3, missing: "the rest needs its registers"),
      ] + workers + [DumpedThread(tid: 300, name: "old", state: .ended, missing: "it has ended")],
      stacks: [
        .init(frames: lockWait + start, truncation: nil, threads: [100]),
        .init(frames: deep + start, truncation: .copyLimit, threads: [102]),
        .init(frames: workerStack, truncation: nil, threads: workers.map(\.tid)),
        .init(frames: [workerStack[0]], truncation: .unknownRegister, threads: [104]),
      ], cost: cost, notes: ["no time for all lines of libvery.so; --lines takes longer"])
  }()

  /// One thread, no stack, nothing known.
  static let bare = ThreadDump(
    build: Summary.Build(version: "0.1.0", commit: nil),
    target: .init(pid: 5, name: "", executable: nil, threads: 1),
    takenAt: "2026-11-30T17:23:59.845Z", monotonic: Instant(nanoseconds: 0),
    threads: [DumpedThread(tid: 5, name: "", state: .unknown, missing: "not permitted")],
    stacks: [], cost: ThreadDump.Cost(), notes: [])
}
