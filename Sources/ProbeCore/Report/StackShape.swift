// How a stack is read by people: the program's own functions one by one, the system's folded, recursion
// counted; and what several stacks of one stall have in common.

/// One line of a stack as it is shown.
struct ShownFrame: Sendable, Equatable {
  var text: String
  /// Equal lines of different stacks have equal keys: the same function, at whatever line.
  var key: String
  var isOwn: Bool
}

enum StackShape {
  /// Lines of a stack without a frame of the program's own. Chosen.
  static let systemLines = 8

  /// The stack in lines, innermost first; every name escaped.
  static func lines(of frames: [Summary.Frame], isUnicode: Bool) -> [ShownFrame] {
    let mark = isUnicode ? "\u{2026}" : "..."
    func safe(_ text: String) -> String { DisplayText.safe(text, isUnicode: isUnicode) }
    func line(_ frame: Summary.Frame, isInnermost: Bool = false) -> ShownFrame {
      let module = frame.module ?? "?"
      guard frame.function == nil else {
        return ShownFrame(
          text: safe(StackTitle.text(frame)), key: frame.function ?? "", isOwn: isOwn(frame))
      }
      // An address of a JIT's code says nothing, and means something else a moment later.
      if module.hasPrefix("["), frame.inApp {
        return ShownFrame(text: "code without a name", key: module, isOwn: true)
      }
      // Where it is in a function is no place of its own; where it was called from is.
      let key = isInnermost ? module : "\(module)+\(frame.offset ?? "")"
      return ShownFrame(text: safe(StackTitle.text(frame)), key: key, isOwn: isOwn(frame))
    }
    guard frames.contains(where: isOwn) else {
      var shown = frames.prefix(systemLines).enumerated().map {
        line($0.element, isInnermost: $0.offset == 0)
      }
      let rest = frames.dropFirst(systemLines)
      if !rest.isEmpty {
        let text = "\(mark) \(rest.count) more in \(safe(modules(Array(rest))))"
        shown.append(ShownFrame(text: text, key: text, isOwn: false))
      }
      return repeated(shown, isUnicode: isUnicode)
    }
    var shown: [ShownFrame] = []
    var run: [Summary.Frame] = []
    func endRun() {
      defer { run = [] }
      guard let outermost = run.last else { return }
      if run.count == 1 {
        shown.append(line(outermost))
      } else if shown.isEmpty {
        // What the program called is more telling than where the system is in it.
        var called = line(outermost)
        called.text += ", \(mark) \(run.count - 1) deeper"
        shown.append(called)
      } else {
        let text = "\(mark) \(run.count) in \(safe(modules(run)))"
        shown.append(ShownFrame(text: text, key: text, isOwn: false))
      }
    }
    for (index, frame) in frames.enumerated() {
      if isOwn(frame) {
        endRun()
        shown.append(line(frame, isInnermost: index == 0))
      } else {
        run.append(frame)
      }
    }
    endRun()
    return repeated(shown, isUnicode: isUnicode)
  }

  private static func isOwn(_ frame: Summary.Frame) -> Bool {
    frame.inApp && !(frame.function.map(FunctionKey.prologue.contains) ?? false)
  }

  private static func modules(_ frames: [Summary.Frame]) -> String {
    var names: [String] = []
    for frame in frames {
      let name = frame.module.map(StackTitle.fileName) ?? "?"
      if !names.contains(name) { names.append(name) }
    }
    return names.count <= 3
      ? names.joined(separator: ", ") : "\(names[0]), \(names[1]) and \(names.count - 2) others"
  }

  /// Direct recursion as one line with a count.
  private static func repeated(_ lines: [ShownFrame], isUnicode: Bool) -> [ShownFrame] {
    var result: [ShownFrame] = []
    var counts: [Int] = []
    for line in lines {
      if let last = result.last, last.key == line.key, line.isOwn {
        counts[counts.count - 1] += 1
      } else {
        result.append(line)
        counts.append(1)
      }
    }
    for index in result.indices where counts[index] > 1 {
      result[index].text += " \(isUnicode ? "\u{d7}" : "x") \(counts[index])"
    }
    return result
  }
}

/// Stacks of a stall that show the same.
struct StackGroup {
  var lines: [ShownFrame]
  /// The one that stands for most of the time.
  var heaviest: Summary.Stack
  var weight: Nanoseconds
  var count: Int

  /// Heaviest first.
  static func groups(of stacks: [Summary.Stack], isUnicode: Bool) -> [StackGroup] {
    var groups: [StackGroup] = []
    var places: [[String]: Int] = [:]
    for stack in stacks {
      let lines = StackShape.lines(of: stack.frames, isUnicode: isUnicode)
      let keys = lines.map(\.key)
      if let place = places[keys] {
        groups[place].weight += stack.weight
        groups[place].count += 1
        if stack.weight > groups[place].heaviest.weight {
          groups[place].heaviest = stack
          groups[place].lines = lines
        }
      } else {
        places[keys] = groups.count
        groups.append(StackGroup(lines: lines, heaviest: stack, weight: stack.weight, count: 1))
      }
    }
    return groups.enumerated().sorted {
      ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
    }.map(\.element)
  }
}

/// Several stacks from the outermost function in, with the time spent below each.
struct StackTree {
  private(set) var line: ShownFrame
  private(set) var weight = Nanoseconds.zero
  private(set) var count = 0
  private(set) var children: [StackTree] = []

  /// A root that stands for nothing, and below it the outermost functions.
  init(_ groups: [StackGroup]) {
    self.init(ShownFrame(text: "", key: "", isOwn: false))
    for group in groups { add(group.lines.reversed()[...], group.weight, group.count) }
    sort()
  }

  private init(_ line: ShownFrame) { self.line = line }

  private mutating func add(
    _ lines: ArraySlice<ShownFrame>, _ weight: Nanoseconds, _ count: Int
  ) {
    self.weight += weight
    self.count += count
    guard let first = lines.first else { return }
    if let place = children.firstIndex(where: { $0.line.key == first.key }) {
      children[place].add(lines.dropFirst(), weight, count)
    } else {
      var child = StackTree(first)
      child.add(lines.dropFirst(), weight, count)
      children.append(child)
    }
  }

  private mutating func sort() {
    children.sort { ($1.weight, $0.line.key) < ($0.weight, $1.line.key) }
    for index in children.indices { children[index].sort() }
  }
}
