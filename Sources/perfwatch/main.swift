// Placeholder until the commands are wired.

internal import ProbeCore

do {
  let command = try Parser.parse(Array(CommandLine.arguments.dropFirst()))
  switch command {
  case .help(let topic): print(HelpText.render(topic), terminator: "")
  case .dumpTables: print(String(decoding: try TableDump.json(), as: UTF8.self), terminator: "")
  default: print(command)
  }
} catch {
  print("\(error)")
}
