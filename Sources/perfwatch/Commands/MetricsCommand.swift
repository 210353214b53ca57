// `perfwatch metrics`: what budgets and comparisons can name.

internal import ProbeCore

enum MetricsCommand {
  private struct Row: Encodable {
    var key: String
    var title: String
    var unit: String
    var better: String
    var needs: String
    /// Nanoseconds.
    var window: Nanoseconds?
  }

  static func run(isJSON: Bool) -> Int32 {
    guard isJSON else {
      return Console.out(text()) ? ExitCode.success : ExitCode.failure
    }
    let rows = MetricCatalog.all.map {
      Row(
        key: $0.key, title: $0.title, unit: $0.unit.rawValue, better: $0.better.rawValue,
        needs: $0.needs, window: $0.window)
    }
    // Strings and numbers that are finite always encode.
    guard let bytes = try? OrderedJSONEncoder().encode(rows) else { return ExitCode.failure }
    return Console.out(bytes) ? ExitCode.success : ExitCode.failure
  }

  static func text() -> String {
    let columns: [[String]] = MetricCatalog.all.map {
      [$0.key, $0.unit.rawValue, $0.title + ($0.needs.isEmpty ? "" : " (needs \($0.needs))")]
    }
    var text = ""
    for row in [["metric", "unit", "what"]] + columns {
      let widths = [0, 1].map { column in columns.map { $0[column].count }.max() ?? 0 }
      let cells = [0, 1].map { column in
        row[column]
          + String(repeating: " ", count: max(0, widths[column] - row[column].count))
      }
      text += (cells + [row[2]]).joined(separator: "  ") + "\n"
    }
    return text
  }
}
