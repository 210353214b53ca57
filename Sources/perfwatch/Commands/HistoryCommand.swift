// `perfwatch history`: what became of a program's numbers from run to run.

internal import ProbeCore

enum HistoryCommand {
  static func run(_ request: HistoryRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      let runs = try HistoryStore(request.file).runs(request.filter)
      let trends = HistoryTrends(runs, metrics: request.metrics)
      if request.isJSON {
        do {
          Terminal.write(1, try OrderedJSONEncoder().encode(trends))
        } catch {
          throw WatchError("cannot write the history: \(SafeText.terminal("\(error)"))")
        }
      } else {
        Console.out(HistoryText.render(trends, style: Console.style(1, request.color)))
      }
      return ExitCode.success
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }
}
