import Testing

@testable import ProbeCore

@Suite struct SignalPolicyTests {
  enum Sender: CaseIterable { case kernel, process, leader }

  private static let leader = ProcessID(77)

  private static func signal(_ number: Int32, _ sender: Sender) -> ReceivedSignal {
    switch sender {
    case .kernel: ReceivedSignal(number: number, isFromKernel: true, sender: ProcessID(0))
    case .process: ReceivedSignal(number: number, isFromKernel: false, sender: ProcessID(500))
    case .leader: ReceivedSignal(number: number, isFromKernel: false, sender: leader)
    }
  }

  struct Row: Sendable {
    var number: Int32
    /// By a key or the kernel, by a process, by the leader of the session.
    var launched: [SignalAction]
    var attached: [SignalAction]

    init(_ number: Int32, _ launched: SignalAction..., attached: SignalAction) {
      self.number = number
      self.launched = launched.count == 1 ? Array(repeating: launched[0], count: 3) : launched
      self.attached = Array(repeating: attached, count: 3)
    }
  }

  static let rows: [Row] = [
    // The terminal's keys reach the target without us.
    Row(2, .ignore, .forward(2), .forward(2), attached: .detach(.interrupt)),
    Row(3, .ignore, .forward(3), .forward(3), attached: .detach(.interrupt)),
    Row(15, .ignore, .forward(15), .forward(15), attached: .detach(.detach)),
    // A shell that hangs up signals the whole job.
    Row(1, .ignore, .forward(1), .ignore, attached: .detach(.detach)),
    Row(10, .ignore, .forward(10), .forward(10), attached: .ignore),
    Row(12, .ignore, .forward(12), .forward(12), attached: .ignore),
    // An alarm that was set before perfwatch was executed is the target's.
    Row(14, .forward(14), .forward(14), .forward(14), attached: .ignore),
    Row(17, .childChanged, attached: .childChanged), Row(18, .resumed, attached: .resumed),
    Row(20, .jobStop(20), attached: .jobStop(20)), Row(21, .jobStop(21), attached: .jobStop(21)),
    Row(22, .jobStop(22), attached: .jobStop(22)), Row(28, .redraw, attached: .redraw),
  ]

  @Test(arguments: rows) func `a first signal is taken by the table`(_ row: Row) {
    for (index, sender) in Sender.allCases.enumerated() {
      for isLaunched in [true, false] {
        var policy = SignalPolicy(isLaunched: isLaunched, sessionLeader: Self.leader)
        let action = policy.decide(Self.signal(row.number, sender), at: Script.at(0))
        #expect(
          action == (isLaunched ? row.launched : row.attached)[index],
          "\(row.number) \(sender) launched \(isLaunched)")
      }
    }
  }

  @Test func `the table has every signal that we take`() {
    #expect(Set(Self.rows.map(\.number)) == Set(SignalChannel.watched))
  }

  @Test(
    arguments: [
      // times of Ctrl-C in milliseconds; what each means
      ([0], [.ignore]), ([0, 1999], [.ignore, .terminate]), ([0, 2000], [.ignore, .ignore]),
      ([0, 500, 1000], [.ignore, .terminate, .kill]),
      ([0, 500, 1000, 1500], [.ignore, .terminate, .kill, .kill]),
      // The window runs from the last one, and a pause begins anew.
      ([0, 1500, 3000], [.ignore, .terminate, .kill]),
      ([0, 1500, 3600, 4000], [.ignore, .terminate, .ignore, .terminate]),
      ([0, 9000, 18_000], [.ignore, .ignore, .ignore]),
    ] as [([Int64], [SignalAction])])
  func `Ctrl-C again within two seconds insists`(times: [Int64], actions: [SignalAction]) {
    var policy = SignalPolicy(isLaunched: true, sessionLeader: Self.leader)
    let decided = times.map { policy.decide(Self.signal(2, .kernel), at: Script.at($0)) }
    #expect(decided == actions)
  }

  @Test func `a signal sent to us alone goes on first and insists next`() {
    var policy = SignalPolicy(isLaunched: true, sessionLeader: Self.leader)
    #expect(policy.decide(Self.signal(2, .process), at: Script.at(0)) == .forward(2))
    #expect(policy.decide(Self.signal(2, .kernel), at: Script.at(100)) == .terminate)
  }

  @Test func `other signals between do not make a Ctrl-C the second`() {
    var policy = SignalPolicy(isLaunched: true, sessionLeader: Self.leader)
    for number in [28, 17, 18, 20, 10] as [Int32] {
      _ = policy.decide(Self.signal(number, .process), at: Script.at(0))
    }
    #expect(policy.decide(Self.signal(2, .kernel), at: Script.at(1)) == .ignore)
  }

  @Test(arguments: [
    (ProcessID(500), true, SignalAction.ignore), (ProcessID(500), false, .childChanged),
    (ProcessID(501), true, .childChanged), (ProcessID(501), false, .childChanged),
  ])
  func `the end of the target itself is seen elsewhere, any other change is looked at`(
    sender: ProcessID, isEnd: Bool, expected: SignalAction
  ) {
    var policy = SignalPolicy(isLaunched: true, sessionLeader: Self.leader)
    policy.target = ProcessID(500)
    let signal = ReceivedSignal(
      number: SignalNumber.child, isFromKernel: true, sender: sender, isEndOfChild: isEnd)
    #expect(policy.decide(signal, at: Instant(nanoseconds: 1)) == expected)
  }
}
