// What pw-poller says when watching has ended.

extension Poller {
  /// The last words: why there is no memory, PSS if asked for, and an attached target's status.
  func sayLastWords(
    isEnded: Bool, _ process: inout ProcessSampler, _ threads: inout ThreadSampler,
    _ loopRefusal: ReadingError?, _ source: inout ProcSource, into out: inout ByteWriter
  ) {
    var lacking: [String] = []
    if threads.unkept > 0 {
      lacking.append(
        "the files of \(Counted.text(threads.unkept, "thread")) were opened for every look")
    }
    if loopRefusal?.cause?.isOutOfDescriptors == true { lacking.append("stalls were not judged") }
    if let failure = process.memoryFailure {
      if process.lacksDescriptors {
        lacking.append("memory was not measured")
      } else {
        queue.append(.notice(.memoryUnreadable, detail: failure))
      }
    }
    if !lacking.isEmpty {
      queue.append(.notice(.descriptorLimit, detail: lacking.joined(separator: ", ")))
    }
    if configuration.measuresProportional {
      readProportional(isEnded: isEnded, &process, threads.anyThread, &source)
    }
    if isEnded && !isLaunched { reportExit(&process, &source) }
  }

  private func readProportional(
    isEnded: Bool, _ process: inout ProcessSampler, _ anyThread: Int32?, _ source: inout ProcSource
  ) {
    guard !isEnded,
      var reading = process.memory(at: Clock.now(), anyThread: anyThread, &source)
    else {
      queue.append(.notice(.proportionalUnreadable, detail: "the target had ended"))
      return
    }
    let gibibytes = Double(reading.footprint) / Double(1 << 30)
    let predicted = (gibibytes * 80).rounded() / 10
    queue.append(
      .notice(.proportionalCost, detail: "about \(predicted) ms for what it has in memory"))
    do {
      reading.proportional = try process.proportional(&source)
      queue.append(.memory(reading))
    } catch {
      queue.append(
        .notice(.proportionalUnreadable, detail: "smaps_rollup could not be read (\(error))"))
    }
  }

  /// How an attached target ended: from the zombie if we may read it, else from the pidfd once its
  /// parent has reaped it (Linux 6.15), which we give a moment.
  private func reportExit(_ process: inout ProcessSampler, _ source: inout ProcSource) {
    var status: ExitStatus?
    if OwnProcess.effectiveUser == 0, let stat = process.readStat(&source), stat.isZombie {
      status = ExitStatus(waitStatus: stat.exitCode)
    }
    for _ in 0..<20 where status == nil {
      status = PidFD.exitStatus(pidfd)
      if status == nil {
        var pause = PollSet([control.pollerBell.descriptor.raw])
        pause.wait(.milliseconds(5))
      }
    }
    note(status)
    let exit = TargetExit(at: Clock.now(), status: status, maxResident: nil)
    control.change { $0.exit = exit }
  }

  func note(_ status: ExitStatus?) {
    guard status == nil else { return }
    queue.append(
      .notice(.exitStatusUnknown, detail: "its parent has it, and the kernel told nobody else"))
  }
}
