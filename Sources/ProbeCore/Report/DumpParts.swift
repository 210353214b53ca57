// Parts of a dump's text that can be tested alone: names of many threads, waits, repeated frames.

/// Many thread names or numbers in a few words.
enum DumpNames {
  /// As many different names are written out. Chosen.
  private static let limit = 6

  /// `worker-* (57), main`: names that differ only in the digits at their end are one.
  static func text(of names: [String]) -> String {
    var order: [String] = []
    var members: [String: [String]] = [:]
    for name in names {
      let stem = stem(of: name)
      if members[stem] == nil { order.append(stem) }
      members[stem, default: []].append(name)
    }
    let parts = order.prefix(limit).map { stem -> String in
      let own = members[stem] ?? []
      let isOne = own.allSatisfy { $0 == own[0] }
      return (isOne ? own[0] : stem + "*") + (own.count > 1 ? " x \(own.count)" : "")
    }
    let more = order.count > limit ? ", and \(order.count - limit) other names" : ""
    return parts.joined(separator: ", ") + more
  }

  private static func stem(of name: String) -> String {
    var end = name.endIndex
    while end > name.startIndex, name[name.index(before: end)].isASCII,
      name[name.index(before: end)].isNumber
    {
      end = name.index(before: end)
    }
    return String(name[..<end])
  }

  /// `101-157, 160`; at most six of them.
  static func ranges(of numbers: [Int32]) -> String {
    var ranges: [ClosedRange<Int32>] = []
    for number in numbers.sorted() {
      if let last = ranges.last, number > last.upperBound, number - last.upperBound == 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    let shown = ranges.prefix(limit).map {
      $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
    }
    return shown.joined(separator: ", ") + (ranges.count > limit ? ", ..." : "")
  }
}

/// What threads wait for, in words.
enum DumpWaits {
  /// One wait in full; of several that differ only what they have in common.
  static func text(
    _ waits: [DumpedThread.Wait], _ first: DumpedThread.Wait, _ dump: ThreadDump, isUnicode: Bool
  ) -> String {
    if waits.allSatisfy({ $0 == first }) { return text(first, dump, isUnicode: isUnicode) }
    var parts: [String] = []
    let addresses = Set(waits.compactMap(\.address))
    if addresses.count == 1, let only = addresses.first { parts.append(only) }
    if addresses.count > 1 { parts.append("\(addresses.count) different addresses") }
    let owners = Set(waits.compactMap(\.owner))
    if !owners.isEmpty {
      parts.append("held by " + owners.sorted().map { name(of: $0, dump) }.joined(separator: ", "))
    }
    let objects = Set(waits.map(\.descriptors))
    if objects.count == 1, let common = objects.first, !common.isEmpty {
      parts.append(text(common, more: 0))
    } else if objects.count > 1 {
      parts.append("on \(objects.count) different sets of descriptors")
    }
    let calls = Set(waits.map(\.call)).sorted().joined(separator: ", ")
    return ([calls] + parts).joined(separator: ", ")
  }

  static func text(_ wait: DumpedThread.Wait, _ dump: ThreadDump, isUnicode: Bool) -> String {
    var parts = [wait.call]
    if let function = wait.kernelFunction { parts[0] += " (in the kernel: \(function))" }
    if let address = wait.address { parts.append(address) }
    if let owner = wait.owner { parts.append("held by \(name(of: owner, dump))") }
    if let thread = wait.joins { parts.append("for the end of \(name(of: thread, dump))") }
    if !wait.descriptors.isEmpty || wait.moreDescriptors > 0 {
      parts.append(text(wait.descriptors, more: wait.moreDescriptors))
    }
    switch wait.child {
    case nil: break
    case .some(let child) where child > 0: parts.append("for child \(child)")
    case .some: parts.append("for any child")
    }
    if let time = wait.timeout {
      let length = Units.text(time, isUnicode: isUnicode)
      parts.append(wait.isRest ? "\(length) left" : "at most \(length)")
    }
    return parts.joined(separator: ", ")
  }

  private static func text(_ descriptors: [DumpedThread.Descriptor], more: Int) -> String {
    let shown = descriptors.map { "fd \($0.number)" + ($0.object.map { " \($0)" } ?? "") }
    let rest = more > 0 ? ["\(more)\(descriptors.isEmpty ? "" : " more") descriptors"] : []
    return (shown + rest).joined(separator: ", ")
  }

  private static func name(of tid: Int32, _ dump: ThreadDump) -> String {
    let name = dump.threads.first { $0.tid == tid }?.name
    return "thread \(tid)" + (name.map { " \($0)" } ?? "")
  }
}

/// Recursion, shortened.
enum DumpRepeats {
  enum Item: Equatable {
    /// By its number.
    case frame(Int)
    /// The `count` frames before this were there `times` more times, up to frame `last`.
    case repeated(count: Int, times: Int, last: Int)
  }

  /// Chosen: a recursion over four functions is still seen; shorter runs are shown as they are.
  private static let longestCycle = 4
  private static let fewest = 4

  static func shorten(_ frames: [Summary.Frame]) -> [Item] {
    var items: [Item] = []
    var at = 0
    while at < frames.count {
      guard let cycle = (1...longestCycle).first(where: { copies($0, at, frames) >= fewest }) else {
        items.append(.frame(at))
        at += 1
        continue
      }
      let times = copies(cycle, at, frames)
      for index in at..<at + cycle { items.append(.frame(index)) }
      let end = at + cycle * times
      items.append(.repeated(count: cycle, times: times - 1, last: end - 1))
      at = end
    }
    return items
  }

  /// How often the frames from `at` on stand there one after the other.
  private static func copies(_ cycle: Int, _ at: Int, _ frames: [Summary.Frame]) -> Int {
    var end = at + cycle
    while end < frames.count, frames[end] == frames[end - cycle] { end += 1 }
    return (end - at) / cycle
  }
}
