// Captures one thread again and again, for `make bench` and for tests that kill it at any moment.
// usage: CaptureBench PID [COUNT] [INTERVAL-MICROSECONDS] [STACK-BYTES] [TID]
// A line for each capture: from and to (CLOCK_MONOTONIC, ns), the stop (ns), bytes copied.
// usage: CaptureBench unwind PID ROUNDS STACK-BYTES
// One capture, many walks over it; prints as unwindpeer.c does: frames, median ns a frame when warm.

import Glibc
import ProbeCore

let isUnwinding = CommandLine.arguments.dropFirst().first == "unwind"
let words = CommandLine.arguments.dropFirst(isUnwinding ? 2 : 1).map { Int32($0) ?? 0 }

func word(_ index: Int, or fallback: Int32) -> Int32 {
  index < words.count ? words[index] : fallback
}

let pid = ProcessID(word(0, or: 0))
if isUnwinding {
  let unwinder = Unwinder(pid, cache: ModuleCache())
  let extent = CopyExtent(stackBytes: Int(word(2, or: 64 << 10)))
  var tracer = try StackCapturer(pid)
  let snapshot = try tracer.capture(ThreadID(pid.rawValue), CaptureRequest(extent: extent))
  let frames = unwinder.unwind(snapshot).stack.frames.count
  let walks = frames > 500 ? 10 : 200
  var taken: [Double] = []
  for _ in 0..<word(1, or: 31) {
    let from = Clock.now()
    var seen = 0
    for _ in 0..<walks { seen += unwinder.unwind(snapshot).stack.frames.count }
    precondition(seen == frames * walks, "the same copy gives the same frames")
    let time = (Clock.now() - from).rawValue
    taken.append(Double(time) / Double(walks * frames))
  }
  taken.sort()
  print(frames, taken[taken.count / 2])
  exit(0)
}

let tid = ThreadID(word(4, or: pid.rawValue))
let request = CaptureRequest(extent: CopyExtent(stackBytes: Int(word(3, or: 64 << 10))))
let interval = UInt32(word(2, or: 2000))
var capturer = try StackCapturer(pid)
var lines: [String] = []

for _ in 0..<word(1, or: 300) {
  if interval > 0 { usleep(interval + .random(in: 0...interval / 2)) }
  let from = Clock.now()
  let result = Result { () throws(CaptureRefusal) in try capturer.capture(tid, request) }
  let to = Clock.now()
  let text =
    switch result {
    case .success(let snapshot):
      "\(snapshot.stopTime.rawValue) \(snapshot.regions.first?.bytes.count ?? 0)"
    case .failure(let refusal): "- \(refusal)"
    }
  lines.append("\(from.nanoseconds) \(to.nanoseconds) \(text)")
}
print(lines.joined(separator: "\n"))
