// perfwatch.json: options by their long names. What is not on the list below cannot be set by a file:
// nothing that names a target or a file to write, as a file is found and not chosen.

internal import ProbeCore

/// A configuration, as it stands in a file.
struct ConfigFile {
  /// One option with what the file says, in the form of the command line.
  struct Setting: Equatable {
    var long: String
    var text: String
    var line: Int
  }

  /// A file that cannot be used; one line.
  struct Problem: Error, Equatable {
    var message: String
  }

  static let fileName = "perfwatch.json"
  /// Chosen: larger is no configuration.
  static let largest = 1 << 20
  /// Options that a file may set, in the order of `--print-config`.
  static let names = [
    "budget", "stall-budget", "cpu-budget", "grace", "count-environment", "indeterminate",
    "max-regression",
    "runs", "warmup", "judge",
    "budget-exit-code", "abort-on-fail", "stall-threshold", "observer", "watch-thread", "watch",
    "no-stacks", "no-causes", "in-app", "no-stalls", "thread-alarm", "wait-profile", "interval",
    "rate",
    "children", "pss", "show-command",
    "progress", "color", "verbose",
  ]
  /// Options that take lists.
  static let lists: Set<String> = ["budget", "watch-thread", "in-app"]

  let path: String
  let settings: [Setting]

  init(path: String, _ bytes: [UInt8]) throws(Problem) {
    self.path = path
    let shown = SafeText.terminal(path)
    let root: JSONNode
    do throws(JSONError) {
      root = try JSONReader.read(bytes, as: .json5)
    } catch {
      throw Problem(message: "\(shown): \(error.message)")
    }
    guard let members = root.members else {
      throw Problem(
        message: "\(shown): line \(root.line): an object is expected, as in {\"grace\": \"2s\"}")
    }
    var settings: [Setting] = []
    for (index, member) in members.enumerated() where member.key != "$schema" {
      do throws(ValueProblem) {
        if let former = members[..<index].first(where: { $0.key == member.key }) {
          throw ValueProblem(why: "it is set in line \(former.line) already")
        }
        settings += try Self.settings(member)
      } catch {
        let key = SafeText.terminal(member.key)
        throw Problem(
          message: "\(shown): line \(member.line): \(key): \(SafeText.terminal(error.why))")
      }
    }
    self.settings = settings
  }

  private static func settings(_ member: JSONNode.Member) throws(ValueProblem) -> [Setting] {
    let long = member.key
    guard names.contains(long), let option = OptionTable.all.first(where: { $0.long == long })
    else {
      if OptionTable.all.contains(where: { $0.long == long }) {
        throw ValueProblem(why: "this option can only be given on the command line")
      }
      let near = Suggestion.nearest(to: long, in: names).map { "; did you mean '\($0)'?" }
      throw ValueProblem(why: "no such option\(near ?? "")")
    }
    if let elements = member.node.elements {
      guard lists.contains(long) else { throw ValueProblem(why: "only one value is expected") }
      var result: [Setting] = []
      for element in elements {
        result.append(Setting(long: long, text: try text(element, option), line: element.line))
      }
      return result
    }
    if !option.takesValue {
      guard let isOn = member.node.bool else {
        throw ValueProblem(why: "true or false is expected, and it is \(member.node.kind)")
      }
      return isOn ? [Setting(long: long, text: "", line: member.line)] : []
    }
    return [Setting(long: long, text: try text(member.node, option), line: member.line)]
  }

  private static func text(
    _ node: JSONNode, _ option: OptionSpec
  ) throws(ValueProblem) -> String {
    if option.placeholder == "N", case .number(let number) = node.value { return number }
    guard let text = node.text else {
      throw ValueProblem(why: "text is expected, and it is \(node.kind)")
    }
    if option.placeholder == "TIME", text.allSatisfy({ $0.isNumber || $0 == "." }) {
      throw ValueProblem(why: "'\(text)' needs a unit, as in \"250ms\"")
    }
    return text
  }

  /// The options of a command, set as the file says.
  ///
  /// - Parameter given: options of the command line; what the file says of them does not count, but
  ///   budgets are kept, see `Parser.merge`.
  func bag(of command: CommandName, but given: [String]) throws(Problem) -> OptionBag {
    var bag = OptionBag()
    let known = OptionTable.options(of: command)
    let excluded = Set(
      known.filter { given.contains($0.long) }.flatMap(\.excludes)
        + known.filter { $0.excludes.contains(where: given.contains) }.map(\.long))
    for setting in settings {
      // An option of another command: the file is for all of them. It is checked there.
      guard let option = known.first(where: { $0.long == setting.long }),
        !excluded.contains(setting.long),
        Self.budgets.contains(setting.long) || !given.contains(setting.long)
      else { continue }
      do {
        try option.apply(&bag, setting.text)
      } catch {
        throw Problem(
          message: "\(SafeText.terminal(path)): line \(setting.line): \(setting.long): "
            + SafeText.terminal(error.why))
      }
    }
    return bag
  }

  private static let budgets: Set<String> = ["budget", "stall-budget", "cpu-budget"]

  /// Where each option's value comes from, one line each.
  ///
  /// - Parameter given: options of the command line with their texts.
  static func origins(_ file: ConfigFile?, given: [(long: String, text: String)]) -> String {
    var text =
      file.map { "# configuration: \(SafeText.terminal($0.path))\n" } ?? "# no configuration file\n"
    for name in names {
      func line(_ value: String, _ origin: String) {
        let shown = value.isEmpty ? "" : " = \(SafeText.terminal(value))"
        text += "\(name)\(shown)  (\(origin))\n"
      }
      let own = given.filter { $0.long == name }
      let others = file?.settings.filter { $0.long == name } ?? []
      if own.isEmpty || budgets.contains(name) {
        for setting in others {
          line(setting.text, "\(SafeText.terminal(file?.path ?? "")):\(setting.line)")
        }
      }
      for one in own { line(one.text, "command line") }
      if own.isEmpty && others.isEmpty { line("", "default") }
    }
    return text
  }
}
