// `perfwatch attach`: watch a process that runs already, and leave it as it was.

internal import ProbeCore

enum AttachCommand {
  static func run(_ request: AttachRequest) -> Int32 {
    do {
      _ = try InheritedState.capture()
      SignalMask.blockAll()
      ResourceLimit.useOneHeap()
      _ = ResourceLimit.raiseFileLimit()
      let pid = try pid(of: request.target)
      var options = request.options
      try options.baseline.apply(
        to: &options.budget, history: options.output.historyPath,
        program: options.baseline.branch == nil
          ? "" : Summary.programName(ProcessList.find(pid)?.arguments ?? []))
      let outputs = try Outputs(options.output, defaultDescriptor: 2)
      let configuration = try options.configuration()
      let recording = try Recording.open(options.recordPath)
      let display = options.display(title: [name(of: pid)], isLaunched: false)
      let result = try Watch.attach(
        pid,
        command: { arguments in
          let words = arguments.map(SafeText.decode)
          return options.showsCommand ? words : Redaction.redact(words)
        },
        configuration: configuration, recording: recording, display: display)
      let failures = outputs.write(result.summary) + [result.outputFailure].compactMap { $0 }
      for failure in failures { Console.fail(failure) }
      return ExitCode.of(
        result.summary, failed: !failures.isEmpty, budget: options.budget) ?? ExitCode.failure
    } catch let error as WatchError {
      Console.fail(error.message)
    } catch let error as SystemError {
      Console.fail("cannot prepare watching: \(error.call): \(error.reason)")
    } catch {
      Console.fail("\(error)")
    }
    return ExitCode.failure
  }

  private static func name(of pid: ProcessID) -> String {
    let process = ProcessList.find(pid)
    return process.map { "\($0.name) (pid \(pid))" } ?? "pid \(pid)"
  }

  /// The last part of the program's path as it was called: comm is cut at 15 bytes.
  private static func programName(_ process: ListedProcess) -> String {
    process.arguments.first.map { String($0.split(separator: "/").last ?? "") } ?? ""
  }

  /// The one process that is meant, or a clear list.
  static func pid(
    of target: AttachRequest.Target, trying verb: String = "attach to"
  ) throws(WatchError) -> ProcessID {
    switch target {
    case .pid(let pid): return pid
    case .name(let pattern):
      let own = OwnProcess.pid
      // The parser let it through, so it is a regular expression.
      guard let matcher = NamePattern(pattern) else { throw WatchError("no pattern") }
      let found = ProcessList.all().filter { process in
        process.pid != own
          && (matcher.matches(process.name) || matcher.matches(programName(process)))
      }
      if let only = found.first, found.count == 1 { return only.pid }
      let shown = SafeText.terminal(pattern)
      if found.isEmpty {
        throw WatchError("no process matches '\(shown)'; see `ps -e`, or give its pid")
      }
      var text = "\(found.count) processes match '\(shown)'; \(verb) one by its pid:"
      for process in found.prefix(20) {
        let command = Redaction.redact(process.arguments).joined(separator: " ")
        text +=
          "\n  \(process.pid)  \(SafeText.terminal(process.name))  \(SafeText.terminal(command))"
      }
      if found.count > 20 { text += "\n  and \(found.count - 20) more" }
      throw WatchError(text)
    }
  }
}
