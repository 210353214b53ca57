// What a stack is called in one line, wherever one is told of.

/// What a stack is called in one line.
public enum StackTitle {
  /// The innermost function of the program's own; else the innermost one that has a name.
  public static func frame(of frames: [Summary.Frame]) -> Summary.Frame? {
    frames.first { $0.inApp && $0.function != nil } ?? frames.first { $0.function != nil }
      ?? frames.first
  }

  /// `parse (app.c:42)`, `read (libc.so.6)`, or a module and an address in it.
  public static func text(_ frame: Summary.Frame) -> String {
    let module = frame.module.map(fileName) ?? "?"
    guard let function = frame.function else {
      return frame.offset.map { "\(module)+\($0)" } ?? module
    }
    if let file = frame.file {
      return "\(function) (\(fileName(file))\(frame.line.map { ":\($0)" } ?? ""))"
    }
    return frame.inApp ? function : "\(function) (\(module))"
  }

  /// The last part of a path.
  static func fileName(_ path: String) -> String {
    String(path.split(separator: "/").last ?? Substring(path))
  }
}
