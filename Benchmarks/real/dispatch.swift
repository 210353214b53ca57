// A libdispatch server: dispatchMain on the main thread, timers on a serial queue.
import Dispatch

let queue = DispatchQueue(label: "server")
let timer = DispatchSource.makeTimerSource(queue: queue)
nonisolated(unsafe) var sum = 0
timer.schedule(deadline: .now(), repeating: .milliseconds(20))
timer.setEventHandler { for i in 0..<50_000 { sum &+= i } }
timer.resume()
dispatchMain()
