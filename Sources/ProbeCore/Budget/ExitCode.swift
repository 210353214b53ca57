// What perfwatch exits with: the target's own result first, then the verdict, then our own troubles.

/// The exit codes of DESIGN part 7.
public enum ExitCode {
  /// Everything went well.
  public static let success: Int32 = 0
  /// A budget could not be judged.
  public static let indeterminate: Int32 = 98
  /// A budget failed.
  public static let budgetFailed: Int32 = 99
  /// Our `--timeout` ended the target.
  public static let timeout: Int32 = 124
  /// perfwatch itself failed: usage, permission, output.
  public static let failure: Int32 = 125
  /// `report`, `check` and the like: unreadable input or wrong usage.
  public static let unreadableInput: Int32 = 2

  /// The code for a finished run; nil while the target's own is still to come.
  ///
  /// - Parameter failed: perfwatch could not do what it was asked for (an output was not written).
  public static func of(_ summary: Summary, failed: Bool = false) -> Int32? {
    if summary.target.launched {
      if summary.run.endedBy == .timeout { return timeout }
      if let signal = summary.exit.signal { return signal.saturatedAdding(128) }
      guard let code = summary.exit.code else {
        return summary.run.endedBy == .exit ? failure : nil
      }
      if code != 0 { return code }
    }
    if failed { return failure }
    switch summary.verdict.result {
    case .pass, .none: return success
    case .fail: return budgetFailed
    case .indeterminate: return indeterminate
    }
  }
}
