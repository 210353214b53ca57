// The first events of a watch: written by whoever knows the target first, so that they come first.

/// What is known before the target is.
struct Opening: Sendable {
  let configuration: WatchConfiguration
  let queue: EventQueue

  /// Writes what the fold starts with; before any other event.
  ///
  /// - Parameter start: when watching was decided on.
  func write(
    _ target: Summary.Target, at start: Instant, cpuBefore: Nanoseconds,
    notices: [(code: NoticeCode, detail: String)]
  ) {
    queue.append(
      .started(
        SessionStart(
          build: configuration.build, target: target, host: HostInfo.current(),
          startedAt: Clock.wallClock() - (Clock.now() - start).rawValue, start: start,
          period: configuration.period, pageSize: HostInfo.pageSize,
          clockTicksPerSecond: HostInfo.clockTicksPerSecond, cpuBefore: cpuBefore,
          followsChildren: configuration.followsChildren,
          stallThreshold: configuration.stalls?.threshold)))
    if let ignored = configuration.stalls?.ignored, !ignored.isEmpty {
      queue.append(.stallsIgnored(ignored.patterns))
    }
    for notice in notices { queue.append(.notice(notice.code, detail: notice.detail)) }
  }

  /// For a target that we launched and that has not executed yet.
  ///
  /// - Parameter command: the command line as the summary shows it.
  func write(_ launched: LaunchedTarget, command: [String], at start: Instant) {
    var source = ProcSource(root: configuration.procRoot, pid: launched.pid)
    let ticks = (try? source.readOnce("stat")).flatMap { count in
      (try? TaskStat(source.buffer.span.extracting(0..<count)))?.startTicks
    }
    var notices: [(code: NoticeCode, detail: String)] = []
    if OwnProcess.effectiveUser == 0, let user = Environment.value("SUDO_UID") {
      notices.append((.sudoRoot, "started by sudo for uid \(user)"))
    }
    let target = Summary.Target(
      pid: launched.pid.rawValue, executable: nil, command: command, launched: true,
      startTicks: ticks)
    write(target, at: start, cpuBefore: launched.base, notices: notices)
  }

  /// What a user should know of a process before we watch it.
  static func notices(
    of subject: AttachSubject
  ) -> [(code: NoticeCode, detail: String)] {
    var notices: [(code: NoticeCode, detail: String)] = []
    if let tracer = subject.status.tracer, tracer.rawValue != 0 {
      notices.append((.tracedByOther, "pid \(tracer)"))
    }
    let own = OwnProcess.effectiveUser
    if let user = subject.status.effectiveUser, own != 0, user != own {
      notices.append((.otherUser, "uid \(user), perfwatch runs as \(own)"))
    }
    return notices
  }
}
