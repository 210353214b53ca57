// The verdict as GitLab's code quality report: what is broken, and where.

enum GitLabReport {
  private struct Issue: Encodable {
    struct Location: Encodable {
      struct Lines: Encodable { var begin: Int }
      var path: String
      var lines: Lines
    }

    var description: String
    var check_name: String
    var fingerprint: String
    var severity: String
    var location: Location
  }

  static func render(_ summary: Summary, _ context: ReportContext) throws -> [UInt8] {
    var issues: [Issue] = []
    for rule in summary.verdict.rules where rule.result == .fail || rule.result == .indeterminate {
      let culprit = Culprit(of: rule, in: summary)
      let place = context.place(of: rule, in: summary)
      // A path is needed; without a line to blame it is the program's name.
      let program = StackTitle.fileName(
        summary.target.executable ?? summary.target.command.first ?? "perfwatch")
      let path = place?.file ?? SafeText.terminal(program)
      // Of what stays the same from run to run, so that GitLab knows an old issue.
      let identity = [
        rule.metric ?? rule.text, rule.name ?? "", rule.level, path,
        culprit?.stall.signature ?? culprit?.frame?.function ?? "",
      ].joined(separator: "\u{1f}")
      var fingerprint = Fingerprint.text(identity)
      var number = 1
      while issues.contains(where: { $0.fingerprint == fingerprint }) {
        number += 1
        fingerprint = Fingerprint.text(identity + "\u{1f}\(number)")
      }
      let sentence = culprit.map { "; " + SafeText.terminal($0.sentence) } ?? ""
      issues.append(
        Issue(
          description: RuleDetails.line(rule) + sentence,
          check_name: "perfwatch/\(rule.metric ?? "budget")", fingerprint: fingerprint,
          severity: severity(rule),
          location: .init(path: path, lines: .init(begin: place?.line ?? 1))))
    }
    return try OrderedJSONEncoder().encode(issues)
  }

  private static func severity(_ rule: Summary.RuleResult) -> String {
    if rule.result == .indeterminate { return "info" }
    return rule.level == BudgetLevel.error.rawValue ? "major" : "minor"
  }
}

/// A short name for a text that stays the same everywhere (FNV-1a, 64 bit; not for secrets).
enum Fingerprint {
  static func text(_ text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 {
      hash ^= UInt64(byte)
      hash = hash &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
