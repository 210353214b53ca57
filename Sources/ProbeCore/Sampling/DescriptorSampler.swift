// How many file descriptors the target has open.

/// Counts the entries of /proc/<pid>/fd.
///
/// Since Linux 6.2 the folder's size is their number: one fstat, 0.6 us (measured). Before, the folder is
/// listed, once a second and not to its end where there are very many.
struct DescriptorSampler: ~Copyable {
  /// Entries that are listed. Chosen: some milliseconds.
  static let limit = 16_384

  private enum Way { case size, list, none }

  private var way: Way?
  private var folder: FileDescriptor?
  private var list: NumberedDirectory?
  private var numbers: [Int32] = []
  private var lastTold: Int?
  private var peakTold = 0
  private var standing: String?
  private var refusal: SystemError?

  /// It has not looked yet. A program may have opened all that it ever does before the first tick.
  var isNew: Bool { way == nil }

  /// Opens nothing before it is asked.
  init() {}

  /// Writes the number if it is news: a higher one than ever, or at the slow beat another one.
  ///
  /// - Returns: how many events were written.
  mutating func look(
    isSlow: Bool, at time: Instant, _ source: borrowing ProcSource, into out: inout ByteWriter
  ) -> Int {
    if way == nil { open(source) }
    var frames = 0
    var news: String?
    if let count = count(isSlow: isSlow) {
      news = count < Self.limit || way == .size ? "yes" : "only \(Self.limit) of them are counted"
      if count > peakTold || isSlow && count != lastTold {
        EventCodec.encode(.descriptors(DescriptorsReading(at: time, count: count)), into: &out)
        peakTold = max(peakTold, count)
        lastTold = count
        frames += 1
      }
    } else if way == DescriptorSampler.Way.none {
      news = "\(source.path("fd")) cannot be read: \(refusal?.shortReason ?? "not permitted")"
    }
    if let news, news != standing, standing == nil || news != "yes" {
      standing = news
      EventCodec.encode(
        .capability(DescriptorsReading.capability, value: news), into: &out)
      frames += 1
    }
    return frames
  }

  private mutating func open(_ source: borrowing ProcSource) {
    let path = source.path("fd")
    do throws(SystemError) {
      if source.isLive, HostInfo.isKernel(atLeast: 6, 2) {
        folder = try Syscalls.openFolder(path)
        way = .size
      } else {
        list = try NumberedDirectory(path)
        way = .list
      }
    } catch {
      // A process that is gone is asked again: it may only be on its way.
      guard !error.isGone else { return }
      refusal = error
      way = DescriptorSampler.Way.none
    }
  }

  /// nil where it was not counted. A process that ends has none, and that is not worth a word.
  private mutating func count(isSlow: Bool) -> Int? {
    switch way {
    case .size:
      guard let raw = folder?.raw, let size = try? Syscalls.status(raw).size, size > 0 else {
        return nil
      }
      return size
    case .list:
      guard isSlow, (try? list?.list(into: &numbers, limit: Self.limit)) != nil else { return nil }
      return numbers.isEmpty ? nil : min(numbers.count, Self.limit)
    case .some(.none), nil: return nil
    }
  }
}
