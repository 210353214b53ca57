// `perfwatch history`: what became of a program's numbers from run to run.

internal import ProbeCore

enum HistoryCommand {
  static func run(_ request: HistoryRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      let runs = try HistoryStore(request.file).runs(request.filter)
      let trends = HistoryTrends(runs, metrics: request.metrics)
      var text: [UInt8]
      if request.isJSON {
        do {
          text = try OrderedJSONEncoder().encode(trends)
        } catch {
          throw WatchError("cannot write the history: \(SafeText.terminal("\(error)"))")
        }
      } else {
        text = Array(HistoryText.render(trends, style: Console.style(1, request.color)).utf8)
      }
      return Console.out(text) ? ExitCode.success : ExitCode.unreadableInput
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }
}
