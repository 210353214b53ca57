// Which configuration file counts.

internal import ProbeCore

enum ConfigSearch {
  /// The file: `--config`, else PERFWATCH_CONFIG (empty for none), else perfwatch.json upward to the
  /// repository's folder, else that of the user.
  static func find(_ chosen: String?) throws(ConfigFile.Problem) -> ConfigFile? {
    if let chosen { return try read(chosen) }
    if let path = Environment.value("PERFWATCH_CONFIG") {
      return path.isEmpty ? nil : try read(path)
    }
    if let path = WorkingFolder.search(ConfigFile.fileName) { return try read(path) }
    let folder =
      Environment.value("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? Environment.value("HOME").map { $0 + "/.config" }
    guard let path = folder.map({ $0 + "/perfwatch/config.json" }), WorkingFolder.isFile(path)
    else { return nil }
    return try read(path)
  }

  private static func read(_ path: String) throws(ConfigFile.Problem) -> ConfigFile {
    let shown = SafeText.terminal(path)
    do {
      return try ConfigFile(path: path, try InputFile.read(path, limit: ConfigFile.largest))
    } catch let error as SystemError {
      throw ConfigFile.Problem(message: "cannot read the configuration \(shown): \(error.reason)")
    } catch let error as ConfigFile.Problem {
      throw error
    } catch {
      throw ConfigFile.Problem(message: "cannot read the configuration \(shown)")
    }
  }
}
