// What a CI system is told without being asked for, and what it tells us.

internal import ProbeCore

enum CIService {
  /// Where the repository is.
  static var context: ReportContext {
    for name in ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"] {
      if let folder = Environment.value(name), folder.hasPrefix("/") {
        return ReportContext(repository: folder)
      }
    }
    return ReportContext(repository: WorkingFolder.repository)
  }

  /// Where the code comes from: what the CI system says, else what the working directory's repository
  /// has checked out.
  ///
  /// - Parameter variable: reads the environment.
  static func origin(
    _ labels: [RunLabel], variable: (String) -> String? = Environment.value,
    head: () -> GitHead? = GitHead.ofWorkingFolder
  ) -> RunOrigin {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(variable).first { !$0.isEmpty }
    }
    var origin = RunOrigin(
      commit: first("GITHUB_SHA", "CI_COMMIT_SHA"),
      branch: first("GITHUB_REF_NAME", "CI_COMMIT_BRANCH"),
      labels: labels.map { ($0.key, $0.value) })
    if origin.commit == nil || origin.branch == nil, let head = head() {
      // A branch that has another commit checked out says nothing about the one that is named.
      if origin.branch == nil, origin.commit == nil || origin.commit == head.commit {
        origin.branch = head.branch
      }
      origin.commit = origin.commit ?? head.commit
    }
    return origin
  }

  /// Under GitHub Actions: annotations in the step's log and the verdict in the step's summary.
  ///
  /// - Parameter formats: what the user has exported already.
  static func tell(_ summary: Summary, but formats: [String]) {
    guard summary.verdict.result != .none, Environment.value("GITHUB_ACTIONS") == "true" else {
      return
    }
    let context = context
    if !formats.contains("github"), let text = rendered("github", summary, context) {
      Terminal.write(2, text)
    }
    guard !formats.contains("markdown"), let path = Environment.value("GITHUB_STEP_SUMMARY"),
      !path.isEmpty, let text = rendered("markdown", summary, context)
    else { return }
    do {
      try SharedFile.append(text, to: path)
    } catch {
      // The verdict stands in the log as well: no reason to fail a build.
      Console.fail("note: cannot write \(SafeText.terminal(path)): \(error.reason)")
    }
  }

  private static func rendered(
    _ format: String, _ summary: Summary, _ context: ReportContext
  ) -> [UInt8]? {
    // These two are text of the catalogue and cannot fail.
    try? ReporterCatalog.named(format)?.render(summary, context)
  }
}
