import Testing

@testable import ProbeCore

@Suite struct GlobTests {
  @Test(
    arguments: [
      ("", "", true), ("", "a", false), ("*", "", true), ("*", "anything", true), ("?", "", false),
      ("?", "a", true), ("?", "ab", false), ("worker", "worker", true),
      ("worker", "worker-1", false), ("worker", "a worker", false), ("worker*", "worker-1", true),
      ("*worker", "my worker", true), ("*work*", "networker", true), ("w?rk*r", "worker", true),
      ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false), ("**", "x", true),
      ("*?", "", false), ("*?", "x", true), ("?*?", "x", false), ("Worker", "worker", false),
      ("naïve*", "naïve loop", true), ("?", "é", true), ("a.c", "abc", false),
      ("[ab]", "a", false), ("[ab]", "[ab]", true), ("tokio-*-w", "tokio-rt-worker", false),
    ] as [(String, String, Bool)])
  func `a pattern matches the whole name or not at all`(
    pattern: String, name: String, expected: Bool
  ) {
    #expect(Glob(pattern).matches(name) == expected)
  }

  @Test func `hostile patterns take no more than linear or quadratic time`() {
    let pattern = String(repeating: "*a", count: 200) + "b"
    let clock = ContinuousClock()
    let time = clock.measure {
      #expect(!Glob(pattern).matches(String(repeating: "a", count: 2000)))
    }
    #expect(time < .seconds(2))
  }
}
