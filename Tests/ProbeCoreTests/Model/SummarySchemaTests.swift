// The summary as it is written, against Docs/summary.schema.json by Debian's python3-jsonschema.
// Safety: the only unsafe call is system(3) with a string that Swift keeps alive for the call.

internal import FoundationEssentials
internal import Glibc
import Testing

@testable import ProbeCore

@Suite struct SummarySchemaTests {
  private static let docs = URL(filePath: Fixture.root).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Docs")

  /// What validate_summary.py prints, one element a line.
  static func python(
    _ mode: String, _ json: [UInt8], schema: String = "summary.schema.json"
  ) throws -> [String] {
    let stem = FileManager.default.temporaryDirectory
      .appending(path: "perfwatch-\(UUID().uuidString)").path()
    defer {
      try? FileManager.default.removeItem(atPath: stem + ".json")  // nothing depends on it
      try? FileManager.default.removeItem(atPath: stem + ".out")  // nothing depends on it
    }
    try Data(json).write(to: URL(filePath: stem + ".json"))
    let words = [
      "/usr/bin/python3", Fixture.root + "/validate_summary.py", mode,
      docs.appending(path: schema).path(), stem + ".json",
    ]
    let command = words.map(SafeText.shellWord).joined(separator: " ")
    let status = unsafe system(command + " > " + SafeText.shellWord(stem + ".out") + " 2>&1")
    let output = String(
      decoding: FileManager.default.contents(atPath: stem + ".out") ?? Data(), as: UTF8.self)
    try #require(status == 0, "\(output)")
    return output.split(separator: "\n").map(String.init)
  }

  private func encode(_ summary: Summary) throws -> [UInt8] {
    try OrderedJSONEncoder(isIndented: false).encode(summary)
  }

  private func encode(_ summaries: [Summary]) throws -> [UInt8] {
    var lines: [UInt8] = []
    for summary in summaries { lines += try encode(summary) + Array("\n".utf8) }
    return lines
  }

  @Test func `summaries as we write them are valid`() throws {
    let all = [SampleSummary.full, SampleSummary.sparse, SampleSummary.empty]
    let violations = try Self.python("check", encode(all))
    #expect(violations == [])
  }

  @Test func `the schema notices every missing key and every value of another type`() throws {
    let passed = try Self.python("strict", encode(SampleSummary.full))
    #expect(passed == [])
  }

  @Test func `the schema refuses words that are not in a list, negative times and other schemas`()
    throws
  {
    let broken: [(String, (inout Summary) -> Void)] = [
      ("schema", { $0.schema = "perfwatch.summary/2" }),
      ("stalls/0/level", { $0.stalls[0].level = "bad" }),
      ("stalls/0/kind", { $0.stalls[0].kind = "bad" }),
      ("stalls/0/observer", { $0.stalls[0].observer = "perf" }),
      ("stalls/0/certainty", { $0.stalls[0].certainty = "bad" }),
      ("stalls/0/blame", { $0.stalls[0].blame = "bad" }),
      ("stalls/0/duration", { $0.stalls[0].duration = Nanoseconds(-1) }),
      ("loops/0/observer", { $0.loops[0].observer = "bad" }),
      ("loops/0/homes/0/stackPointer", { $0.loops[0].homes[0].stackPointer = "7ff" }),
      ("repeats", { $0.repeats?.judge = "mean" }),
      ("tree", { $0.tree?.observer = "kernel" }),
      ("groups/0/level", { $0.groups[0].level = "bad" }),
      ("run/startedAt", { $0.run.startedAt = "yesterday" }),
      ("warnings/0/code", { $0.warnings[0].code = "Late Ticks" }),
      ("metrics", { $0.metrics = Metrics([("CPU average", .init(value: 1, unit: "%"))]) }),
    ]
    let summaries = broken.map { _, damage in
      var summary = SampleSummary.full
      damage(&summary)
      return summary
    }
    let errors = try Self.python("check", encode(summaries))
    #expect(errors.count == broken.count)
    for (index, (place, _)) in broken.enumerated() {
      #expect(errors.contains { $0.hasPrefix("\(index) \(place): ") }, "\(place): \(errors)")
    }
  }

  @Test func `unknown keys are let pass`() throws {
    let text = String(decoding: try encode(SampleSummary.full), as: UTF8.self)
    let more = "{\"future\":1," + text.dropFirst()
    #expect(try Self.python("check", Array(more.utf8)) == [])
  }

  @Test func `keys come in the order of the documentation`() throws {
    let lines = try Self.python("order", encode(SampleSummary.full))
    for expected in Self.order.split(separator: "\n").map(String.init) {
      #expect(lines.contains(expected))
    }
  }

  @Test func `a summary comes back as it was`() throws {
    for summary in [SampleSummary.full, SampleSummary.sparse, SampleSummary.empty] {
      let data = Data(try OrderedJSONEncoder().encode(summary))
      #expect(try JSONDecoder().decode(Summary.self, from: data) == summary)
    }
  }

  /// As the tables of the summary's description list them.
  static let order = """
    : schema perfwatch target host run exit metrics cpu memory threads descriptors tree loops waits stalls \
    stallsOmitted stallTotals groups series observer warnings verdict repeats
    perfwatch: version commit
    target: pid executable command launched startTicks
    host: name kernel architecture cores container
    run: startedAt startMonotonic duration complete endedBy
    exit: code signal perfwatch
    metrics.cpu.average: value unit
    cpu: user system total averagePercent peakPercent byThread
    cpu.byThread[]: tid name cpu averagePercent runDelay voluntarySwitches involuntarySwitches \
    startedAt endedAt
    memory: footprintPeak footprintAtEnd footprintSlopePerSecond residentPeak proportional parts
    memory.parts: anonymous shared swap pageTables huge gpu
    threads: peak atEnd created alarms
    descriptors: peak atEnd
    loops[]: tid name observer homes turns longTurns blockingTime longestTurn startup verdictless \
    undecided histogram
    loops[].histogram[]: below count
    loops[].homes[]: syscall stackPointer programCounter visits symbol
    stallTotals: count total longest
    groups[]: signature title count total longest level blame stallIds heaviestStack first last parts ignored
    series: period startMonotonic cpuPercent footprint threads perThreadCPU
    series.perThreadCPU[]: tid name values
    observer: cpu cpuPercent residentPeak probes lateProbes stops stopTotal stopLongest \
    capturesWithoutStop droppedEvents capabilities
    warnings[]: code message advice
    verdict: result rules
    repeats: planned warmup judge shown endedBy statistics runs
    repeats.statistics[]: metric unit median deviation min max values
    verdict.rules[]: text level result actual limit unit why name metric margin error stall
    stalls[]: id tid thread kind level start duration error observer certainty cause blame environmentPercent blocker \
    signature group ignored stacks
    stalls[].cause: sentence parts
    stalls[].cause.parts: cpuUser cpuSystem runDelay lock disk pipe socket sleep child pageFault \
    stopped throttled otherWait unknown
    stalls[].blocker: kind tid name path peer command chain stack holders
    stalls[].stacks[]: at weight stopTime truncated frames
    stalls[].stacks[].frames[]: function functionOffset module offset file line inlined found inApp
    """
}
