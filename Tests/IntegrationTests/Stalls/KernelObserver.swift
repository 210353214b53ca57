// Whether this machine lets us test the kernel observer, and tracefs where it takes only a mount.

internal import Testing

@testable internal import ProbeCore

enum KernelObserver {
  /// Why it cannot be tested here; nil when it can. Mounts tracefs if that is all that is missing.
  static let obstacle: Task<String?, any Error> = Task {
    guard Process.isRoot else { return "the kernel observer needs root" }
    let folder = try Scratch()
    let mounts = Scratch.text("/proc/self/mounts").split(separator: "\n")
    if !mounts.contains(where: { $0.split(separator: " ").dropFirst(2).first == "tracefs" }) {
      let mount = ["/bin/mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"]
      let mounted = try await Command(mount).run(in: folder)
      guard mounted.status == .code(0) else { return "no tracefs: \(mounted.error)" }
    }
    let options = ["run", "--quiet", "--observer", "kernel", "--"]
    let tried = try await Perfwatch.command(options + ["/bin/true"]).run(in: folder)
    return tried.status == .code(0) ? nil : tried.error
  }

  static let isThere: ConditionTrait = .enabled(
    "needs root, tracefs and tracepoints; without them only /proc is tested"
  ) {
    try await obstacle.value == nil
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test where the kernel observer cannot be had.
  static var kernelObserver: Self { KernelObserver.isThere }
}
