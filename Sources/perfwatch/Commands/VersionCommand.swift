// `perfwatch version`: what this program is, for bug reports and scripts.

internal import ProbeCore

enum VersionCommand {
  private struct Version: Encodable {
    var version: String
    var commit: String?
    var build: String
    var schema: String
    var recording: String
  }

  static func run(isJSON: Bool) -> Int32 {
    let build = BuildInfo.current
    guard isJSON else {
      let commit = build.commit.map { " (\($0.prefix(12)))" } ?? ""
      return Console.out("perfwatch \(build.version)\(commit)\n")
        ? ExitCode.success : ExitCode.failure
    }
    let version = Version(
      version: build.version, commit: build.commit, build: buildMode,
      schema: Summary.schemaName, recording: RecordingFormat.name)
    guard let bytes = try? OrderedJSONEncoder().encode(version) else {
      // Five strings always encode.
      return ExitCode.failure
    }
    return Console.out(bytes) ? ExitCode.success : ExitCode.failure
  }

  private static var buildMode: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }
}
