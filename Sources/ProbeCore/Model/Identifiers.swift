// Identifiers as types, so that a thread number cannot stand where a process number is wanted.

/// A process: the kernel's tgid, as /proc/<pid> names it.
public struct ProcessID: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "\(rawValue)" }
}

/// A thread: the kernel's tid, as /proc/<pid>/task/<tid> names it.
public struct ThreadID: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "\(rawValue)" }
}
