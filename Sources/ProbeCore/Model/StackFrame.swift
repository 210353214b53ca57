// A stack by addresses only; `Summary.Frame` is a frame with its names.

/// How the caller of a frame, and so the frame, was found; written as is to the summary file.
public enum FrameSource: String, Sendable, Codable, CaseIterable {
  /// The innermost frame: the thread's own registers.
  case register
  /// Call frame information of .eh_frame.
  case cfi
  /// Call frame information of .debug_frame.
  case debugFrame
  /// The chain of frame pointers, where there is no call frame information.
  case framePointer
  /// Inlined into the frame outside of it; it has no registers of its own.
  case inline
  /// Read from a recording of another tool.
  case recorded
}

/// Why a stack ends before the outermost frame; written as is to the summary file.
public enum StackTruncation: String, Sendable, Codable, CaseIterable {
  /// Neither call frame information nor a plausible frame pointer leads on.
  case noUnwindInfo
  /// The next register is one that a capture without a stop cannot know.
  case unknownRegister
  /// The stack goes on beyond what was copied.
  case copyLimit
  /// More frames than the limit.
  case frameLimit
  /// The next frame would be the same or deeper: the stack is damaged or changed while read.
  case noProgress
}

/// A frame by address only, as unwinding gives it.
public struct RawFrame: Sendable, Equatable {
  /// The program counter in the target.
  public var programCounter: UInt64
  /// The program counter is that of the next instruction to run (innermost frame, or interrupted by
  /// a signal), not a return address; names are looked up at it, else at the byte before.
  public var isExact: Bool
  public var source: FrameSource

  public init(programCounter: UInt64, isExact: Bool, source: FrameSource) {
    self.programCounter = programCounter
    self.isExact = isExact
    self.source = source
  }
}

/// A stack by addresses only, innermost frame first.
public struct RawStack: Sendable, Equatable {
  public var frames: [RawFrame]
  /// nil if it goes to the outermost frame.
  public var truncation: StackTruncation?

  public init(frames: [RawFrame], truncation: StackTruncation?) {
    self.frames = frames
    self.truncation = truncation
  }
}
