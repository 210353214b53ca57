// The one result value: what a run was, what was measured, what was not, and the verdict.
// Every output (text, JSON, exporters, budgets, exit code) is computed from this and nothing else.

/// The content of a summary file, schema `perfwatch.summary/1`; see Docs/summary.schema.json.
///
/// Times are nanoseconds, sizes bytes, shares percent of one core. nil means "not measured".
public struct Summary: Sendable, Equatable, Codable {
  /// The name and version of the format.
  public static let schemaName = "perfwatch.summary/1"

  public var schema = schemaName
  public var perfwatch: Build
  public var target: Target
  public var host: Host
  public var run: Run
  public var exit: Exit
  public var metrics: Metrics
  public var cpu: CPU
  public var memory: Memory
  public var threads: Threads
  /// nil in files from before it was counted.
  public var descriptors: Descriptors?
  public var tree: Tree?
  public var loops: [Loop]
  /// Where the off-CPU time of watched threads went.
  public var waits: [WaitProfile]
  public var stalls: [Stall]
  public var stallsOmitted: Int
  public var stallTotals: StallTotals
  public var groups: [StallGroup]
  public var series: Series
  public var observer: Observer
  public var warnings: [Notice]
  public var verdict: Verdict
  /// Set when the summary is about several runs; nil for one.
  public var repeats: Repeats? = nil

  /// The perfwatch that wrote the file.
  public struct Build: Sendable, Equatable, Codable {
    public var version: String
    public var commit: String?

    public init(version: String, commit: String?) {
      self.version = version
      self.commit = commit
    }
  }

  /// The process under watch.
  public struct Target: Sendable, Equatable, Codable {
    public var pid: Int32
    public var executable: String?
    /// Program and option names only, unless the user asked for the whole command line.
    public var command: [String]
    public var launched: Bool
    /// /proc/<pid>/stat field 22, in clock ticks since boot; tells a reused pid apart.
    public var startTicks: UInt64?
  }

  public struct Host: Sendable, Equatable, Codable {
    public var name: String
    public var kernel: String
    public var architecture: String
    public var cores: Int
    public var container: Bool
  }

  public struct Run: Sendable, Equatable, Codable {
    /// ISO 8601 with milliseconds, UTC.
    public var startedAt: String
    /// CLOCK_MONOTONIC at the start of watching.
    public var startMonotonic: Int64
    public var duration: Nanoseconds
    /// False when the recording was cut, so that the end is missing.
    public var complete: Bool
    public var endedBy: EndReason?
  }

  /// Statuses; each nil where it is not known.
  public struct Exit: Sendable, Equatable, Codable {
    public var code: Int32?
    public var signal: Int32?
    /// What perfwatch itself exits with, by the table in DESIGN.md part 7.
    public var perfwatch: Int32?
  }

  public struct Metric: Sendable, Equatable, Codable {
    public var value: Double?
    public var unit: String
  }

  public struct CPU: Sendable, Equatable, Codable {
    public var user: Nanoseconds?
    public var system: Nanoseconds?
    public var total: Nanoseconds?
    public var averagePercent: Double?
    public var peakPercent: Double?
    public var byThread: [ThreadCPU]
  }

  /// One thread's share; the row named `(exited)` without a tid stands for threads that came and went unseen.
  public struct ThreadCPU: Sendable, Equatable, Codable {
    public var tid: Int32?
    public var name: String
    public var cpu: Nanoseconds
    public var averagePercent: Double?
    public var runDelay: Nanoseconds?
    public var voluntarySwitches: UInt64?
    public var involuntarySwitches: UInt64?
    /// Since `run.startMonotonic`; 0 for a thread that was there at the start.
    public var startedAt: Nanoseconds?
    /// Since `run.startMonotonic`; nil for a thread that was alive at the end.
    public var endedAt: Nanoseconds?
  }

  public struct Memory: Sendable, Equatable, Codable {
    public var footprintPeak: UInt64?
    public var footprintAtEnd: UInt64?
    /// Bytes a second over the run, by least squares over the samples.
    public var footprintSlopePerSecond: Double?
    /// VmHWM of /proc/<pid>/status: the kernel's own peak, which no sampling can miss.
    public var residentPeak: UInt64?
    /// Pss of /proc/<pid>/smaps_rollup, on demand only.
    public var proportional: UInt64?
    public var parts: MemoryParts?
  }

  /// The footprint's parts at its peak; their sum is the footprint.
  public struct MemoryParts: Sendable, Equatable, Codable {
    public var anonymous: UInt64
    public var shared: UInt64
    public var swap: UInt64
    public var pageTables: UInt64
    public var huge: UInt64
    public var gpu: UInt64?
  }

  public struct Threads: Sendable, Equatable, Codable {
    public var peak: Int?
    public var atEnd: Int?
    public var created: Int?
    /// Episodes of many threads, in order.
    public var alarms: [ThreadAlarm]
  }

