import Testing

@testable import ProbeCore

@Suite struct RoundsTests {
  @Test func `the order is ABBA`() {
    #expect(
      (0..<4).flatMap { Rounds.order($0) }.map(\.rawValue).joined(separator: " ")
        == "base head head base base head head base")
  }

  @Test func `rounds are added by halves up to the limit`() {
    func looks(_ rounds: Rounds) -> [Int] {
      var (done, looks) = (0, [Int]())
      while let next = rounds.next(after: done) {
        looks.append(next)
        done = next
      }
      return looks
    }
    #expect(looks(Rounds(count: 5, limit: 12)) == [5, 8, 11, 12])
    #expect(looks(Rounds(count: 5, limit: 5)) == [5])
    #expect(looks(Rounds(count: 5, limit: 1)) == [5])
    #expect(looks(Rounds(count: 1, limit: 3)) == [1, 2, 3])
  }

  @Test func `a later look has to be surer`() {
    var rounds = Rounds(count: 5, limit: 20)
    let gates = ComparisonGates()
    let (base, head) = (
      (0..<8).map { RunComparisonTests.run(cpu: 1 + Double($0) * 0.01) },
      (0..<8).map { RunComparisonTests.run(cpu: 1.065 + Double($0) * 0.01) }
    )
    func result(_ comparison: RunComparison) -> MetricChange.Result? {
      comparison.metrics.first { $0.metric == "cpu.seconds" }?.result
    }
    // Of 64 pairs one is the other way round: p = 0.00031, below 0.01 / 4 and above 0.01 / 36.
    #expect(result(rounds.compare(base: base, head: head, gates)) == .worse)
    #expect(result(rounds.compare(base: base, head: head, gates)) == .worse)
    for _ in 0..<3 { _ = rounds.compare(base: base, head: head, gates) }
    let sixth = rounds.compare(base: base, head: head, gates)
    #expect(result(sixth) == .indeterminate)
    #expect(sixth.undecided)
  }

  @Test func `undecided is what more runs may change`() {
    func compare(_ base: [Double], _ head: [Double]) -> RunComparison {
      RunComparisonTests.compare(
        base.map { RunComparisonTests.run(cpu: $0) }, head.map { RunComparisonTests.run(cpu: $0) })
    }
    let five = [1.0, 1.01, 0.99, 1.02, 0.98]
    #expect(!compare(five, five).undecided)
    #expect(!compare(five, five.map { $0 * 1.5 }).undecided)
    #expect(compare([1.0, 1.3, 0.9, 1.2, 0.8], [1.1, 1.4, 0.95, 1.3, 0.9]).undecided)
    // Too few to test anything: a change has to be seen again, none has not.
    #expect(compare([1], [2]).undecided)
    #expect(!compare([1], [1]).undecided)
    // What was not measured stays so.
    var blind = RunComparisonTests.run(cpu: 1)
    blind.cpu.total = nil
    let runs = five.map { RunComparisonTests.run(cpu: $0) }
    let half = RunComparisonTests.compare(runs, Array(repeating: blind, count: 5))
    #expect(half.result == .indeterminate && !half.undecided)
    // Seen by chance once is not measured, and no difference.
    let once = RunComparisonTests.compare(
      Array(repeating: blind, count: 4) + [runs[0]], Array(repeating: blind, count: 5))
    #expect(once.metrics.allSatisfy { $0.metric != "cpu.seconds" })
  }
}

@Suite struct ShellTextTests {
  @Test(
    arguments: [
      ("./app --x", "exec ./app --x"), ("  X=1 Y= ./app", "  X=1 Y= exec ./app"),
      ("./app < in > out 2>&1", "exec ./app < in > out 2>&1"),
      ("./app 'a; b' \"c | d\" \\;", "exec ./app 'a; b' \"c | d\" \\;"),
      ("./app \"$HOME\" *.txt", "exec ./app \"$HOME\" *.txt"), ("exec ./app", "exec ./app"),
    ])
  func `one program takes the shell's place`(text: String, expected: String) {
    #expect(ShellText.replacingShell(text) == expected)
  }

  @Test(
    arguments: [
      "a | b", "a; b", "a && b", "a & b", "(a)", "cd x", "if a\nthen b\nfi", "a `b`", "a $(b)",
      "a \"$(b)\"", "a \"`b`\"", "{ a; }", "! a", "X=1", "", "  ", "< in a", "X='a b' c", "'a",
      "exit 3", "while true", "a &",
    ])
  func `what may be several programs, or none, stays with the shell`(text: String) {
    #expect(ShellText.replacingShell(text) == nil)
  }
}
