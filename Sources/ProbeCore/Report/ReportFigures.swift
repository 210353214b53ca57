// The measured part of a text report: the figures of the process, its threads, its tree, its
// stalls.

extension ReportSections {
  static func figures(_ summary: Summary, _ layout: inout ReportLayout) {
    let cores = summary.host.cores
    let scale = "(100 % = one core" + (cores > 0 ? " of \(cores))" : ")")
    load("cpu", summary.cpu.averagePercent, summary.cpu.peakPercent, scale, &layout)
    cpuTime(summary.cpu, &layout)
    memory(summary.memory, &layout)
    threadCounts(summary.threads, &layout)
    if let tree = summary.tree { treeFigures(tree, &layout) }
  }

  private static func load(
    _ label: String, _ average: Double?, _ peak: Double?, _ scale: String,
    _ layout: inout ReportLayout
  ) {
    guard average != nil || peak != nil else { return layout.row(label, nil, scale) }
    let peak = peak.map { Units.text(percent: $0) } ?? Units.notMeasured
    layout.row(label, average.map { Units.text(percent: $0) }, "average, peak \(peak) \(scale)")
  }

  private static func cpuTime(_ cpu: Summary.CPU, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    guard let total = cpu.total else { return layout.row("cpu time", nil) }
    func text(_ time: Nanoseconds?) -> String {
      time.map { Units.text($0, isUnicode: isUnicode) } ?? Units.notMeasured
    }
    let isSplit = cpu.user != nil || cpu.system != nil
    layout.row(
      "cpu time", text(total),
      isSplit
        ? "user \(text(cpu.user)), system \(text(cpu.system))" : "user and system not measured")
  }

  private static func memory(_ memory: Summary.Memory, _ layout: inout ReportLayout) {
    if memory.footprintPeak == nil && memory.footprintAtEnd == nil {
      layout.row("footprint", nil)
    } else {
      let end = memory.footprintAtEnd.map { Units.text(bytes: $0) } ?? Units.notMeasured
      let slope = memory.footprintSlopePerSecond.map {
        "trend " + Units.text(bytesPerSecond: $0)
      }
      layout.row(
        "footprint", memory.footprintPeak.map { Units.text(bytes: $0) },
        "peak, at the end \(end), " + (slope ?? "trend \(Units.notMeasured)"))
    }
    if let parts = memory.parts {
      let named: [(String, UInt64)] = [
        ("anonymous", parts.anonymous), ("shared", parts.shared), ("swap", parts.swap),
        ("page tables", parts.pageTables), ("huge pages", parts.huge), ("GPU", parts.gpu ?? 0),
      ]
      let shown = named.filter { $0.1 > 0 }.map { "\($0.0) \(Units.text(bytes: $0.1))" }
      if !shown.isEmpty { layout.row("", "", "at the peak: " + shown.joined(separator: " + ")) }
    }
    layout.row(
      "resident", memory.residentPeak.map { Units.text(bytes: $0) },
      memory.residentPeak == nil ? "" : "peak")
    if let proportional = memory.proportional {
      layout.row("pss", Units.text(bytes: proportional), "at the end, shared pages split")
    }
  }

  private static func threadCounts(_ threads: Summary.Threads, _ layout: inout ReportLayout) {
    func text(_ count: Int?) -> String {
      count.map { Units.text(count: UInt64(max(0, $0))) } ?? Units.notMeasured
    }
    if threads.peak == nil && threads.atEnd == nil && threads.created == nil {
      layout.row("threads", nil)
    } else {
      layout.row(
        "threads", text(threads.peak),
        "peak, at the end \(text(threads.atEnd)), created \(text(threads.created))")
    }
  }

  private static func treeFigures(_ tree: Summary.Tree, _ layout: inout ReportLayout) {
    layout.blank()
    load("tree cpu", tree.averagePercent, tree.peakPercent, "", &layout)
    layout.row(
      "tree time", tree.cpu.map { Units.text($0, isUnicode: layout.style.unicode) },
      tree.cpu == nil ? "" : "with all descendants")
    layout.row(
      "tree memory", tree.footprintPeak.map { Units.text(bytes: $0) },
      tree.footprintPeak == nil ? "" : "footprint peak, shared pages once")
    let seen = Units.text(count: UInt64(max(0, tree.processesSeen)))
    let polled = tree.observer == "proc" ? " (found by polling)" : ""
    layout.row(
      "processes", Units.text(count: UInt64(max(0, tree.processesPeak))),
      "at once, \(seen) in all\(polled)")
  }

