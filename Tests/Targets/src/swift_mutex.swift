// TARGET group=cause
// poll loop; the main thread needs a Synchronization.Mutex that "holder" holds for 300 ms in holdIt.
// On Linux it inherits priority, so the kernel's word has its owner. Built where swiftc is there.
// TRUTH: {"exit":0, "stalls":[{"fn":"need", "n":2, "ms":300, "tol":40, "how":"futex"}]}

import Glibc
import Synchronization

let lock = Mutex(0)
let want = Atomic(0)
let held = Atomic(0)

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

@inline(never) @_optimize(none) func holdIt() {
  usleep(300_000)
  held.store(2, ordering: .sequentiallyConsistent)
}

@inline(never) @_optimize(none) func need() {
  lock.withLock { $0 += 1 }
}

func holder() {
  let name = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
  _ = write(name, "holder", 6)
  close(name)
  while want.load(ordering: .sequentiallyConsistent) >= 0 {
    if want.load(ordering: .sequentiallyConsistent) == 1 {
      want.store(0, ordering: .sequentiallyConsistent)
      lock.withLock {
        $0 += 1
        held.store(1, ordering: .sequentiallyConsistent)
        holdIt()
      }
    }
    usleep(1000)
  }
}

let path = getenv("TARGET_TRUTH").map { String(cString: $0) } ?? "/dev/stderr"
let truth = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)

func tell(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(truth, bytes, bytes.count)
}

let me = "\"prog\":\"swift_mutex\",\"pid\":\(getpid())"
tell("{\"ev\":\"start\",\(me),\"t\":\(now())}")
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    holder()
    return nil
  }, nil)
for turn in 1...55 {
  poll(nil, 0, 20)
  guard turn == 20 || turn == 40 else { continue }
  held.store(0, ordering: .sequentiallyConsistent)
  want.store(1, ordering: .sequentiallyConsistent)
  while held.load(ordering: .sequentiallyConsistent) == 0 { usleep(1000) }
  let before = now()
  need()
  let after = now()
  tell(
    "{\"ev\":\"gap\",\"kind\":\"stall\",\"fn\":\"need\",\"how\":\"futex\",\"t0\":\(before),"
      + "\"t1\":\(after),\"ms\":\((after - before) * 1e3),\"cpu_ms\":0,\"edge_ms\":0}")
}
want.store(-1, ordering: .sequentiallyConsistent)
pthread_join(thread, nil)
tell("{\"ev\":\"end\",\(me),\"t\":\(now())}")
