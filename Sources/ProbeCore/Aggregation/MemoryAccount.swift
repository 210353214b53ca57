// The footprint over the run: peak with its parts, value at the end, slope.

/// Folds memory readings.
struct MemoryAccount: Sendable, Equatable {
  private(set) var last: MemoryReading?
  private(set) var peak: MemoryReading?
  private(set) var residentPeak: UInt64?
  private(set) var proportional: UInt64?
  private var slope = LeastSquares()

  mutating func add(_ reading: MemoryReading, start: Instant) {
    last = reading
    residentPeak = max(residentPeak ?? 0, reading.residentPeak)
    if let value = reading.proportional { proportional = value }
    if reading.footprint >= (peak?.footprint ?? 0) { peak = reading }
    slope.add(x: (reading.at - start).inSeconds, y: Double(reading.footprint))
  }

  /// The kernel's own peak of the reaped target, where it can only be the target's.
  mutating func learnResidentPeak(_ bytes: UInt64) {
    residentPeak = max(residentPeak ?? 0, bytes)
  }

  var summary: Summary.Memory {
    Summary.Memory(
      footprintPeak: peak?.footprint, footprintAtEnd: last?.footprint,
      footprintSlopePerSecond: slope.slope, residentPeak: residentPeak, proportional: proportional,
      parts: peak.map {
        Summary.MemoryParts(
          anonymous: $0.anonymous, shared: $0.shared, swap: $0.swap, pageTables: $0.pageTables,
          huge: $0.huge, gpu: nil)
      })
  }
}

/// A straight line through points, in one pass and without keeping them.
struct LeastSquares: Sendable, Equatable {
  private var count = 0.0
  private var meanX = 0.0
  private var meanY = 0.0
  private var spreadX = 0.0
  private var spreadXY = 0.0

  mutating func add(x: Double, y: Double) {
    count += 1
    let fromMean = x - meanX
    meanX += fromMean / count
    meanY += (y - meanY) / count
    spreadX += fromMean * (x - meanX)
    spreadXY += fromMean * (y - meanY)
  }

  /// y per x; nil below three points or when all have the same x.
  var slope: Double? {
    guard count >= 3, spreadX > 0 else { return nil }
    return (spreadXY / spreadX).rounded()
  }
}
