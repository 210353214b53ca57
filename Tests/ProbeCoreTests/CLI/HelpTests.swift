import FoundationEssentials
import Testing

@testable import ProbeCore
@testable import perfwatch

@Suite struct HelpTests {
  static let topics: [HelpTopic] =
    [.overview, .usage] + CommandName.allCases.map { .command($0) }
    + HelpPage.allCases.map { .page($0) }

  @Test(arguments: topics)
  func `help fits 80 columns, is ASCII and ends with a newline`(topic: HelpTopic) {
    let text = HelpText.render(topic)
    #expect(text.utf8.allSatisfy { $0 == 10 || (0x20...0x7e).contains($0) })
    #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    for line in text.split(separator: "\n") {
      #expect(line.count <= 80 && line.last != " ", "\(line)")
    }
  }

  @Test func `help is the golden one`() throws {
    let text = Self.topics.map { "== \($0)\n" + HelpText.render($0) }.joined()
    try Golden.expect(text, equals: "help.txt")
  }

  @Test(arguments: CommandName.allCases)
  func `examples come before options and every option is listed`(name: CommandName) throws {
    let text = HelpText.render(.command(name))
    let parts = text.split(separator: "\n\n")
    let first = try #require(parts.firstIndex { $0.hasPrefix("Examples:") })
    let options = parts[(first + 1)...].joined(separator: "\n\n")
    for option in OptionTable.options(of: name) {
      #expect(options.contains(" --\(option.long)"), "\(option.long)")
    }
  }

  @Test func `every example is a command line that is understood`() throws {
    for spec in CommandTable.all {
      for example in spec.examples {
        let words = example.command.split(separator: " ").map { $0.filter { $0 != "'" } }
        #expect(words.first == "perfwatch")
        #expect(throws: Never.self, "\(example.command)") {
          try Parser.parse(Array(words.dropFirst()))
        }
      }
    }
  }

  @Test func `each command has a row, and option names are unique within it`() {
    #expect(CommandTable.all.map(\.name) == CommandName.allCases)
    for name in CommandName.allCases {
      let options = OptionTable.options(of: name)
      #expect(Set(options.map(\.long)).count == options.count)
      let letters = options.compactMap(\.short)
      #expect(Set(letters).count == letters.count)
      for option in options {
        for other in option.excludes { #expect(options.contains { $0.long == other }, "\(other)") }
      }
    }
  }

  @Test func `the dump is JSON and says what the table says`() throws {
    struct Dump: Decodable {
      struct Command: Decodable {
        var name: String
        var usageExitCode: Int
        var options: [Option]
      }
      struct Option: Decodable {
        var long: String
        var short: String?
        var value: String?
        var kind: String
        var choices: [String]
      }
      var commands: [Command]
      var topics: [String]
    }
    let dump = try JSONDecoder().decode(Dump.self, from: Data(try TableDump.json()))
    #expect(dump.commands.map(\.name) == CommandName.allCases.map(\.rawValue))
    #expect(dump.commands.map(\.usageExitCode) == [125, 125, 125, 2, 2, 2, 2, 125, 125, 125])
    #expect(dump.topics == HelpPage.allCases.map(\.rawValue))
    let color = try #require(dump.commands[0].options.first { $0.long == "color" })
    #expect(
      color.kind == "choice" && color.choices == ["auto", "always", "never"]
        && color.value == "WHEN")
  }
}
