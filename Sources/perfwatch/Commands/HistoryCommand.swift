// `perfwatch history`: what became of a program's numbers from run to run.

internal import ProbeCore

enum HistoryCommand {
  static func run(_ request: HistoryRequest) -> Int32 {
    do throws(WatchError) {
      SignalMask.blockAll()
      let runs = try HistoryStore(request.file).runs(request.filter)
      let trends = HistoryTrends(runs, metrics: request.metrics)
      let bytes =
        request.isJSON
        ? try Console.json(trends)
        : Array(HistoryText.render(trends, style: Console.style(1, request.color)).utf8)
      return Console.out(bytes) ? ExitCode.success : ExitCode.unreadableInput
    } catch {
      Console.fail(error.message)
      return ExitCode.unreadableInput
    }
  }
}
