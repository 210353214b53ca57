import Testing

@testable import ProbeCore

@Suite struct SeriesBuilderTests {
  private let period = Nanoseconds.milliseconds(100)

  private func builder() -> SeriesBuilder { SeriesBuilder(start: Script.origin, period: period) }

  @Test func `a series of any length fits, and no CPU is lost by merging`() {
    for count in [1, 599, 600, 601, 1200, 1201, 5000] {
      var series = builder()
      for index in 0..<count {
        let time = Script.at(Int64(index) * 100)
        series.add(cpu: .milliseconds(Int64(index % 7) * 10), over: period, threads: 1, at: time)
        series.add(cpu: .milliseconds(Int64(index % 3) * 10), account: 5, isNotable: true, at: time)
      }
      let result = series.series(threads: [(5, 50, "t")])
      #expect(result.cpuPercent.count <= SeriesBuilder.capacity, "\(count)")
      #expect(result.cpuPercent.count >= min(count, SeriesBuilder.capacity / 2), "\(count)")
      let merged = result.period.rawValue / period.rawValue
      // A percentage of a merged bucket stands for as much time as was covered in it.
      func total(_ values: [Double?]) -> Double {
        values.enumerated().reduce(0) { sum, value in
          let covered = min(Int(merged), count - value.offset * Int(merged))
          return sum + (value.element ?? 0) * Double(covered)
        }
      }
      let expected = (0..<count).reduce(0) { $0 + $1 % 7 * 10 }
      #expect(abs(total(result.cpuPercent) - Double(expected)) < 0.01 * Double(count), "\(count)")
      let ofThread = (0..<count).reduce(0) { $0 + $1 % 3 * 10 }
      #expect(result.perThreadCPU.count == 1)
      #expect(
        abs(total(result.perThreadCPU[0].values) - Double(ofThread)) < 0.01 * Double(count))
      #expect(result.perThreadCPU[0].values.count == result.cpuPercent.count)
    }
  }

  @Test func `peaks of memory and threads survive merging`() {
    var series = builder()
    for index in 0..<3000 {
      let time = Script.at(Int64(index) * 100)
      series.add(footprint: index == 1234 ? 999 : 10, at: time)
      series.add(cpu: .zero, over: period, threads: index == 77 ? 40 : 2, at: time)
    }
    let result = series.series(threads: [])
    #expect(result.footprint.compactMap { $0 }.max() == 999)
    #expect(result.footprint.filter { $0 == 999 }.count == 1)
    #expect(result.threads.compactMap { $0 }.max() == 40)
    #expect(
      result.footprint.firstIndex(of: 999) == Int(123_400 / (result.period.rawValue / 1_000_000)))
  }

  @Test func `a bucket nobody measured is empty, not zero`() {
    var series = builder()
    series.add(footprint: 5, at: Script.at(0))
    series.add(cpu: .milliseconds(50), over: period, threads: 1, at: Script.at(250))
    let result = series.series(threads: [])
    #expect(result.cpuPercent == [nil, nil, 50])
    #expect(result.footprint == [5, nil, nil])
    #expect(result.threads == [nil, nil, 1])
  }

  @Test func `times before the start and far in the future are taken`() {
    var series = builder()
    series.add(footprint: 1, at: Script.at(-5000))
    series.add(footprint: 2, at: Instant(nanoseconds: .max))
    series.add(footprint: 3, at: Instant(nanoseconds: .min))
    let result = series.series(threads: [])
    #expect(result.footprint.count <= SeriesBuilder.capacity)
    #expect(result.footprint.first == 3)
    #expect(result.footprint.last == 2)
  }

  @Test func `threads without weight and threads beyond the bound get no series`() {
    var series = builder()
    for account in 0..<SeriesBuilder.threadCapacity + 5 {
      series.add(
        cpu: .milliseconds(1), account: account, isNotable: account != 3, at: Script.at(50))
    }
    series.add(cpu: .milliseconds(1), over: period, threads: 1, at: Script.at(50))
    let all = (0..<100).map { (account: $0, tid: Int32($0), name: "t") }
    let tids = series.series(threads: all).perThreadCPU.map(\.tid)
    #expect(tids.count == SeriesBuilder.threadCapacity)
    #expect(!tids.contains(3))
  }
}

@Suite struct LeastSquaresTests {
  @Test(
    arguments: [
      ([(0, 1), (1, 3), (2, 5)], 2.0), ([(0, 5), (1, 5), (2, 5)], 0),
      ([(10, 9), (20, -1), (30, -11)], -1), ([(0, 0), (1, 1)], nil),  // two points are no trend
      ([(4, 1), (4, 2), (4, 3)], nil), ([], nil),  // all at one moment
    ] as [([(Double, Double)], Double?)])
  func `a trend is the slope of the best line`(points: [(Double, Double)], slope: Double?) {
    var line = LeastSquares()
    for point in points { line.add(x: point.0, y: point.1) }
    #expect(line.slope == slope)
  }

  @Test func `far from zero it stays exact`() {
    var line = LeastSquares()
    for index in 0..<10_000 {
      line.add(x: 1e6 + Double(index) / 10, y: 1e12 + Double(index) * 100)
    }
    #expect(line.slope == 1000)
  }
}

@Suite struct PeakRateTests {
  @Test func `only windows of 95 ms and more count`() {
    var peak = PeakRate()
    peak.add(.milliseconds(94), over: .milliseconds(94))
    #expect(peak.percent == nil)
    peak.add(.zero, over: .milliseconds(1))
    #expect(peak.percent == 98.95)  // 94 of 95
    peak.add(.milliseconds(50), over: .milliseconds(100))
    #expect(peak.percent == 98.95)
    peak.add(.milliseconds(400), over: .milliseconds(200))
    #expect(peak.percent == 200)
  }
}
