// What a signal to perfwatch means: pure decisions, so that every case is a line in a test.

/// What to do about a signal.
enum SignalAction: Equatable, Sendable {
  /// Nothing: the target got it by itself, or it is of no interest.
  case ignore
  /// Send it on to the target.
  case forward(Int32)
  /// The user insists: SIGTERM, later SIGKILL, to the target.
  case terminate
  case kill
  /// Stop watching; the target goes on.
  case detach(EndReason)
  /// The terminal's stop key was pressed, or a background job touched the terminal: with this signal.
  case jobStop(Int32)
  case resumed
  /// The window has another size.
  case redraw
  /// A child changed its state.
  case childChanged
}

/// Numbers of the signals that matter here (asm-generic; the same on x86-64 and aarch64).
enum SignalNumber {
  static let hangUp: Int32 = 1
  static let interrupt: Int32 = 2
  static let quit: Int32 = 3
  static let kill: Int32 = 9
  static let user1: Int32 = 10
  static let user2: Int32 = 12
  static let alarm: Int32 = 14
  static let terminate: Int32 = 15
  static let child: Int32 = 17
  static let resume: Int32 = 18
  static let terminalStop: Int32 = 20
  static let terminalInput: Int32 = 21
  static let terminalOutput: Int32 = 22
  static let windowChanged: Int32 = 28
}

/// Decides by what came before.
///
/// The target shares our process group, so the terminal's keys and a shell's hang-up reach it without
/// us; passing them on would make them two. A signal that one process sent to us alone is passed on.
struct SignalPolicy: Sendable {
  /// A second Ctrl-C within this time means that the user wants the target ended.
  static let repeatWindow = Nanoseconds.seconds(2)

  let isLaunched: Bool
  /// The leader of our session: a shell that hangs up signals whole jobs, not us alone.
  let sessionLeader: ProcessID
  /// The launched target, once it is known.
  var target: ProcessID?
  private var lastInterrupt: Instant?
  private var interrupts = 0

  init(isLaunched: Bool, sessionLeader: ProcessID) {
    self.isLaunched = isLaunched
    self.sessionLeader = sessionLeader
  }

  mutating func decide(_ signal: ReceivedSignal, at time: Instant) -> SignalAction {
    switch signal.number {
    case SignalNumber.windowChanged: return .redraw
    case SignalNumber.child:
      // Its end is seen elsewhere. Of another child (a shell may have left us some) the end can hide
      // that the target was stopped, as pending signals of one number become one.
      return signal.isEndOfChild && signal.sender == target ? .ignore : .childChanged
    case SignalNumber.resume: return .resumed
    case SignalNumber.terminalStop, SignalNumber.terminalInput, SignalNumber.terminalOutput:
      return .jobStop(signal.number)
    default: break
    }
    guard isLaunched else {
      switch signal.number {
      case SignalNumber.interrupt, SignalNumber.quit: return .detach(.interrupt)
      case SignalNumber.terminate, SignalNumber.hangUp: return .detach(.detach)
      default: return .ignore
      }
    }
    switch signal.number {
    case SignalNumber.interrupt:
      return interrupt(signal, at: time)
    case SignalNumber.hangUp:
      let reachedJob = signal.isFromKernel || signal.sender == sessionLeader
      return reachedJob ? .ignore : .forward(signal.number)
    case SignalNumber.alarm:
      // An alarm set before perfwatch was executed fires here, but the target was to have it.
      return .forward(signal.number)
    default:
      return signal.isFromKernel ? .ignore : .forward(signal.number)
    }
  }

  private mutating func interrupt(_ signal: ReceivedSignal, at time: Instant) -> SignalAction {
    let isRepeated = lastInterrupt.map { time - $0 < Self.repeatWindow } ?? false
    lastInterrupt = time
    interrupts = isRepeated ? interrupts + 1 : 1
    switch interrupts {
    case 1: return signal.isFromKernel ? .ignore : .forward(signal.number)
    case 2: return .terminate
    default: return .kill
    }
  }
}
