// What the user asked for, in the terms of the engine.

/// How to watch.
public struct WatchConfiguration: Sendable {
  /// The metrics tick's period.
  public var period = Nanoseconds.milliseconds(100)
  /// Watching ends after this long; the target goes on.
  public var duration: Nanoseconds?
  /// A launched target that runs longer gets SIGTERM.
  public var timeout: Nanoseconds?
  /// A target that was asked to end and has not by then gets SIGKILL.
  public var killAfter = Nanoseconds.seconds(5)
  public var followsChildren = false
  /// Read PSS once at the end.
  public var measuresProportional = false
  /// So many threads, or half as many more within a second, are told of; nil for never.
  public var threadAlarm: Int? = 64
  /// How stalls are watched; nil for not at all.
  public var stalls: StallSettings? = StallSettings()
  /// What to judge the run by; nil for no verdict.
  public var budget: BudgetSettings?
  public var build: Summary.Build
  /// The root of the process file system.
  public var procRoot = "/proc"

  public init(build: Summary.Build) { self.build = build }
}

/// Why watching could not begin or its results could not be kept. Exit code 125.
public struct WatchError: Error, Sendable, Equatable {
  /// One line: what was tried, on what, why it failed, what to do.
  public var message: String
  /// Set when it was the target that could not be started.
  let launch: LaunchError?

  public init(_ message: String) {
    self.message = message
    launch = nil
  }

  init(launch: LaunchError) {
    message = launch.message
    self.launch = launch
  }
}

/// How a launched target ended.
public struct LaunchEnd: Sendable {
  /// nil if that could not be learnt.
  public var status: ExitStatus?
  /// It was our time-out that ended it.
  public var isTimedOut: Bool
  /// A signal that came to perfwatch meanwhile and asks for an end, whatever the target made of it.
  public var interruption: Int32?
}

/// What a finished watch gives.
public struct WatchResult: Sendable {
  public var summary: Summary
  /// Set when the recording could not be written to its end.
  public var outputFailure: String?
}

/// Shown while watching goes on. Called on pw-recorder; it must not block.
public protocol LiveDisplay: Sendable {
  /// Draws the state as it is.
  ///
  /// - Returns: how long until it wants to be called again; nil for never.
  func update(_ state: SessionState, at time: Instant) -> Nanoseconds?
  /// Watching has ended: takes away what was drawn in place.
  func finish()
}