  static func threads(_ summary: Summary, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    let sorted = summary.cpu.byThread.sorted { ($1.cpu, $0.tid ?? .max) < ($0.cpu, $1.tid ?? .max) }
    guard !sorted.isEmpty else { return }
    // The first ones that used any CPU; the first row in any case.
    let busy = sorted.prefix(while: { $0.cpu > .zero }).count
    let shown = sorted.prefix(max(1, min(tableRows, busy)))
    let rest = sorted.dropFirst(shown.count)
    func time(_ value: Nanoseconds?) -> String {
      value.map { Units.text($0, isUnicode: isUnicode) } ?? ReportTable.notMeasured
    }
    func cells(_ text: (Summary.ThreadCPU) -> String) -> [String] { shown.map(text) }
    let table = ReportTable(
      columns: [
        .init(
          title: "thread", isRight: false, cells: cells { name($0.name, isUnicode: isUnicode) }),
        .init(title: "tid", cells: cells { $0.tid.map { "\($0)" } ?? ReportTable.notMeasured }),
        .init(title: "cpu time", cells: cells { time($0.cpu) }),
        .init(
          title: "average", dropOrder: 1,
          cells: cells {
            $0.averagePercent.map { Units.text(percent: $0) } ?? ReportTable.notMeasured
          }),
        .init(title: "run delay", dropOrder: 2, cells: cells { time($0.runDelay) }),
        .init(title: "switches", dropOrder: 3, cells: cells(switches)),
        .init(
          title: "lifetime", dropOrder: 4,
          cells: cells { thread in
            thread.endedAt.map { time($0 - (thread.startedAt ?? .zero)) } ?? ""
          }),
      ],
      footer: more(
        rest.filter { $0.tid != nil }.count, "thread", rest.map(\.cpu), isUnicode: isUnicode))
    layout.blank()
    layout.add(.table(table))
  }

  static func processes(_ summary: Summary, _ layout: inout ReportLayout) {
    let isUnicode = layout.style.unicode
    guard let tree = summary.tree, !tree.processes.isEmpty else { return }
    let sorted = tree.processes.sorted {
      ($1.cpu ?? .zero, $0.pid) < ($0.cpu ?? .zero, $1.pid)
    }
    let shown = sorted.prefix(tableRows)
    let rest = sorted.dropFirst(shown.count)
    func time(_ value: Nanoseconds?) -> String {
      value.map { Units.text($0, isUnicode: isUnicode) } ?? ReportTable.notMeasured
    }
    func cells(_ text: (Summary.TreeProcess) -> String) -> [String] { shown.map(text) }
    let table = ReportTable(
      columns: [
        .init(
          title: "process", isRight: false, cells: cells { name($0.name, isUnicode: isUnicode) }),
        .init(title: "pid", cells: cells { "\($0.pid)" }),
        .init(title: "parent", dropOrder: 2, cells: cells { "\($0.parent)" }),
        .init(
          title: "cpu time",
          cells: cells { $0.cpu == nil && $0.endedAt != nil ? tooShort : time($0.cpu) }),
        .init(
          title: "footprint", dropOrder: 1,
          cells: cells { $0.footprintPeak.map { Units.text(bytes: $0) } ?? ReportTable.notMeasured }
        ),
        .init(
          title: "lifetime", dropOrder: 3,
          cells: cells { process in process.endedAt.map { time($0 - process.startedAt) } ?? "" }),
      ],
      footer: more(rest.count, "process", rest.map(\.cpu), isUnicode: isUnicode))
    layout.blank()
    layout.add(.table(table))
  }

  /// In place of a figure of what was over before it could be read.
  private static let tooShort = "too short"

  private static func switches(_ thread: Summary.ThreadCPU) -> String {
    guard thread.voluntarySwitches != nil || thread.involuntarySwitches != nil else {
      return ReportTable.notMeasured
    }
    let sum = (thread.voluntarySwitches ?? 0).addingReportingOverflow(
      thread.involuntarySwitches ?? 0)
    return Units.text(count: sum.partialValue)
  }

  /// A name that can be seen and is safe to print.
  private static func name(_ name: String, isUnicode: Bool) -> String {
    name.isEmpty ? "(no name)" : DisplayText.safe(name, isUnicode: isUnicode)
  }

  private static func more(
    _ count: Int, _ noun: String, _ cpu: [Nanoseconds?], isUnicode: Bool
  ) -> String? {
    guard count > 0 || !cpu.isEmpty else { return nil }
    let total = Units.text(cpu.reduce(.zero) { $0 + ($1 ?? .zero) }, isUnicode: isUnicode)
    // Nothing but the row of the threads that came and went unseen is left.
    guard count > 0 else { return "and \(noun)s that came and went between ticks: \(total)" }
    if cpu.allSatisfy({ $0 == .zero }) { return "and \(Counted.text(count, "idle " + noun))" }
    let unmeasured = cpu.count { $0 == nil }
    let text = "and \(Counted.text(count, "more " + noun))"
    if unmeasured == 0 { return "\(text): \(total)" }
    return unmeasured == cpu.count
      ? "\(text), \(tooShort) to measure"
      : "\(text): \(total); \(Units.text(count: UInt64(unmeasured))) \(tooShort) to measure"
  }
}