  /// Open file descriptors of the target; nil where they could not be counted.
  public struct Descriptors: Sendable, Equatable, Codable {
    /// The most that any look saw.
    public var peak: Int?
    /// At the last look.
    public var atEnd: Int?
  }

  /// The target with all its descendants; nil unless `--children` was given.
  public struct Tree: Sendable, Equatable, Codable {
    /// CPU of the target and every descendant, each nanosecond once.
    public var cpu: Nanoseconds?
    public var averagePercent: Double?
    public var peakPercent: Double?
    /// Memory of all members with pages inherited by fork counted once.
    public var footprintPeak: UInt64?
    public var processesPeak: Int
    public var processesSeen: Int
    /// `perf` (every fork was reported) or `proc` (polling: short-lived ones may be missed).
    public var observer: String
    public var processes: [TreeProcess]
  }

  public struct TreeProcess: Sendable, Equatable, Codable {
    public var pid: Int32
    public var parent: Int32
    public var name: String
    public var cpu: Nanoseconds?
    public var footprintPeak: UInt64?
    public var startedAt: Nanoseconds
    public var endedAt: Nanoseconds?
  }

  /// Evenly spaced values over the run; neighbours are merged so that the length stays bounded.
  public struct Series: Sendable, Equatable, Codable {
    public var period: Nanoseconds
    public var startMonotonic: Int64
    public var cpuPercent: [Double?]
    public var footprint: [UInt64?]
    public var threads: [Int?]
    public var perThreadCPU: [ThreadSeries]
  }

  public struct ThreadSeries: Sendable, Equatable, Codable {
    public var tid: Int32
    public var name: String
    public var values: [Double?]
  }

  /// What watching cost and what it could do.
  public struct Observer: Sendable, Equatable, Codable {
    public var cpu: Nanoseconds?
    public var cpuPercent: Double?
    public var residentPeak: UInt64?
    public var probes: Int
    public var lateProbes: Int
    public var stops: Int
    public var stopTotal: Nanoseconds
    public var stopLongest: Nanoseconds
    public var capturesWithoutStop: Int
    public var droppedEvents: Int
    public var capabilities: Capabilities
  }

  public struct Notice: Sendable, Equatable, Codable {
    public var code: String
    public var message: String
    public var advice: String
  }

  public struct Verdict: Sendable, Equatable, Codable {
    public var result: VerdictResult
    public var rules: [RuleResult]
  }

  public struct RuleResult: Sendable, Equatable, Codable {
    public var text: String
    public var level: String
    public var result: VerdictResult
    public var actual: Double?
    public var limit: Double
    public var unit: String
    public var why: String?
    /// What the user calls the rule.
    public var name: String? = nil
    /// The key of the metric.
    public var metric: String? = nil
    /// How far `actual` is on the good side of `limit`; below zero on the other. In `unit`.
    public var margin: Double? = nil
    /// How far the true value may be from `actual`, to either side. In `unit`.
    public var error: Double? = nil
    /// The number of the stall that broke the rule.
    public var stall: Int? = nil
  }
}

/// Why watching ended.
public enum EndReason: String, Sendable, Codable, CaseIterable {
  case exit, duration, interrupt, detach, timeout
  /// A budget failed under `--abort-on-fail`.
  case budget
}

public enum VerdictResult: String, Sendable, Codable {
  case pass, fail, indeterminate, none
}

/// Metric key -> value, in the catalogue's order.
public struct Metrics: Sendable, Equatable, Codable {
  public var entries: [(key: String, metric: Summary.Metric)]

  public init(_ entries: [(key: String, metric: Summary.Metric)] = []) { self.entries = entries }

  public subscript(key: String) -> Summary.Metric? { entries.first { $0.key == key }?.metric }

  public static func == (left: Self, right: Self) -> Bool {
    left.entries.elementsEqual(right.entries) { $0.key == $1.key && $0.metric == $1.metric }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    entries = try container.allKeys.map {
      ($0.stringValue, try container.decode(Summary.Metric.self, forKey: $0))
    }.sorted { $0.0 < $1.0 }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for entry in entries { try container.encode(entry.metric, forKey: AnyKey(entry.key)) }
  }
}

/// What the observer could use on this machine: capability name -> `yes`, or why not.
public struct Capabilities: Sendable, Equatable, Codable {
  public var entries: NamedTexts

  public init(_ entries: NamedTexts = [:]) { self.entries = entries }

  public init(from decoder: any Decoder) throws {
    entries = [:]
    for (name, text) in try [String: String](from: decoder) { entries[name] = text }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for entry in entries.sorted { try container.encode(entry.text, forKey: AnyKey(entry.name)) }
  }
}

/// A coding key made from any text.
struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ text: String) { stringValue = text }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
