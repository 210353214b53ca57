import Testing

@testable import ProbeCore
@testable import perfwatch

@Suite struct RepeatOptionsTests {
  private static func compare(_ words: String...) throws -> CompareRequest {
    guard case .compare(let request) = try Parser.parse(["compare"] + words) else {
      throw ParserTests.Unexpected(words: words)
    }
    return request
  }

  @Test func `runs of run`() throws {
    let options = try ParserTests.run("-n5", "--warmup", "2", "--judge=worst", "x").options
    #expect(options.repeats.runs == 5)
    #expect(options.repeats.warmup == 2)
    #expect(options.budget.judge == .worst)
    #expect(options.repeats.isRepeated)
    #expect(try !ParserTests.run("x").options.repeats.isRepeated)
    #expect(try !ParserTests.run("--runs", "1", "x").options.repeats.isRepeated)
    #expect(try ParserTests.run("--warmup", "1", "x").options.repeats.isRepeated)
    #expect(try ParserTests.run("-n2", "--judge", "worst", "--abort-on-fail", "x").command == ["x"])
  }

  @Test func `commands or files of compare`() throws {
    let files = try Self.compare("a", "b")
    #expect((files.base, files.head, files.isOfCommands) == ("a", "b", false))
    let commands = try Self.compare(
      "--base", "make -C a", "--head=make", "-n", "7", "--max-rounds", "9", "--children",
      "--show-output")
    #expect((commands.base, commands.head, commands.isOfCommands) == ("make -C a", "make", true))
    #expect(commands.options.repeats == RepeatOptions(runs: 7, warmup: nil, maxRounds: 9))
    #expect(commands.options.followsChildren && commands.showsOutput)
  }

  @Test(arguments: OptionTable.ofCommands.sorted())
  func `what is about commands is refused with files`(long: String) throws {
    let option = try #require(OptionTable.options(of: .compare).first { $0.long == long })
    let values = [
      "runs": "2", "warmup": "2", "max-rounds": "2", "interval": "1s", "rate": "2Hz",
      "stall-threshold": "1s", "observer": "proc", "watch": "main", "watch-thread": "x",
      "in-app": "x", "timeout": "1s", "kill-after": "1s", "progress": "never",
    ]
    var value: [String] = []
    if option.takesValue {
      if case .choice(_, let words) = option.value {
        value = [words[0]]
      } else {
        value = [try #require(values[long])]
      }
    }
    let words = ["compare", "a", "b", "--\(long)"] + value
    #expect(ParserTests.message(words)?.contains("--\(long) is about commands") == true)
    let with = ["compare", "--base", "a", "--head", "b", "--\(long)"] + value
    #expect(ParserTests.message(with) == nil)
  }

  @Test func `every option of watching that compare knows is refused with files`() {
    let others: Set<String> = [
      "base", "head", "indeterminate", "max-regression", "metric", "json", "color", "config",
      "help",
    ]
    let known = Set(OptionTable.options(of: .compare).map(\.long))
    #expect(known == OptionTable.ofCommands.union(others))
  }
}
