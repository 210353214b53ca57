// From words to a command, and from its result to an exit code.

internal import CBuildInfo
internal import ProbeCore

/// The program as a function of its words.
enum Program {
  /// - Returns: the code to exit with.
  static func run(_ words: [String]) -> Int32 {
    guard !OwnProcess.isSetUserID else {
      Console.fail("it must not be installed set-user-id; give cap_sys_ptrace by setcap instead")
      return ExitCode.failure
    }
    // Before anything that needs it.
    if let shortage = ResourceLimit.stackShortage {
      Console.fail("too little memory to run: \(shortage)")
      return ExitCode.failure
    }
    var reading: Parser.Reading
    var config: ConfigFile?
    do {
      reading = try Parser.read(words)
      if let command = reading.configured {
        config = try ConfigSearch.find(reading.configPath)
        let bag = try config?.bag(of: command, but: reading.given.map(\.long))
        if let bag { reading = try Parser.read(words, base: bag) }
      }
    } catch let error as ConfigFile.Problem {
      Console.fail(error.message)
      let command = words.first.flatMap { CommandName(rawValue: $0) }
      return command.map { CommandTable.spec($0).usageExitCode } ?? ExitCode.failure
    } catch let error as UsageError {
      if let topic = error.help {
        Console.error(HelpText.render(topic))
      } else {
        Console.error("perfwatch: \(error.message)\n")
      }
      return error.exitCode
    } catch {
      Console.fail("\(error)")
      return ExitCode.failure
    }
    switch reading.command {
    case .run(let request): return watching { RunCommand.run(request) }
    case .attach(let request): return watching { AttachCommand.run(request) }
    case .dump(let request): return watching { DumpCommand.run(request) }
    case .report(let request): return ReportCommand.run(request)
    case .printConfig:
      return Console.out(ConfigFile.origins(config, given: reading.given))
        ? ExitCode.success : ExitCode.unreadableInput
    case .check(let request): return CheckCommand.run(request)
    case .compare(let request): return CompareCommand.run(request)
    case .history(let request): return HistoryCommand.run(request)
    case .metrics(let isJSON): return MetricsCommand.run(isJSON: isJSON)
    case .version(let isJSON): return VersionCommand.run(isJSON: isJSON)
    case .help(let topic):
      return Console.out(HelpText.render(topic)) ? ExitCode.success : ExitCode.failure
    case .dumpTables:
      // Fixed tables of strings: they always encode.
      guard let bytes = try? TableDump.json(), Console.out(bytes) else { return ExitCode.failure }
      return ExitCode.success
    }
  }
}

extension Program {
  /// Not where there is too little memory for it, nor where the numbers in /proc are those of other processes.
  private static func watching(_ body: () -> Int32) -> Int32 {
    if let shortage = ResourceLimit.spaceShortage {
      Console.fail("too little memory to watch anything: \(shortage)")
      return ExitCode.failure
    }
    guard let number = OwnProcess.strangeNumber else { return body() }
    Console.fail(
      "/proc is of another pid namespace (it knows this process as \(SafeText.terminal(number))); "
        + "mount this one's (unshare --mount-proc, or mount -t proc proc /proc)")
    return ExitCode.failure
  }
}

/// Where perfwatch says something. stdout belongs to the target while there is one.
enum Console {
  /// The result of a command, on stdout.
  ///
  /// - Returns: false if it could not be written, which was said. A reader that is gone is no failure.
  static func out(_ text: String) -> Bool { out(Array(text.utf8)) }

  static func out(_ bytes: [UInt8], to descriptor: Int32 = 1) -> Bool {
    do throws(SystemError) {
      _ = try Terminal.send(descriptor, bytes)
      return true
    } catch {
      fail("cannot write to stdout: \(error.reason)")
      return false
    }
  }

  /// A result as JSON, for `out`.
  static func json(_ value: some Encodable) throws(WatchError) -> [UInt8] {
    do {
      return try OrderedJSONEncoder().encode(value)
    } catch {
      throw WatchError("cannot write the result as JSON: \(SafeText.terminal("\(error)"))")
    }
  }

  static func error(_ text: String) { Terminal.write(2, Array(text.utf8)) }

  /// One line about what went wrong.
  static func fail(_ message: String) { error("perfwatch: \(message)\n") }

  static var environment: NamedTexts {
    var values: NamedTexts = [:]
    for name in [
      "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "CI",
      "GITHUB_ACTIONS", "COLUMNS",
    ] {
      values[name] = Environment.value(name)
    }
    return values
  }

  /// The look of text on one of our descriptors.
  static func style(_ descriptor: Int32, _ choice: ColorChoice) -> TextStyle {
    let environment = environment
    let isTerminal = Terminal.isTerminal(descriptor)
    let columns = Terminal.size(descriptor)?.columns
    return TextStyle(
      color: ColorPolicy.isColored(
        choice: choice, environment: environment, isTerminal: isTerminal),
      unicode: UnicodePolicy.isUnicode(environment: environment),
      width: columns ?? environment["COLUMNS"].flatMap { Int($0) } ?? 100)
  }
}

/// Which perfwatch this is.
enum BuildInfo {
  static let version = "0.1.0"

  static var current: Summary.Build { Summary.Build(version: version, commit: commit) }

  private static var commit: String? {
    var text = ""
    while true {
      let byte = cbuildinfo_commit(Int32(text.utf8.count))
      if byte == 0 { break }
      text.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: byte)))
    }
    return text.isEmpty ? nil : text
  }
}
