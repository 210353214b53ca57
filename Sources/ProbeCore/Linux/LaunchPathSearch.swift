// Where a program's name may lead, in a shell's order, and what it means when none of it worked.
// Safety: the array of C strings lives in this frame while the body runs, and nobody keeps it.

internal import CProbe
internal import Glibc

/// The paths that a name stands for.
struct PathSearch: Sendable {
  /// What execvp(3) takes when PATH is not set: confstr(_CS_PATH).
  static let defaultPath = Array("/bin:/usr/bin".utf8)

  let name: [UInt8]
  /// In the order to try; never empty.
  let candidates: [[UInt8]]
  /// The PATH that was searched; nil for a name with a slash, which is a path itself.
  let searched: [UInt8]?

  init(name: [UInt8], path: [UInt8]?) {
    let slash = UInt8(ascii: "/")
    self.name = name
    guard !name.contains(slash) else {
      candidates = [name]
      searched = nil
      return
    }
    let directories = path ?? Self.defaultPath
    searched = directories
    candidates = directories.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { directory in
        // "./" rather than nothing, so that a name like "-x" cannot become an option of sh.
        (directory.isEmpty ? [UInt8(ascii: ".")] : Array(directory)) + [slash] + name
      }
  }

  var text: String { SafeText.decode(name) }

  /// Turns what the child said into an error that names the file.
  func explain(_ failure: cprobe_launch_failure) -> LaunchError {
    let index = Int(failure.path_index)
    let path = candidates.indices.contains(index) ? candidates[index] : name
    let code = failure.error
    switch UInt32(bitPattern: failure.stage) {
    case CPROBE_STAGE_RESTORE.rawValue:
      return LaunchError(
        kind: .system, cause: .other(doing: "restore its limits"), path: text, code: code)
    case CPROBE_STAGE_SHELL.rawValue:
      return LaunchError(
        kind: .notRunnable, cause: .interpreter("/bin/sh", isMissing: code == ENOENT),
        path: SafeText.decode(path), code: code)
    case CPROBE_STAGE_FORMAT.rawValue where code != ENOEXEC:
      return LaunchError(
        kind: .notRunnable, cause: .other(doing: "read the file, which is no binary program"),
        path: SafeText.decode(path), code: code)
    default: break
    }
    guard let searched, code == ENOENT || code == ENOTDIR else {
      return LaunchDiagnosis.explain(path: path, code: code)
    }
    // A file that is there but whose interpreter is not says ENOENT as well.
    if let found = candidates.first(where: LaunchDiagnosis.exists) {
      return LaunchDiagnosis.explain(path: found, code: code)
    }
    let isHere = LaunchDiagnosis.exists(Array("./".utf8) + name)
    return LaunchError(
      kind: .notFound,
      cause: .notInPath(searched: SafeText.decode(searched), isInCurrentDirectory: isHere),
      path: text, code: code)
  }
}

/// Calls `body` with the strings as C wants them: NUL-terminated, and NULL after the last.
func withCStrings<Result>(
  _ strings: [[UInt8]],
  _ body: (UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var text: [CChar] = []
  text.reserveCapacity(strings.reduce(0) { $0 + $1.count + 1 })
  var starts: [Int] = []
  for string in strings {
    starts.append(text.count)
    text.append(contentsOf: string.lazy.map { CChar(bitPattern: $0) })
    text.append(0)
  }
  return unsafe text.withUnsafeMutableBufferPointer { buffer in
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe starts.map { start in
      unsafe buffer.baseAddress.map { unsafe $0 + start }
    }
    unsafe pointers.append(nil)
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0) }
  }
}
