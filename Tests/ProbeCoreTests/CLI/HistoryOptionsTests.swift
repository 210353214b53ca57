import Testing

@testable import ProbeCore
@testable import perfwatch

@Suite struct HistoryOptionsTests {
  @Test func `runs go to a history with labels, the last of a key counts`() throws {
    let request = try ParserTests.run(
      "--history", "h.db", "--label", "a=1", "--label", "b=x=y", "--label", "a=2", "true")
    #expect(request.options.output.historyPath == "h.db")
    #expect(
      request.options.output.labels == [
        RunLabel(key: "b", value: "x=y"), RunLabel(key: "a", value: "2"),
      ])
  }

  @Test func `a history is shown by branch, program, metric and number`() throws {
    let words = [
      "history", "h.db", "--branch", "main", "-n", "7", "-m", "wall", "--label", "a=1",
      "--program", "x", "--json",
    ]
    guard case .history(let request) = try Parser.parse(words) else {
      Issue.record("no history")
      return
    }
    #expect(request.file == "h.db" && request.metrics == ["wall"] && request.isJSON)
    #expect(request.filter.branch == "main" && request.filter.count == 7)
    #expect(request.filter.program == "x" && request.filter.labels.count == 1)
  }

  @Test func `what does not go together is told`() {
    for (words, hint) in [
      (["run", "--label", "a=1", "x"], "--history FILE"),
      (["run", "--history", "h", "--label", "=1", "x"], "KEY=VALUE"),
      (["run", "--baseline", "history:main", "x"], "needs the history"),
      (["run", "--history", "h", "--baseline", "history:", "x"], "which branch"),
      (["run", "--history", "h", "--summary", "h", "x"], "two outputs"),
      (["attach", "--history", "-", "1"], "not a stream"),
      (["history"], "no history"), (["history", "a", "b"], "unexpected"),
      (["history", "a", "-n", "0"], "not a number"),
      (["history", "a", "-m", "wal"], "did you mean 'wall'?"),
    ] {
      #expect(ParserTests.message(words)?.contains(hint) == true, "\(words)")
    }
  }

  @Test func `what the CI system says of the commit comes before the repository`() {
    var head = GitHead()
    head.commit = "feed"
    head.branch = "side"
    func origin(_ variables: NamedTexts) -> [String?] {
      let origin = CIService.origin([], variable: { variables[$0] }, head: { head })
      return [origin.commit, origin.branch]
    }
    #expect(origin([:]) == ["feed", "side"])
    #expect(origin(["GITHUB_SHA": "", "CI_COMMIT_BRANCH": ""]) == ["feed", "side"])
    #expect(origin(["GITHUB_SHA": "a", "GITHUB_REF_NAME": "main"]) == ["a", "main"])
    #expect(origin(["CI_COMMIT_SHA": "b", "CI_COMMIT_BRANCH": "dev"]) == ["b", "dev"])
    #expect(origin(["CI_COMMIT_SHA": "b"]) == ["b", nil])
    #expect(origin(["CI_COMMIT_SHA": "feed"]) == ["feed", "side"])
  }
}
