// A control group freezes the target now and then: `docker pause`, a desktop that suspends programs.

internal import Testing

@testable internal import ProbeCore

@Suite struct FreezeTests {
  /// Freezes the target ten times for 200 ms while perfwatch watches it.
  private static let script = """
    dir=$1 file=$2 on=$3 off=$4 folder=$5; shift 5
    mkdir "$dir" || exit 77
    "$@" 2>"$folder/stderr" & watcher=$!
    for try in 1 2 3 4 5 6 7 8 9 10; do
      target=$(cat /proc/$watcher/task/*/children 2>/dev/null | tr -d ' ') && [ -n "$target" ] && break
      sleep 0.05
    done
    echo "$target" > "$dir/cgroup.procs" || exit 77
    for turn in 1 2 3 4 5 6 7 8 9 10; do
      echo $on > "$dir/$file"; sleep 0.2; echo $off > "$dir/$file"; sleep 0.1
    done
    wait $watcher; status=$?
    rmdir "$dir"
    exit $status
    """

  @Test(
    .enabled(if: Process.isRoot, "control groups need root"),
    arguments: ["proc", "kernel"], [1, 2])
  func `frozen time is nobody's stall`(observer: String, version: Int) async throws {
    try await LoopChoiceTests.need(observer)
    let place =
      version == 1
      ? MountTable.place(type: "cgroup", option: "freezer") : MountTable.place(type: "cgroup2")
    guard let place else { try Test.cancel("no control groups of version \(version) here") }
    try await Lane.shared {
      let folder = try Scratch()
      let target = try await Perfwatch.target("poll_burn")
      let words = [
        Perfwatch.path, "run", "--quiet", "--observer", observer, "--stall-threshold", "100ms",
        "--summary", folder["summary.json"], "--", target,
      ]
      let group = "\(place)/perfwatch-test-\(OwnProcess.pid)-\(observer)-\(version)"
      let settings =
        version == 1
        ? ["freezer.state", "FROZEN", "THAWED"] : ["cgroup.freeze", "1", "0"]
      let done = try await Command(
        ["/bin/sh", "-c", Self.script, "sh", group] + settings + [folder.path] + words
      ).run(in: folder)
      if done.status == .code(77) { try Test.cancel("not permitted to make groups here") }
      #expect(done.status == .code(7))
      let summary = try Watched.summary(folder["summary.json"])
      #expect(!summary.stalls.isEmpty)
      for stall in summary.stalls {
        // The target computes when it is away, and it waits for nothing but its home.
        let parts = stall.cause.parts
        let waited = parts.otherWait + parts.pageFault + parts.unknown
        #expect(waited < .milliseconds(60), "\(stall.cause)")
        #expect(stall.duration - parts.stopped >= .milliseconds(95))
      }
    }
  }
}
