// `perfwatch report`: a recording turned into the summary that the live run would have given.

internal import ProbeCore

enum ReportCommand {
  static func run(_ request: ReportRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      var options = request.output
      // A format other than text replaces the text.
      if request.format != "text" {
        options.exports.append(
          OutputOptions.Export(format: request.format, path: options.reportPath ?? "-"))
        options.reportPath = nil
        options.isQuiet = true
      }
      let outputs = try Outputs(options, defaultDescriptor: 1)
      let ignored = try options.ignored()
      let summary = try Replay.summary(
        of: request.file, ignoring: ignored.isEmpty ? nil : ignored)
      let failures = outputs.write(summary)
      for failure in failures { Console.fail(failure) }
      return failures.isEmpty ? ExitCode.success : ExitCode.unreadableInput
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }
}
