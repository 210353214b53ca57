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
  /// `check` and `compare`: the verdict is bad.
  public static let badVerdict: Int32 = 1
  /// `report`, `check` and the like: unreadable input or wrong usage.
  public static let unreadableInput: Int32 = 2

  /// The code for a finished run; nil while the target's own is still to come.
  ///
  /// - Parameters:
  ///   - failed: perfwatch could not do what it was asked for (an output was not written).
  ///   - budget: what a bad verdict exits with.
  public static func of(
    _ summary: Summary, failed: Bool = false, budget: BudgetSettings? = nil
  ) -> Int32? {
    let budgetCode = budget?.exitCode ?? budgetFailed
    // It was us who ended the target.
    if summary.run.endedBy == .budget { return failed ? failure : budgetCode }
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
    case .fail: return budgetCode
    case .indeterminate:
      switch budget?.indeterminate ?? .report {
      case .report: return indeterminate
      case .fail: return budgetCode
      case .pass: return success
      }
    }
  }
}
