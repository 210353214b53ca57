// Every warning perfwatch can give, declared once: a stable code, what it means, what to do.
// Advice texts live here and nowhere else.

/// A warning's stable name, as it stands in `warnings[].code` of a summary.
public enum NoticeCode: String, Sendable, CaseIterable {
  case workInChildren = "work-in-children"
  case childrenPolled = "children-polled"
  case shortRun = "short-run"
  case lateTicks = "late-ticks"
  case droppedEvents = "dropped-events"
  case memoryUnreadable = "memory-unreadable"
  case threadsUnreadable = "threads-unreadable"
  case descriptorLimit = "descriptor-limit"
  case tracedByOther = "traced-by-other"
  case otherUser = "other-user"
  case recordingFailed = "recording-failed"
  case recordingCut = "recording-cut"
  case exitStatusUnknown = "exit-status-unknown"
  case proportionalUnreadable = "proportional-unreadable"
  case proportionalCost = "proportional-cost"
  case sudoRoot = "sudo-root"
  case tracingGivenUp = "tracing-given-up"
  case otherLoops = "other-loops"
  case loopMoves = "loop-moves"
  case loopsElsewhere = "loops-elsewhere"
  case stallsNotWatched = "stalls-not-watched"
  case stacksSlowed = "stacks-slowed"
  case stacksRefused = "stacks-refused"
  case unnamedCode = "unnamed-code"

  /// The sentence shown; `detail` is what was read or counted, already in words.
  public func message(_ detail: String) -> String {
    switch self {
    case .workInChildren: "most of the CPU was burnt by child processes: \(detail)"
    case .childrenPolled: "descendants are found by polling: \(detail)"
    case .shortRun: "the target ran too short for rates: \(detail)"
    case .lateTicks: "perfwatch itself came late: \(detail)"
    case .droppedEvents: "perfwatch could not keep up: \(detail)"
    case .memoryUnreadable: "memory was not measured: \(detail)"
    case .threadsUnreadable: "threads were not measured: \(detail)"
    case .descriptorLimit: "too few file descriptors: \(detail)"
    case .tracedByOther: "the target is traced by another process: \(detail)"
    case .otherUser: "the target belongs to another user: \(detail)"
    case .recordingFailed: "the recording is incomplete: \(detail)"
    case .recordingCut: "the recording ends in the middle: \(detail)"
    case .exitStatusUnknown: "the target's exit status is not known: \(detail)"
    case .proportionalUnreadable: "PSS was not measured: \(detail)"
    case .proportionalCost: "reading PSS holds up the target's own mmap: \(detail)"
    case .sudoRoot: "the target runs as root: \(detail)"
    case .tracingGivenUp: "the kernel's records were given up to spare the target: \(detail)"
    case .otherLoops: "other threads loop, too: \(detail)"
    case .loopMoves: "the event loop moves between threads, and all of them are watched: \(detail)"
    case .loopsElsewhere:
      "the main thread only waits; the loops of other threads are watched instead: \(detail)"
    case .stallsNotWatched: "stalls were not judged: \(detail)"
    case .stacksSlowed: "stacks are taken less often, to spare the target: \(detail)"
    case .stacksRefused: "no stacks were taken in stalls: \(detail)"
    case .unnamedCode: "code made at run time has no names on the stacks: \(detail)"
    }
  }

  /// One thing the user can do.
  public var advice: String {
    switch self {
    case .workInChildren: "run again with --children to count the whole process tree"
    case .childrenPolled:
      "run as root, or lower /proc/sys/kernel/perf_event_paranoid to 2, to have every fork reported"
    case .shortRun: "CPU totals are exact; for rates let it run longer or repeat its work"
    case .lateTicks: "the machine is busy; leave a core free, or raise --interval"
    case .droppedEvents: "raise --interval, or leave a core free"
    case .memoryUnreadable: "run as the target's user or as root"
    case .threadsUnreadable: "run as the target's user or as root"
    case .descriptorLimit: "raise the limit with `ulimit -n`"
    case .tracedByOther:
      "CPU and memory are measured all the same; stacks come back when it lets go"
    case .otherUser: "CPU and memory are measured all the same; for the rest run as root"
    case .recordingFailed: "free some space and record again"
    case .recordingCut: "the report covers what is there"
    case .exitStatusUnknown: "only a launched target's status reaches us: use `perfwatch run`"
    case .proportionalUnreadable: "--pss needs the target alive and readable at the end"
    case .proportionalCost: "leave out --pss where that is too long"
    case .sudoRoot: "drop it with `perfwatch run setpriv --reuid UID -- CMD` if that is not meant"
    case .tracingGivenUp: "its stalls are seen by /proc from here on, less exactly"
    case .otherLoops: "watch them with --watch-thread NAME or --watch loops"
    case .loopMoves:
      "they may do other work than the loop's as well, so their stalls are only probable"
    case .loopsElsewhere: "watch others with --watch-thread NAME or --watch loops"
    case .stallsNotWatched: "CPU, memory and threads are measured"
    case .stacksSlowed: "raise --stall-threshold to look at the longer stalls only"
    case .unnamedCode:
      "have its runtime write a perf map: node --perf-basic-prof, DOTNET_PerfMapEnabled=1, "
        + "python -X perf (3.12)"
    case .stacksRefused: "stalls and their causes are measured; leave stacks out with --no-stacks"
    }
  }
}
