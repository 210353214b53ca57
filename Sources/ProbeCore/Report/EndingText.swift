// How a run ended, in words, and the command it was about.

/// Says how a run ended.
enum EndingText {
  static func text(_ summary: Summary, isUnicode: Bool) -> (text: String, role: TextRole) {
    let time = Units.text(summary.run.duration, isUnicode: isUnicode)
    guard summary.run.complete else {
      return ("the recording ends in the middle, after \(time)", .warning)
    }
    let status = status(summary.exit)
    let role: TextRole = status.map { $0.isGood ? .plain : .bad } ?? .plain
    let tail = status.map { "; it \($0.text)" } ?? ""
    switch summary.run.endedBy {
    case .exit, nil:
      guard let status else { return ("ended after \(time), exit status not known", .plain) }
      return ("\(status.text) after \(time)", role)
    case .timeout: return ("ended by --timeout after \(time)\(tail)", .bad)
    case .budget:
      let what = summary.target.launched ? "ended by" : "let go because of"
      return ("\(what) --abort-on-fail after \(time)\(tail)", .bad)
    case .interrupt: return ("interrupted after \(time)\(tail)", role)
    case .duration: return ("watched for \(time)" + (tail.isEmpty ? "; it goes on" : tail), role)
    case .detach: return ("let go after \(time)" + (tail.isEmpty ? "; it goes on" : tail), role)
    }
  }

  private static func status(_ exit: Summary.Exit) -> (text: String, isGood: Bool)? {
    if let signal = exit.signal {
      let name = signalName(signal)
      return ("was killed by " + (name.map { "\($0) (\(signal))" } ?? "signal \(signal)"), false)
    }
    return exit.code.map { ("exited with code \($0)", $0 == 0) }
  }

  /// The name of a signal on Linux (x86 and Arm; signal(7)), or nil for a real-time one.
  static func signalName(_ number: Int32) -> String? {
    let names = [
      "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
      "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
      "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ]
    return (1...names.count).contains(Int(number)) ? "SIG" + names[Int(number) - 1] : nil
  }
}

/// Writes a command line in one line.
enum CommandText {
  /// The words as a shell would need them; words left out in a row become one mark.
  static func text(_ command: [String], executable: String?, isUnicode: Bool) -> String {
    var words: [String] = []
    for word in command {
      if word == Redaction.mark && words.last == Redaction.mark { continue }
      words.append(word)
    }
    if words.isEmpty { words = [executable ?? "(unknown program)"] }
    return words.map { word in
      let isMarked = word.hasSuffix(Redaction.mark) || word == "(unknown program)"
      return DisplayText.safe(isMarked ? word : SafeText.shellWord(word), isUnicode: isUnicode)
    }.joined(separator: " ")
  }
}
