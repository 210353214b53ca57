// What the words of `perfwatch dump` mean.

internal import Testing

@testable import ProbeCore
@testable import perfwatch

extension ParserTests {
  @Test func `dump takes a process, and what of it`() throws {
    guard
      case .dump(let request) = try Parser.parse([
        "dump", "4711", "--thread", "worker*", "--thread=12", "--watch", "100ms", "-n", "50",
        "--folded", "-o", "out", "--in-app", "libmine*", "--max-frames", "30", "--no-lines",
      ])
    else { throw Unexpected(words: []) }
    #expect(request.target == .pid(ProcessID(4711)))
    var expected = DumpOptions()
    expected.threads = ["worker*", "12"]
    expected.period = .milliseconds(100)
    expected.count = 50
    expected.format = .folded
    expected.path = "out"
    expected.inApp = ["libmine*"]
    expected.maxFrames = 30
    expected.lines = .none
    #expect(request.options == expected)
    #expect(
      try Parser.parse(["dump", "--name", "^x$"])
        == .dump(ParsedDump(target: .name("^x$"), options: DumpOptions())))
  }

  @Test func `dump refuses what does not fit together`() {
    for (words, part) in [
      ("dump", "no process to dump"), ("dump 1 --json --folded", "exclude each other"),
      ("dump 1 --main --thread 2", "exclude each other"), ("dump 1 -n 0", "not a number from 1 up"),
      ("dump 1 --lines --no-lines", "exclude each other"), ("dump redis", "dump --name redis"),
      ("dump 1 --max-frames 99999999", "more than"), ("dump 1 --thread=", "empty"),
    ] {
      let message = Self.message(words.split(separator: " ").map(String.init))
      #expect(message?.contains(part) == true, "\(words): \(message ?? "")")
    }
  }
}
